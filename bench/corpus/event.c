#include "corpus/event.h"

#include <stdbool.h>
#include <string.h>

#include "util/endian.h"

#define HEADER_BYTES 32
#define SHORTEST_RECORD 512 /* with all its blocks */
#define TABLE_ENTRY_BYTES 8
#define BLOCK_NAME_BYTES 4
#define MODULE_HEADER_BYTES 8 /* the name, module, hits */

/*
 * Shares of a record in 1/1024, set by measuring the finished files at 128 KiB blocks: the
 * pedestals make up the difference between a compressor that sees one event back and one that does
 * not (lz4 against lzo and lzjb).
 */
#define PEDESTAL_SHARE 84 /* PRE and POST each */
#define HIT_SHARE_LOW                                                                              \
    231 /* of a module's memory that hits fill, an even spread around the mean                     \
         */
#define HIT_SHARE_HIGH 612
#define PEDESTAL_EVENTS 8 /* between two readings of the pedestals */
#define MODULE_BYTES 2048 /* on average */

void event_builder_init(struct event_builder *builder, uint64_t seed, uint64_t file, uint32_t run)
{
    memset(builder, 0, sizeof(*builder));
    builder->random = random_stream(seed, file);
    builder->run = run;
    builder->number = 1;
}

uint32_t event_choose_length(struct event_builder *builder, uint64_t left)
{
    uint32_t length;

    if (left <= EVENT_MAX_BYTES)
        return (uint32_t)left;
    length = random_between(&builder->random, EVENT_MIN_BYTES / 64, EVENT_MAX_BYTES / 64) * 64;
    /* No stump at the end: what would be left over goes into this event. */
    return left - length < EVENT_MIN_BYTES ? (uint32_t)left : length;
}

static void add_segment(struct event_builder *builder, uint32_t length, uint64_t distance)
{
    if (length == 0)
        return;
    builder->segments[builder->segment_count++] =
        (struct event_segment){length, (uint32_t)distance};
}

/* Two hit words a number: 64 even bits, of which the upper 10 of each word give way to the
 * ascending channel. */
static void put_hits(struct random_stream *random, uint8_t *to, uint32_t hits)
{
    uint32_t gap = hits ? (1023U << 10) / hits : 0; /* channels a hit, in 1/1024 */
    uint32_t channel = 0;

    for (uint32_t i = 0; i < hits; i += 2) {
        uint64_t bits = random_next(random);
        uint32_t first = (uint32_t)bits;
        uint32_t second = (uint32_t)(bits >> 32);
        uint32_t first_channel = (channel + (first >> 22) * gap / 1024) >> 10;
        uint32_t second_channel = (channel + gap + (second >> 22) * gap / 1024) >> 10;

        store_le32(to, (first & 0x3fffff) | first_channel << 22);
        to += 4;
        if (i + 1 == hits)
            break;
        store_le32(to, (second & 0x3fffff) | second_channel << 22);
        to += 4;
        channel += 2 * gap;
    }
}

static void put_noise(struct random_stream *random, uint8_t *to, uint32_t length)
{
    uint8_t word[8];

    for (; length >= 8; length -= 8, to += 8)
        store_le64(to, random_next(random));
    if (length) {
        store_le64(word, random_next(random));
        memcpy(to, word, length);
    }
}

static void put_filler(uint8_t *to, uint32_t length, uint32_t filler)
{
    uint8_t word[4];

    store_le32(word, filler);
    for (; length >= 4; length -= 4, to += 4)
        memcpy(to, word, 4);
    memcpy(to, word, length);
}

/* Pedestal block `which` (0 PRE, 1 POST) at `offset`: the last reading again, or a new one. */
static void put_pedestal(struct event_builder *builder, int which, uint32_t offset, uint32_t length,
                         bool renew)
{
    uint64_t position = builder->position + offset;
    uint32_t known = renew ? 0 : builder->pedestal_bytes[which];
    uint32_t again = known < length ? known : length;

    /* A longer block than the last repeats what there is and goes on with new samples. */
    put_noise(&builder->random, builder->pedestals[which] + again, length - again);
    memcpy(builder->pedestals[which], which ? "POST" : "PRE ", BLOCK_NAME_BYTES);
    memcpy(builder->bytes + offset, builder->pedestals[which], length);
    add_segment(builder, again, again ? position - builder->pedestal_position[which] : 0);
    add_segment(builder, length - again, 0);
    builder->pedestal_position[which] = position;
    builder->pedestal_bytes[which] = length;
}

