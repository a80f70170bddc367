/* Headers, trailers and records, byte by byte. */
#include <errno.h>

#include "harness.h"
#include "tally/codec.h"
#include "tally/format.h"

#define SHIFT 17
#define CHUNK (UINT64_C(1) << SHIFT)

static const struct format_header whole = {
    .file_id = UINT64_C(0x1122334455667788),
    .sequence = 3,
    .logical_offset = CHUNK,
    .raw_length = CHUNK,
    .logical_size = 2 * CHUNK,
    .payload_checksum = UINT64_C(0xA1A2A3A4A5A6A7A8),
    .stored_length = 1000,
    .type = FORMAT_DATA,
    .codec = TALLY_CODEC_ZSTD,
    .chunk_shift = SHIFT,
};

static void puts_every_field_in_its_place_when_encoded(void)
{
    /* FORMAT.md's table; bytes 4 to 7 are the checksum */
    static const uint8_t expected[FORMAT_HEADER_BYTES] = {
        0xF7, 'T',  'L',  1,    0,    0,    0,    0,    0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
        3,    0,    0,    0,    0,    0,    0,    0,    0,    0,    2,    0,    0,    0,    0,    0,
        0,    0,    2,    0,    0,    0,    0,    0,    0,    0,    4,    0,    0,    0,    0,    0,
        0xA8, 0xA7, 0xA6, 0xA5, 0xA4, 0xA3, 0xA2, 0xA1, 0xE8, 3,    0,    0,    1,    2,    17,   0,
    };
    uint8_t encoded[FORMAT_HEADER_BYTES];
    struct format_header decoded;

    format_header_encode(&whole, encoded);
    CHECK_EQ(memcmp(encoded, expected, 4), 0);
    CHECK_EQ(memcmp(encoded + 8, expected + 8, sizeof(encoded) - 8), 0);
    CHECK_EQ(format_header_decode(encoded, &decoded), 0);
    CHECK_EQ(memcmp(&decoded, &whole, sizeof(whole)), 0);
    CHECK(format_looks_like_container(encoded));
}

