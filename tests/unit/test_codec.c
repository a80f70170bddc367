#include <errno.h>
#include <stdbool.h>

#include "harness.h"
#include "tally/codec.h"

static void parses_when_the_choice_is_valid(void)
{
    static const struct {
        const char *text, *name, *canonical;
        int level;
    } rows[] = {
        {"lz4", "lz4", "lz4", 0},
        {"lz4hc", "lz4hc", "lz4hc:9", 9},
        {"lz4hc:3", "lz4hc", "lz4hc:3", 3},
        {"lz4hc:12", "lz4hc", "lz4hc:12", 12},
        {"zstd", "zstd", "zstd:3", 3},
        {"zstd:-50", "zstd", "zstd:-50", -50},
        {"zstd:19", "zstd", "zstd:19", 19},
        {"zstd-fast", "zstd", "zstd:-1", -1},
        {"zstd-fast-1", "zstd", "zstd:-1", -1},
        {"zstd-fast-50", "zstd", "zstd:-50", -50},
        {"gzip", "gzip", "gzip:6", 6},
        {"gzip:1", "gzip", "gzip:1", 1},
        {"gzip:9", "gzip", "gzip:9", 9},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[TALLY_CODEC_TEXT_BYTES];
        struct tally_codec_choice choice, again;

        CHECK_EQ(tally_codec_parse(rows[i].text, &choice), 0);
        CHECK(choice.codec != NULL);
        CHECK_STR(choice.codec->name, rows[i].name);
        if (rows[i].level)
            CHECK_EQ(choice.level, rows[i].level);
        tally_codec_format(&choice, text);
        CHECK_STR(text, rows[i].canonical);
        CHECK_EQ(tally_codec_parse(text, &again), 0);
        CHECK(again.codec == choice.codec && again.level == choice.level);
    }
}

static void parses_none_when_nothing_is_to_be_compressed(void)
{
    struct tally_codec_choice choice = {.level = 5};
    char text[TALLY_CODEC_TEXT_BYTES];

    CHECK_EQ(tally_codec_parse("none", &choice), 0);
    CHECK(choice.codec == NULL);
    tally_codec_format(&choice, text);
    CHECK_STR(text, "none");
}

static void refuses_when_the_choice_is_not_valid(void)
{
    static const struct {
        const char *text;
        int error;
    } rows[] = {
        {"", -EINVAL},          {"lz", -EINVAL},       {"LZ4", -EINVAL},      {"lz4 ", -EINVAL},
        {"lzo", -EINVAL},       {":3", -EINVAL},       {"none:1", -EINVAL},   {"lz4:1", -ERANGE},
        {"lz4hc:2", -ERANGE},   {"lz4hc:13", -ERANGE}, {"zstd:", -EINVAL},    {"zstd:x", -EINVAL},
        {"zstd:3x", -EINVAL},   {"zstd:20", -ERANGE},  {"zstd:-51", -ERANGE}, {"gzip:0", -ERANGE},
        {"gzip:10", -ERANGE},   {"gzip:-1", -ERANGE},  {"zstd-", -EINVAL},    {"zstd-fast-", -EINVAL},
        {"zstd-fast1", -EINVAL}, {"zstd-fast-51", -ERANGE},
        {"zstd:99999999999999999999", -ERANGE},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tally_codec_choice choice = {.level = 77};
        int r = tally_codec_parse(rows[i].text, &choice);

        if (r != rows[i].error)
            FAIL("\"%s\" gives %d, not %d", rows[i].text, r, rows[i].error);
        CHECK_EQ(choice.level, 77);
    }
}

static void finds_the_decoder_when_given_an_id(void)
{
    CHECK(tally_codec_by_id(TALLY_CODEC_RAW) == NULL);
    CHECK_STR(tally_codec_by_id(TALLY_CODEC_LZ4)->name, "lz4");
    CHECK_STR(tally_codec_by_id(TALLY_CODEC_ZSTD)->name, "zstd");
    CHECK_STR(tally_codec_by_id(TALLY_CODEC_GZIP)->name, "gzip");
    CHECK(tally_codec_by_id(4) == NULL);
    CHECK(tally_codec_by_id(255) == NULL);
}

