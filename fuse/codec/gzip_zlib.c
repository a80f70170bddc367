/* gzip by zlib, for builds without libdeflate: raw deflate, since a frame has a checksum of its own. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "codec/codecs.h"

/* A negative window size is zlib's way to ask for raw deflate; 15 and 8 are its own defaults. */
#define RAW_WINDOW_BITS (-15)
#define MEMORY_LEVEL 8

static size_t gzip_bound(size_t raw_bytes)
{
    return compressBound(raw_bytes);
}

static int gzip_compressor_create(int level, void **ret_context)
{
    z_stream *stream = calloc(1, sizeof(*stream));

    if (!stream)
        return -ENOMEM;
    if (deflateInit2(stream, level, Z_DEFLATED, RAW_WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(stream);
        return -ENOMEM;
    }
    *ret_context = stream;
    return 0;
}

static void gzip_compressor_destroy(void *context)
{
    deflateEnd(context);
    free(context);
}

static ssize_t gzip_compress(void *context, const void *raw, size_t raw_bytes, void *out, size_t out_capacity)
{
    z_stream *stream = context;
    int r;

    if (deflateReset(stream) != Z_OK)
        return -EIO;
    stream->next_in = (z_const Bytef *)raw;
    stream->avail_in = (uInt)raw_bytes;
    stream->next_out = out;
    stream->avail_out = (uInt)out_capacity;
    r = deflate(stream, Z_FINISH);
    if (r == Z_STREAM_END)
        return (ssize_t)(out_capacity - stream->avail_out);
    return r == Z_OK || r == Z_BUF_ERROR ? 0 : -EIO;
}

static int gzip_decompressor_create(void **ret_context)
{
    z_stream *stream = calloc(1, sizeof(*stream));

    if (!stream)
        return -ENOMEM;
    if (inflateInit2(stream, RAW_WINDOW_BITS) != Z_OK) {
        free(stream);
        return -ENOMEM;
    }
    *ret_context = stream;
    return 0;
}

static void gzip_decompressor_destroy(void *context)
{
    inflateEnd(context);
    free(context);
}

static int gzip_decompress(void *context, const void *in, size_t in_bytes, void *raw, size_t raw_bytes)
{
    z_stream *stream = context;

    if (inflateReset(stream) != Z_OK)
        return -EIO;
    stream->next_in = (z_const Bytef *)in;
    stream->avail_in = (uInt)in_bytes;
    stream->next_out = raw;
    stream->avail_out = (uInt)raw_bytes;
    if (inflate(stream, Z_FINISH) != Z_STREAM_END || stream->avail_out || stream->avail_in)
        return -EIO;
    return 0;
}

const struct tally_codec codec_gzip = {
    .name = "gzip",
    .id = TALLY_CODEC_GZIP,
    .level_min = 1,
    .level_max = 9,
    .level_default = 6,
    .library = "zlib",
    .library_version = zlibVersion,
    .bound = gzip_bound,
    .compressor_create = gzip_compressor_create,
    .compressor_destroy = gzip_compressor_destroy,
    .compress = gzip_compress,
    .decompressor_create = gzip_decompressor_create,
    .decompressor_destroy = gzip_decompressor_destroy,
    .decompress = gzip_decompress,
};
