/* The parts of the corpora by themselves: events, the gzip encoder, text and mails. */
#include "harness.h"

#include <stdbool.h>
#include <zlib.h>

#include "corpus/event.h"
#include "corpus/gzip.h"
#include "corpus/message.h"
#include "corpus/text.h"
#include "util/endian.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A growing copy of what an encoder writes. */
struct bytes {
    uint8_t *data;
    size_t length, capacity;
};

static int append(void *context, const void *data, size_t length)
{
    struct bytes *bytes = context;

    if (bytes->length + length >= bytes->capacity) {
        bytes->capacity = 2 * (bytes->length + length) + 1;
        bytes->data = realloc(bytes->data, bytes->capacity);
        CHECK(bytes->data);
    }
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
    return 0;
}

static void check_inflates_to(const struct bytes *gz, const struct bytes *raw)
{
    uint8_t *out = malloc(raw->length + 1);
    z_stream stream = {
        .next_in = gz->data,
        .avail_in = (uInt)gz->length,
        .next_out = out,
        .avail_out = (uInt)raw->length + 1,
    };

    CHECK(out);
    CHECK_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    CHECK_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    CHECK_EQ(stream.total_out, raw->length);
    CHECK_EQ(stream.avail_in, 0);
    CHECK(memcmp(out, raw->data, raw->length) == 0);
    inflateEnd(&stream);
    free(out);
}

/* Builds a file of `length` bytes; checks each record's fields against its bytes, and each repeat
 * against what it repeats. */
static void build_file(struct event_builder *builder, size_t length, struct bytes *ret_raw)
{
    *ret_raw = (struct bytes){0};
    event_builder_init(builder, 11, 4, 12345678);
    while (ret_raw->length < length) {
        uint32_t size = event_choose_length(builder, length - ret_raw->length);
        size_t at = ret_raw->length;

        event_build(builder, size);
        append(ret_raw, builder->bytes, size);
        CHECK(builder->segment_count <= EVENT_MAX_SEGMENTS);
        for (size_t i = 0; i < builder->segment_count; i++) {
            struct event_segment segment = builder->segments[i];

            CHECK(segment.length > 0 && segment.distance <= at && segment.distance <= 32768);
            if (segment.distance)
                for (size_t k = 0; k < segment.length; k++)
                    CHECK_EQ(ret_raw->data[at + k], ret_raw->data[at + k - segment.distance]);
            at += segment.length;
        }
        CHECK_EQ(at, ret_raw->length);
    }
}

static void event_files_have_the_length_asked_for(void)
{
    static const size_t lengths[] = {1,    3,    4,    511,   512,   513,   1000,  2047,  2048,
                                     5000, 8191, 8192, 24576, 24577, 32768, 40000, 300001};
    struct event_builder *builder = malloc(sizeof(*builder));
    struct bytes raw;

    CHECK(builder);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        build_file(builder, lengths[i], &raw);
        CHECK_EQ(raw.length, lengths[i]);
        free(raw.data);
    }
    free(builder);
}

static void events_describe_themselves(void)
{
    struct event_builder *builder = malloc(sizeof(*builder));
    uint64_t number = 0;
    uint64_t time_ticks = 0;
    struct bytes raw;
    size_t at = 0;

    CHECK(builder);
    build_file(builder, 1 << 20, &raw);
    while (at < raw.length) {
        const uint8_t *event = raw.data + at;
        uint32_t length = load_le32(event + 4);
        uint32_t blocks = load_le32(event + 20);
        uint32_t next = 32 + 8 * blocks;

        CHECK(memcmp(event, "TRG1", 4) == 0);
        CHECK(length >= EVENT_MIN_BYTES && length <= EVENT_BUFFER_BYTES);
        CHECK(at + length <= raw.length);
        CHECK_EQ(load_le64(event + 8), ++number);
        CHECK_EQ(load_le32(event + 16), 12345678);
        CHECK(load_le64(event + 24) > time_ticks);
        time_ticks = load_le64(event + 24);
        for (uint32_t i = 0; i < blocks; i++) {
            uint32_t offset = load_le32(event + 32 + 8 * i);
            uint32_t size = load_le32(event + 36 + 8 * i);
            const uint8_t *block = event + offset;

            /* The blocks lie one behind the other and fill the record. */
            CHECK_EQ(offset, next);
            next = offset + size;
            CHECK(memcmp(block, i == 0 ? "PRE " : i + 1 == blocks ? "POST" : "MODU", 4) == 0);
            if (i > 0 && i + 1 < blocks) {
                uint32_t hits = load_le16(block + 6);
                uint32_t channel = 0;

                CHECK_EQ(load_le16(block + 4), i);
                CHECK(8 + 4 * hits <= size);
                for (uint32_t k = 0; k < hits; k++) {
                    CHECK(load_le32(block + 8 + 4 * k) >> 22 >= channel);
                    channel = load_le32(block + 8 + 4 * k) >> 22;
                }
            }
        }
        CHECK_EQ(next, length);
        at += length;
    }
    CHECK_EQ(at, raw.length);
    free(raw.data);
    free(builder);
}