static void refuses_a_header_when_any_bit_is_flipped(void)
{
    uint8_t encoded[FORMAT_HEADER_BYTES];
    struct format_header decoded;

    format_header_encode(&whole, encoded);
    for (size_t bit = 0; bit < 8 * sizeof(encoded); bit++) {
        encoded[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK_EQ(format_header_decode(encoded, &decoded), -EBADMSG);
        CHECK(format_looks_like_container(encoded));
        encoded[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

/* The rows below say what differs from a valid header. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"

static void checks_every_field_when_decoding(void)
{
    static const struct {
        const char *what;
        struct format_header header;
        int expected;
    } rows[] = {
#define DATA(...) {.file_id = 1, .sequence = 1, .raw_length = 100, .logical_size = 100, .stored_length = 50, \
                   .type = FORMAT_DATA, .codec = 1, .chunk_shift = SHIFT, __VA_ARGS__}
#define HOLE(...) {.file_id = 1, .sequence = 1, .raw_length = 100, .logical_size = 100, .type = FORMAT_HOLE, \
                   .chunk_shift = SHIFT, __VA_ARGS__}
#define TRUNC(...) {.file_id = 1, .sequence = 1, .logical_offset = 100, .logical_size = 100, .type = FORMAT_TRUNC, \
                    .chunk_shift = SHIFT, __VA_ARGS__}
#define INDEX(...) {.file_id = 1, .sequence = 1, .raw_length = 64, .stored_length = 64, .logical_size = 100, \
                    .type = FORMAT_INDEX, .chunk_shift = SHIFT, __VA_ARGS__}
        {"data", DATA(), 0},
        {"raw data", DATA(.codec = 0, .stored_length = 100), 0},
        {"raw data of another length", DATA(.codec = 0, .stored_length = 99), -EBADMSG},
        {"compressed data that is no smaller", DATA(.stored_length = 100), -EBADMSG},
        {"data without payload", DATA(.stored_length = 0), -EBADMSG},
        {"data without bytes", DATA(.raw_length = 0), -EBADMSG},
        {"sequence 0", DATA(.sequence = 0), -EBADMSG},
        {"data past the size", DATA(.logical_size = 99), -EBADMSG},
        {"data over a chunk's end", DATA(.logical_offset = CHUNK - 50, .logical_size = CHUNK + 50), -EBADMSG},
        {"data up to a chunk's end", DATA(.logical_offset = CHUNK - 100, .logical_size = CHUNK), 0},
        {"data longer than a chunk", DATA(.raw_length = CHUNK + 1, .logical_size = 2 * CHUNK), -EBADMSG},
        {"data at the end of all", DATA(.logical_offset = INT64_MAX - 100, .logical_size = INT64_MAX), 0},
        {"data past the end of all", DATA(.logical_offset = INT64_MAX - 99, .logical_size = INT64_MAX), -EBADMSG},
        {"data whose end overflows", DATA(.logical_offset = UINT64_MAX - 10, .logical_size = INT64_MAX), -EBADMSG},
        {"a size past the end of all", DATA(.logical_size = (uint64_t)INT64_MAX + 1), -EBADMSG},
        {"small chunks", DATA(.chunk_shift = 14), 0},
        {"too small chunks", DATA(.chunk_shift = 13), -EBADMSG},
        {"large chunks", DATA(.chunk_shift = 20), 0},
        {"too large chunks", DATA(.chunk_shift = 21), -EBADMSG},
        {"type 0", DATA(.type = 0), -EBADMSG},
        {"type 5", DATA(.type = 5), -EBADMSG},
        {"an unknown codec, which only reading can tell", DATA(.codec = 99), 0},
        {"hole", HOLE(), 0},
        {"hole over many chunks", HOLE(.raw_length = INT64_MAX), 0},
        {"hole past the end of all", HOLE(.logical_offset = 1, .raw_length = INT64_MAX), -EBADMSG},
        {"hole without bytes", HOLE(.raw_length = 0), -EBADMSG},
        {"hole with payload", HOLE(.stored_length = 1), -EBADMSG},
        {"hole with codec", HOLE(.codec = 1), -EBADMSG},
        {"hole with checksum", HOLE(.payload_checksum = 1), -EBADMSG},
        {"trunc", TRUNC(), 0},
        {"trunc to the largest size", TRUNC(.logical_offset = INT64_MAX, .logical_size = INT64_MAX), 0},
        {"trunc to two sizes", TRUNC(.logical_size = 99), -EBADMSG},
        {"trunc with length", TRUNC(.raw_length = 1), -EBADMSG},
        {"index", INDEX(), 0},
        {"index without records", INDEX(.raw_length = 32, .stored_length = 32), 0},
        {"index without prefix", INDEX(.raw_length = 0, .stored_length = 0), -EBADMSG},
        {"index of half a record", INDEX(.raw_length = 80, .stored_length = 80), -EBADMSG},
        {"index of two lengths", INDEX(.raw_length = 96), -EBADMSG},
        {"index with codec", INDEX(.codec = 1), -EBADMSG},
        {"largest index", INDEX(.raw_length = FORMAT_PAYLOAD_MAX, .stored_length = FORMAT_PAYLOAD_MAX), 0},
        {"too large index", INDEX(.raw_length = FORMAT_PAYLOAD_MAX + 32, .stored_length = FORMAT_PAYLOAD_MAX + 32),
         -EBADMSG},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t encoded[FORMAT_HEADER_BYTES];
        struct format_header decoded;
        int r;

        format_header_encode(&rows[i].header, encoded);
        r = format_header_decode(encoded, &decoded);
        if (r != rows[i].expected)
            FAIL("%s: %d, not %d", rows[i].what, r, rows[i].expected);
    }
}

#pragma GCC diagnostic pop

static void decodes_a_trailer_when_no_bit_is_flipped(void)
{
    const struct format_trailer trailer = {.file_id = 9, .index_offset = 4096, .logical_size = INT64_MAX};
    uint8_t encoded[FORMAT_TRAILER_BYTES];
    struct format_trailer decoded;

    format_trailer_encode(&trailer, encoded);
    CHECK_EQ(format_trailer_decode(encoded, &decoded), 0);
    CHECK_EQ(memcmp(&decoded, &trailer, sizeof(trailer)), 0);
    for (size_t bit = 0; bit < 8 * sizeof(encoded); bit++) {
        encoded[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK_EQ(format_trailer_decode(encoded, &decoded), -EBADMSG);
        encoded[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    format_trailer_encode(&(struct format_trailer){.file_id = 9, .index_offset = 4097}, encoded);
    CHECK_EQ(format_trailer_decode(encoded, &decoded), -EBADMSG);
    format_trailer_encode(&(struct format_trailer){.file_id = 9, .logical_size = UINT64_MAX}, encoded);
    CHECK_EQ(format_trailer_decode(encoded, &decoded), -EBADMSG);
}

static void checks_every_field_when_decoding_a_record(void)
{
    static const struct {
        const char *what;
        struct format_record record;
        int expected;
    } rows[] = {
        {"whole chunk", {CHUNK, 16, 1, CHUNK, 500, TALLY_CODEC_LZ4}, 0},
        {"raw", {CHUNK, 16, 1, CHUNK, CHUNK, TALLY_CODEC_RAW}, 0},
        {"zeros", {CHUNK + 1, 16, 1, 10, 0, FORMAT_RECORD_ZERO}, 0},
        {"zeros with payload", {CHUNK, 16, 1, 10, 1, FORMAT_RECORD_ZERO}, -EBADMSG},
        {"data without payload", {CHUNK, 16, 1, 10, 0, TALLY_CODEC_LZ4}, -EBADMSG},
        {"data that grew", {CHUNK, 16, 1, 10, 11, TALLY_CODEC_LZ4}, -EBADMSG},
        {"no bytes", {CHUNK, 16, 1, 0, 0, FORMAT_RECORD_ZERO}, -EBADMSG},
        {"two chunks", {CHUNK - 1, 16, 1, 2, 1, TALLY_CODEC_LZ4}, -EBADMSG},
        {"unaligned frame", {CHUNK, 17, 1, 10, 5, TALLY_CODEC_LZ4}, -EBADMSG},
        {"frame past the end of all", {CHUNK, UINT64_MAX - 15, 1, 10, 5, TALLY_CODEC_LZ4}, -EBADMSG},
        {"offset past the end of all", {UINT64_MAX - 5, 16, 1, 2, 1, TALLY_CODEC_LZ4}, -EBADMSG},
        {"sequence 0", {CHUNK, 16, 0, 10, 5, TALLY_CODEC_LZ4}, -EBADMSG},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t encoded[FORMAT_RECORD_BYTES];
        struct format_record decoded;
        int r;

        format_record_encode(&rows[i].record, encoded);
        r = format_record_decode(encoded, SHIFT, &decoded);
        if (r != rows[i].expected)
            FAIL("%s: %d, not %d", rows[i].what, r, rows[i].expected);
        if (r == 0) {
            CHECK_EQ(decoded.logical_offset, rows[i].record.logical_offset);
            CHECK_EQ(decoded.lower_offset, rows[i].record.lower_offset);
            CHECK_EQ(decoded.stored_length, rows[i].record.stored_length);
            CHECK_EQ(decoded.codec, rows[i].record.codec);
        }
    }
}

static void rounds_up_when_a_frame_is_padded(void)
{
    CHECK_EQ(format_frame_bytes(0), 64);
    CHECK_EQ(format_frame_bytes(1), 80);
    CHECK_EQ(format_frame_bytes(16), 80);
    CHECK_EQ(format_frame_bytes(17), 96);
    CHECK_EQ(format_frame_bytes(UINT32_MAX), UINT64_C(0x100000000) + 64);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(puts_every_field_in_its_place_when_encoded),
        CASE(refuses_a_header_when_any_bit_is_flipped),
        CASE(checks_every_field_when_decoding),
        CASE(decodes_a_trailer_when_no_bit_is_flipped),
        CASE(checks_every_field_when_decoding_a_record),
        CASE(rounds_up_when_a_frame_is_padded),
    };

    return RUN_CASES(cases);
}