enum { TEXT, NOISE, CONSTANT, PATTERN_COUNT };

static void make_pattern(int pattern, uint8_t *data, size_t size)
{
    uint32_t state = 12345;

    for (size_t i = 0; i < size; i++) {
        state = state * 1664525 + 1013904223; /* Numerical Recipes' linear congruential generator */
        data[i] = pattern == TEXT ? (uint8_t)('a' + (state >> 29)) : pattern == NOISE ? (uint8_t)(state >> 24) : 7;
    }
}

#define LARGEST (1u << 20)

static void check_round_trip(const struct tally_codec *codec, int level, int pattern, size_t size)
{
    size_t bound = codec->bound(size), capacities[] = {bound, size, size / 2, 1};
    uint8_t *raw = malloc(size), *out = malloc(bound + 1), *back = malloc(size + 1);
    void *compressor, *decompressor;

    make_pattern(pattern, raw, size);
    CHECK_EQ(codec->compressor_create(level, &compressor), 0);
    CHECK_EQ(codec->decompressor_create(&decompressor), 0);
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        size_t capacity = capacities[i];
        ssize_t stored;

        if (capacity == 0)
            continue;
        out[capacity] = 0xEE;
        stored = codec->compress(compressor, raw, size, out, capacity);
        CHECK(stored >= 0 && (size_t)stored <= capacity);
        CHECK_EQ(out[capacity], 0xEE);
        if (i == 0)
            CHECK(stored > 0);
        if (stored == 0)
            continue;
        back[size] = 0xEE;
        CHECK_EQ(codec->decompress(decompressor, out, (size_t)stored, back, size), 0);
        CHECK_EQ(memcmp(raw, back, size), 0);
        CHECK_EQ(back[size], 0xEE);
        CHECK_EQ(codec->decompress(decompressor, out, (size_t)stored - 1, back, size), -EIO);
        CHECK_EQ(codec->decompress(decompressor, out, (size_t)stored, back, size - 1), -EIO);
    }
    codec->compressor_destroy(compressor);
    codec->decompressor_destroy(decompressor);
    free(raw);
    free(out);
    free(back);
}

static void gives_back_what_it_got_when_contexts_are_reused(void)
{
    static const size_t sizes[] = {1, 2, 15, 100, 4096, 16384, 131072, LARGEST};
    const struct tally_codec *codec;

    for (size_t c = 0; (codec = tally_codec_at(c)); c++) {
        const int levels[] = {codec->level_min, codec->level_default, codec->id == TALLY_CODEC_ZSTD ? 12 : codec->level_max};

        for (size_t l = 0; l < sizeof(levels) / sizeof(levels[0]); l++)
            for (int pattern = 0; pattern < PATTERN_COUNT; pattern++)
                for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
                    check_round_trip(codec, levels[l], pattern, sizes[s]);
    }
}

static void gives_an_error_when_the_input_is_noise(void)
{
    uint8_t noise[2000], *raw = malloc(16384);
    const struct tally_codec *codec;

    for (size_t c = 0; (codec = tally_codec_at(c)); c++) {
        void *decompressor;

        CHECK_EQ(codec->decompressor_create(&decompressor), 0);
        make_pattern(NOISE, noise, sizeof(noise));
        for (size_t begin = 0; begin < 1000; begin++) {
            int r = codec->decompress(decompressor, noise + begin, sizeof(noise) - begin, raw, 16384);

            CHECK_EQ(r, -EIO);
        }
        codec->decompressor_destroy(decompressor);
    }
    free(raw);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(parses_when_the_choice_is_valid),
        CASE(parses_none_when_nothing_is_to_be_compressed),
        CASE(refuses_when_the_choice_is_not_valid),
        CASE(finds_the_decoder_when_given_an_id),
        CASE(gives_back_what_it_got_when_contexts_are_reused),
        CASE(gives_an_error_when_the_input_is_noise),
    };

    return RUN_CASES(cases);
}
