/* Payloads from bytes. */
#ifndef TALLY_STORE_ENCODE_H
#define TALLY_STORE_ENCODE_H

#include <stdbool.h>

#include "store/scratch.h"
#include "util/split.h"

/* Chunks in a row that did not compress before trying is skipped, and how often it is tried then. */
#define ENCODE_RAW_RUN 4
#define ENCODE_PROBE_EVERY 16

bool encode_is_zero(const uint8_t *data, size_t size);

/* Whether to try at all after `raw_run` failures in a row. */
bool encode_is_worth_trying(unsigned raw_run);

/*
 * Fills header->codec, stored_length, raw_length and payload_checksum and the payload at `out`, which has room for
 * `size` bytes. Compressed only when `attempt` and where it saves a block; raw otherwise, so it cannot fail.
 */
void encode_payload(struct scratch *scratch, struct split *split, const struct tally_codec_choice *choice, bool attempt,
                    const uint8_t *data, uint32_t size, uint8_t *out, struct format_header *header);

#endif