static void pedestals_repeat_four_to_thirty_two_kib_back(void)
{
    struct event_builder *builder = malloc(sizeof(*builder));
    uint64_t far = 0;
    uint64_t total = 0;

    CHECK(builder);
    event_builder_init(builder, 3, 0, 1);
    while (total < 4 << 20) {
        uint32_t length = event_choose_length(builder, UINT64_MAX);

        event_build(builder, length);
        for (size_t i = 0; i < builder->segment_count; i++)
            if (builder->segments[i].distance > 4) {
                CHECK(builder->segments[i].distance >= 4096);
                CHECK(builder->segments[i].distance <= 32768);
                far += builder->segments[i].length;
            }
        total += length;
    }
    CHECK(far * 100 / total >= 8 && far * 100 / total <= 16);
    free(builder);
}

static void events_gzip_to_what_gunzip_reads(void)
{
    struct event_builder *builder = malloc(sizeof(*builder));
    struct gzip_writer *writer = malloc(sizeof(*writer));
    struct bytes raw = {0};
    struct bytes gz = {0};

    CHECK(builder && writer);
    event_builder_init(builder, 1, 2, 3);
    gzip_begin(writer, (struct gzip_sink){append, &gz});
    while (raw.length < 2 << 20) {
        const uint8_t *at = builder->bytes;

        event_build(builder, event_choose_length(builder, (2 << 20) - raw.length));
        for (size_t i = 0; i < builder->segment_count; i++) {
            struct event_segment segment = builder->segments[i];

            if (segment.distance)
                CHECK_EQ(gzip_repeat(writer, at, segment.length, segment.distance), 0);
            else
                CHECK_EQ(gzip_literals(writer, at, segment.length), 0);
            at += segment.length;
        }
        append(&raw, builder->bytes, (size_t)(at - builder->bytes));
    }
    CHECK_EQ(gzip_end(writer), 0);
    CHECK_EQ(writer->written_bytes, gz.length);
    CHECK_EQ(writer->raw_bytes, raw.length);
    CHECK(gz.length * 100 < raw.length * 45);
    check_inflates_to(&gz, &raw);
    free(raw.data);
    free(gz.data);
    free(writer);
    free(builder);
}

static void gzip_is_right_for_every_length_and_distance(void)
{
    static const uint32_t distances[] = {
        1,    2,    3,     4,     5,     6,     7,     8,     9,     12,   13,   16,
        17,   24,   25,    31,    32,    33,    48,    49,    64,    65,   96,   97,
        128,  129,  192,   193,   256,   257,   384,   385,   512,   513,  768,  769,
        1024, 1025, 1536,  1537,  2048,  2049,  3072,  3073,  4096,  4097, 6144, 6145,
        8192, 8193, 12288, 12289, 16384, 16385, 24576, 24577, 32767, 32768};
    struct gzip_writer *writer = malloc(sizeof(*writer));
    struct random_stream random = random_stream(5, 0);
    struct bytes raw = {0};
    struct bytes gz = {0};

    CHECK(writer);
    gzip_begin(writer, (struct gzip_sink){append, &gz});
    for (size_t i = 0; i < 40000; i++) {
        uint8_t byte = (uint8_t)random_next(&random);

        append(&raw, &byte, 1);
    }
    CHECK_EQ(gzip_literals(writer, raw.data, raw.length), 0);
    for (size_t i = 0; i < 600 + COUNT(distances); i++) {
        size_t length = i < 600 ? i : 1000;
        uint32_t distance = distances[i % COUNT(distances)];
        size_t start = raw.length;

        for (size_t k = 0; k < length; k++) {
            uint8_t byte = raw.data[raw.length - distance];

            append(&raw, &byte, 1);
        }
        CHECK_EQ(gzip_repeat(writer, raw.data + start, length, distance), 0);
    }
    CHECK_EQ(gzip_end(writer), 0);
    check_inflates_to(&gz, &raw);
    free(raw.data);
    free(gz.data);
    free(writer);
}

static void gzip_of_nothing_is_a_whole_file(void)
{
    struct gzip_writer *writer = malloc(sizeof(*writer));
    struct bytes raw = {0};
    struct bytes gz = {0};

    CHECK(writer);
    append(&raw, "", 0);
    gzip_begin(writer, (struct gzip_sink){append, &gz});
    CHECK_EQ(gzip_end(writer), 0);
    check_inflates_to(&gz, &raw);
    free(raw.data);
    free(gz.data);
    free(writer);
}

static int refuse(void *context, const void *data, size_t length)
{
    (void)context;
    (void)data;
    (void)length;
    return -28;
}

