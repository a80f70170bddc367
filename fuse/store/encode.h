/* Payloads from bytes. */
#ifndef TALLY_STORE_ENCODE_H
#define TALLY_STORE_ENCODE_H

#include <stdbool.h>

#include "store/scratch.h"
#include "util/split.h"

bool encode_is_zero(const uint8_t *data, size_t size);

/*
 * Fills header->codec, stored_length, raw_length and payload_checksum and the payload at `out`, which has room for
 * `size` bytes. Compressed where that saves a block; raw otherwise, so it cannot fail. `raw_run`
 * is how many chunks of the file in a row did not compress, which tells where not to try.
 */
void encode_payload(struct scratch *scratch, struct split *split, const struct tally_codec_choice *choice, unsigned raw_run,
                    const uint8_t *data, uint32_t size, uint8_t *out, struct format_header *header);

#endif