/* One module's memory; `share` of it, in 1/1024, is filled with hits. */
static void put_module(struct event_builder *builder, uint32_t module, uint32_t offset,
                       uint32_t length, uint32_t share)
{
    uint32_t hits = (length - MODULE_HEADER_BYTES) / 4 * share / 1024;
    uint32_t filled = MODULE_HEADER_BYTES + 4 * hits;
    uint32_t filler = 0xf0000000U | module << 16 | 0xffffU;
    uint8_t *to = builder->bytes + offset;

    memcpy(to, "MODU", BLOCK_NAME_BYTES);
    store_le16(to + 4, (uint16_t)module);
    store_le16(to + 6, (uint16_t)hits);
    put_hits(&builder->random, to + MODULE_HEADER_BYTES, hits);
    put_filler(to + filled, length - filled, filler);
    if (length - filled > 8) {
        add_segment(builder, filled + 4, 0);
        add_segment(builder, length - filled - 4, 4);
    } else {
        add_segment(builder, length, 0);
    }
}

static void put_entry(struct event_builder *builder, uint32_t index, uint32_t offset,
                      uint32_t length)
{
    uint8_t *to = builder->bytes + HEADER_BYTES + (size_t)index * TABLE_ENTRY_BYTES;

    store_le32(to, offset);
    store_le32(to + 4, length);
}

/* What is too short for a header and a block is padding, as at the end of a buffer. */
static void build_padding(struct event_builder *builder, uint32_t length)
{
    put_filler(builder->bytes, length, 0xffffffffU);
    add_segment(builder, length, 0);
    builder->position += length;
}

void event_build(struct event_builder *builder, uint32_t length)
{
    struct random_stream *random = &builder->random;
    uint32_t modules = length < MODULE_BYTES ? 1 : length / MODULE_BYTES;
    uint32_t blocks = modules + 2;
    uint32_t start = HEADER_BYTES + blocks * TABLE_ENTRY_BYTES;
    uint32_t pedestal = length * PEDESTAL_SHARE / 1024 / 4 * 4;
    uint32_t offset = start + pedestal;
    uint32_t memory; /* of a module */
    uint32_t share = 0;
    bool renew = builder->number % PEDESTAL_EVENTS == 1;

    builder->segment_count = 0;
    if (length < SHORTEST_RECORD) {
        build_padding(builder, length);
        return;
    }
    memory = (length - start - 2 * pedestal) / modules / 4 * 4;

    builder->time_ticks += random_between(random, 1000, 2000000);
    memcpy(builder->bytes, "TRG1", 4);
    store_le32(builder->bytes + 4, length);
    store_le64(builder->bytes + 8, builder->number);
    store_le32(builder->bytes + 16, builder->run);
    store_le32(builder->bytes + 20, blocks);
    store_le64(builder->bytes + 24, builder->time_ticks);
    add_segment(builder, start, 0);

    put_entry(builder, 0, start, pedestal);
    put_pedestal(builder, 0, start, pedestal, renew);
    for (uint32_t module = 1; module <= modules; module++) {
        /* The last one takes what rounding left over. */
        uint32_t bytes = module < modules ? memory : length - pedestal - offset;

        /* In pairs around the mean, so that each event has the same share of hits. */
        if (module % 2 == 0)
            share = HIT_SHARE_LOW + HIT_SHARE_HIGH - share;
        else if (module < modules)
            share = random_between(random, HIT_SHARE_LOW, HIT_SHARE_HIGH);
        else
            share = (HIT_SHARE_LOW + HIT_SHARE_HIGH) / 2;
        put_entry(builder, module, offset, bytes);
        put_module(builder, module, offset, bytes, share);
        offset += bytes;
    }
    put_entry(builder, modules + 1, offset, pedestal);
    put_pedestal(builder, 1, offset, pedestal, renew);
    builder->number++;
    builder->position += length;
}