static void gzip_hands_on_the_error_of_its_sink(void)
{
    static uint8_t noise[1 << 20];
    struct gzip_writer *writer = malloc(sizeof(*writer));

    CHECK(writer);
    gzip_begin(writer, (struct gzip_sink){refuse, NULL});
    CHECK_EQ(gzip_literals(writer, noise, sizeof(noise)), -28);
    gzip_begin(writer, (struct gzip_sink){refuse, NULL});
    CHECK_EQ(gzip_end(writer), -28);
    free(writer);
}

static void prose_has_exactly_the_length_asked_for(void)
{
    struct vocabulary *vocabulary = malloc(sizeof(*vocabulary));
    struct random_stream random = random_stream(9, 0);
    uint8_t text[3000 + TEXT_SLACK_BYTES];

    CHECK(vocabulary);
    CHECK_EQ(vocabulary_init(vocabulary), 0);
    for (size_t length = 0; length <= 3000; length += 1 + length / 40) {
        size_t line = 0;

        memset(text, 0xee, sizeof(text));
        text_put_prose(vocabulary, &random, text, length);
        for (size_t i = 0; i < length; i++) {
            CHECK(text[i] == '\n' || (text[i] >= ' ' && text[i] < 127));
            line = text[i] == '\n' ? 0 : line + 1;
            CHECK(line <= 96);
        }
        CHECK(length == 0 || text[length - 1] == '\n');
        CHECK_EQ(text[length + TEXT_SLACK_BYTES - 1], 0xee);
    }
    vocabulary_free(vocabulary);
    free(vocabulary);
}

/* Looks for a header's value in a mail; the caller has made the bytes a string. */
static const char *find(const struct message *message, const char *text)
{
    return strstr((const char *)message->bytes, text);
}

static void mails_hold_what_was_planned(void)
{
    struct vocabulary *vocabulary = malloc(sizeof(*vocabulary));
    struct message *messages = calloc(2, sizeof(*messages));
    struct random_stream random = random_stream(2, 7);
    struct message_plan plan = {.recipient = "user07", .received = 1700000000, .prose = 700};
    struct message *first;
    struct message *second;
    const char *body;
    size_t base64_lines = 0;

    CHECK(vocabulary && messages);
    CHECK_EQ(vocabulary_init(vocabulary), 0);
    first = &messages[0];
    second = &messages[1];
    message_build(first, vocabulary, &random, &plan);
    first->bytes[first->length] = '\0';
    CHECK_EQ(first->prose_length, 700);
    CHECK_EQ(first->base64 + first->eight_bit, 0);
    CHECK(find(first, "Delivered-To: user07@mail.example\n"));
    CHECK(find(first, "Date: Tue, 14 Nov 2023 22:13:20 +0000\n"));
    body = find(first, "\n\n");
    CHECK(body);
    CHECK_EQ(body + 2 - (const char *)first->bytes, first->prose_start);
    CHECK_EQ(first->prose_start + 700, first->length);

    plan = (struct message_plan){
        .recipient = "user07",
        .received = 1700000000,
        .prose = MESSAGE_MAX_PROSE,
        .reply_to = first,
        .base64 = MESSAGE_MAX_ATTACHMENT,
        .eight_bit = MESSAGE_MAX_ATTACHMENT,
    };
    message_build(second, vocabulary, &random, &plan);
    CHECK(second->length <= MESSAGE_MAX_BYTES);
    CHECK_EQ(second->base64, MESSAGE_MAX_ATTACHMENT / BASE64_LINE_BYTES * BASE64_LINE_BYTES);
    CHECK_EQ(second->eight_bit, MESSAGE_MAX_ATTACHMENT);
    second->bytes[second->length] = '\0';
    CHECK(find(second, "Content-Transfer-Encoding: base64\n"));
    CHECK(find(second, "Content-Transfer-Encoding: 8bit\n"));
    CHECK(find(second, " wrote:\n> "));
    CHECK(!memchr(second->bytes, '\0', second->length) &&
          !memchr(second->bytes, '\r', second->length));
    body = strstr(find(second, "Encoding: base64"), "\n\n") + 2;
    for (; strspn(body, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") == 76 &&
           body[76] == '\n';
         body += BASE64_LINE_BYTES)
        base64_lines++;
    CHECK_EQ(base64_lines * BASE64_LINE_BYTES, second->base64);
    CHECK(strncmp(body, "--=_", 4) == 0);
    free(messages);
    vocabulary_free(vocabulary);
    free(vocabulary);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(event_files_have_the_length_asked_for),
        CASE(events_describe_themselves),
        CASE(pedestals_repeat_four_to_thirty_two_kib_back),
        CASE(events_gzip_to_what_gunzip_reads),
        CASE(gzip_is_right_for_every_length_and_distance),
        CASE(gzip_of_nothing_is_a_whole_file),
        CASE(gzip_hands_on_the_error_of_its_sink),
        CASE(prose_has_exactly_the_length_asked_for),
        CASE(mails_hold_what_was_planned),
    };

    return RUN_CASES(cases);
}
