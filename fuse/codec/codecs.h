/* The codecs there are. Inside fuse/codec only; others find them by name or id. */
#ifndef TALLY_CODEC_CODECS_H
#define TALLY_CODEC_CODECS_H

#include "tally/codec.h"

extern const struct tally_codec codec_lz4;
extern const struct tally_codec codec_lz4hc;
extern const struct tally_codec codec_zstd;
extern const struct tally_codec codec_gzip;

#endif
