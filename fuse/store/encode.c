#include "store/encode.h"

#include <string.h>

/* Space below is given out in blocks of this size nearly everywhere: saving less saves nothing. */
#define LOWER_BLOCK_BYTES 4096u

/* zstd up to its default level costs little more than a trial would. */
#define ZSTD_CHEAP_LEVEL 3

bool encode_is_zero(const uint8_t *data, size_t size)
{
    return size == 0 || (data[0] == 0 && memcmp(data, data + 1, size - 1) == 0);
}

bool encode_is_worth_trying(unsigned raw_run)
{
    return raw_run < ENCODE_RAW_RUN || raw_run % ENCODE_PROBE_EVERY == 0;
}

static bool is_expensive(const struct tally_codec_choice *choice)
{
    if (choice->codec->id == TALLY_CODEC_ZSTD)
        return choice->level > ZSTD_CHEAP_LEVEL;
    return choice->codec->level_min != choice->codec->level_max;
}

/*
 * Whether cheap compressors find anything, before an expensive one is let loose on noise. lz4 only finds repetition;
 * text of few different letters, as base64, takes an entropy coder: hence zstd:1 after it.
 */
static bool promises_something(struct scratch *scratch, const uint8_t *data, uint32_t size, uint8_t *out)
{
    static const char *const trials[] = {"lz4", "zstd:1"};

    for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
        struct tally_codec_choice trial;

        if (tally_codec_parse(trials[i], &trial) == 0 &&
            scratch_compress(scratch, &trial, data, size, out, size - LOWER_BLOCK_BYTES / 2) > 0)
            return true;
    }
    return false;
}

static ssize_t compress(struct scratch *scratch, const struct tally_codec_choice *choice, const uint8_t *data,
                        uint32_t size, uint8_t *out)
{
    if (is_expensive(choice) && !promises_something(scratch, data, size, out))
        return 0;
    return scratch_compress(scratch, choice, data, size, out, size - LOWER_BLOCK_BYTES);
}

void encode_payload(struct scratch *scratch, struct split *split, const struct tally_codec_choice *choice, bool attempt,
                    const uint8_t *data, uint32_t size, uint8_t *out, struct format_header *header)
{
    uint64_t began_ns = split_begin(split);
    ssize_t stored = 0;

    if (choice->codec && attempt && size > LOWER_BLOCK_BYTES)
        stored = compress(scratch, choice, data, size, out);
    header->raw_length = size;
    if (stored > 0) {
        header->codec = (uint8_t)choice->codec->id;
        header->stored_length = (uint32_t)stored;
    } else {
        header->codec = TALLY_CODEC_RAW;
        header->stored_length = size;
        memcpy(out, data, size);
    }
    header->payload_checksum = format_checksum(out, header->stored_length);
    split_end_codec(split, began_ns);
}
