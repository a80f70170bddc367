#include "store/encode.h"

#include <string.h>

/* Space below is given out in blocks of this size nearly everywhere: saving less saves nothing. */
#define LOWER_BLOCK_BYTES 4096u

/* zstd up to its default level costs little more than a trial would. */
#define ZSTD_CHEAP_LEVEL 3

/* Chunks in a row that did not compress before samples are looked at, and how often a chunk is tried all the same. */
#define RAW_RUN 4
#define PROBE_EVERY 16

/* How a chunk is sampled: an eighth of its bytes are counted, and its middle is searched for repetition. */
#define SAMPLE_PIECE_BYTES 256u
#define SAMPLE_EVERY_BYTES 2048u
#define SAMPLE_REPEAT_BYTES 16384u

bool encode_is_zero(const uint8_t *data, size_t size)
{
    return size == 0 || (data[0] == 0 && memcmp(data, data + 1, size - 1) == 0);
}

/* Whether some bytes are so much more frequent than others that an entropy coder alone would save a block of a chunk. */
static bool is_skewed(const uint8_t *data, uint32_t size)
{
    uint32_t counts[256] = {0}, taken = 0;
    uint64_t squares = 0;

    for (uint32_t at = 0; at + SAMPLE_PIECE_BYTES <= size; at += SAMPLE_EVERY_BYTES, taken += SAMPLE_PIECE_BYTES)
        for (uint32_t i = 0; i < SAMPLE_PIECE_BYTES; i++)
            counts[data[at + i]]++;
    for (int i = 0; i < 256; i++)
        squares += (uint64_t)counts[i] * counts[i];
    /*
     * The squares of noise sum up to n * n / 256 + n. A tenth more is 0.07 bits a byte below noise, since the divergence
     * of a distribution is about half its chi-square distance from the even one: where a coder's gain is above its cost.
     */
    return (squares - taken) * 256 * 10 > (uint64_t)taken * taken * 11;
}

static bool repeats(struct scratch *scratch, const uint8_t *data, uint32_t size, uint8_t *out)
{
    const struct tally_codec_choice lz4 = {.codec = tally_codec_by_id(TALLY_CODEC_LZ4)};
    uint32_t sample = size < SAMPLE_REPEAT_BYTES ? size : SAMPLE_REPEAT_BYTES;

    return scratch_compress(scratch, &lz4, data + (size - sample) / 2, sample, out, sample - sample / 16) > 0;
}

/*
 * Whether compressing is not worth trying, as far as can be told without. `raw_run` is how many chunks of the file in a
 * row did not compress; after a few of them a sample of the next is looked at first, and now and then one is tried
 * whatever its sample is like.
 */
static bool is_hopeless(struct scratch *scratch, unsigned raw_run, const uint8_t *data, uint32_t size, uint8_t *out)
{
    if (raw_run < RAW_RUN || raw_run % PROBE_EVERY == 0)
        return false;
    return !is_skewed(data, size) && !repeats(scratch, data, size, out);
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

void encode_payload(struct scratch *scratch, struct split *split, const struct tally_codec_choice *choice, unsigned raw_run,
                    const uint8_t *data, uint32_t size, uint8_t *out, struct format_header *header)
{
    uint64_t began_ns = split_begin(split);
    ssize_t stored = 0;

    if (choice->codec && size > LOWER_BLOCK_BYTES && !is_hopeless(scratch, raw_run, data, size, out))
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
