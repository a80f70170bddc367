#include <errno.h>

#include "harness.h"
#include "store/map.h"
#include "tally/format.h"

#define SHIFT 14
#define CHUNK (1u << SHIFT)

static uint64_t sequence;

static struct extent extent_of(uint32_t begin, uint32_t length, uint8_t codec)
{
    sequence++;
    return (struct extent){.lower_offset = sequence * 64, .sequence = sequence, .begin = begin, .raw_length = length,
                           .stored_length = codec == FORMAT_RECORD_ZERO ? 0 : length, .codec = codec};
}

static void add(struct map *map, uint64_t chunk, uint32_t begin, uint32_t end, uint8_t codec)
{
    const struct extent extent = extent_of(begin, end - begin, codec);

    CHECK_EQ(map_add(map, chunk, &extent), 0);
}

/* The chunk's extents as "begin-end" or "begin=end" for zeros, oldest first. */
static void check_chunk(const struct map *map, uint64_t chunk, const char *expected)
{
    const struct map_chunk *entry = map_find(map, chunk);
    char text[200] = "";

    for (uint32_t i = 0; entry && i < entry->count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u%c%u", i ? " " : "", entry->extents[i].begin,
                 entry->extents[i].codec == FORMAT_RECORD_ZERO ? '=' : '-',
                 entry->extents[i].begin + entry->extents[i].raw_length);
    CHECK_STR(text, expected);
}

static void keeps_what_shows_when_extents_overlap(void)
{
    static const struct {
        struct {
            uint32_t begin, end;
            uint8_t codec;
        } steps[5];
        const char *expected;
    } rows[] = {
        {{{0, 100, 0}}, "0-100"},
        {{{0, 100, 0}, {0, 100, 0}}, "0-100"},
        {{{0, 100, 0}, {10, 20, 0}}, "0-100 10-20"},
        {{{10, 20, 0}, {0, 100, 0}}, "0-100"},
        {{{0, 100, 0}, {50, 150, 0}}, "0-100 50-150"},
        {{{0, 100, 0}, {50, 150, 0}, {0, CHUNK, 0}}, "0-16384"},
        {{{0, 100, FORMAT_RECORD_ZERO}}, ""},
        {{{0, 100, 0}, {0, 100, FORMAT_RECORD_ZERO}}, ""},
        {{{0, 100, 0}, {50, 200, FORMAT_RECORD_ZERO}}, "0-100 50=200"},
        {{{0, 100, 0}, {100, 200, FORMAT_RECORD_ZERO}}, "0-100"},
        {{{0, 100, 0}, {50, 60, FORMAT_RECORD_ZERO}, {40, 70, 0}}, "0-100 40-70"},
        {{{0, 100, 0}, {90, 200, FORMAT_RECORD_ZERO}, {0, 150, 0}}, "0-150"},
        {{{0, 100, 0}, {90, 200, FORMAT_RECORD_ZERO}, {0, 100, FORMAT_RECORD_ZERO}}, ""},
        {{{0, 100, 0}, {200, 300, 0}, {100, 250, FORMAT_RECORD_ZERO}}, "0-100 200-300 100=250"},
        {{{0, 100, 0}, {80, 100, FORMAT_RECORD_ZERO}, {0, 80, FORMAT_RECORD_ZERO}}, ""},
        {{{0, 100, 0}, {0, 30, FORMAT_RECORD_ZERO}, {60, 100, FORMAT_RECORD_ZERO}, {20, 70, FORMAT_RECORD_ZERO}}, ""},
        {{{0, 100, 0}, {0, 30, FORMAT_RECORD_ZERO}, {20, 40, 0}, {30, 100, FORMAT_RECORD_ZERO}}, "0-100 0=30 20-40 30=100"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct map map;

        map_init(&map, SHIFT);
        for (size_t s = 0; s < 5 && rows[i].steps[s].end; s++)
            add(&map, 3, rows[i].steps[s].begin, rows[i].steps[s].end, rows[i].steps[s].codec);
        check_chunk(&map, 3, rows[i].expected);
        CHECK_EQ(map.chunk_count, rows[i].expected[0] != 0);
        map_clear(&map);
        CHECK_EQ(map.extent_count, 0);
    }
}

static void finds_neighbours_when_chunks_are_far_apart(void)
{
    static const uint64_t chunks[] = {UINT64_C(1) << 48, 5, 255, 256, UINT64_C(1) << 40, 0, 257, 70000};
    static const uint64_t sorted[] = {0, 5, 255, 256, 257, 70000, UINT64_C(1) << 40, UINT64_C(1) << 48};
    const struct map_chunk *entry;
    struct map map;
    uint64_t next = 0;

    map_init(&map, SHIFT);
    CHECK(map_next(&map, 0) == NULL);
    CHECK(map_last(&map) == NULL);
    for (size_t i = 0; i < 8; i++)
        add(&map, chunks[i], 0, 10, 0);
    for (size_t i = 0; i < 8; i++) {
        entry = map_next(&map, next);
        CHECK(entry != NULL);
        CHECK_EQ(entry->chunk, sorted[i]);
        CHECK(map_find(&map, sorted[i]) == entry);
        CHECK(map_find(&map, sorted[i] + 10) == NULL);
        next = entry->chunk + 1;
    }
    CHECK(map_next(&map, next) == NULL);
    CHECK_EQ(map_last(&map)->chunk, UINT64_C(1) << 48);
    map_clear(&map);
}

static void keeps_count_when_chunks_come_and_go(void)
{
    struct map map;

    map_init(&map, SHIFT);
    for (uint64_t chunk = 0; chunk < 1000; chunk++)
        add(&map, chunk * 7 % 1000, 0, CHUNK, 0);
    CHECK_EQ(map.chunk_count, 1000);
    CHECK_EQ(map.data_bytes, 1000u * CHUNK);
    CHECK_EQ(map.stored_bytes, 1000u * (CHUNK + 64));
    CHECK_EQ(map_zero(&map, 10 * CHUNK + 5, 980u * CHUNK, 0, ++sequence), 0);
    CHECK_EQ(map.chunk_count, 21); /* 0 to 9, the cut 10, the cut 990, 991 to 999 */
    check_chunk(&map, 10, "0-16384 5=16384");
    check_chunk(&map, 11, "");
    check_chunk(&map, 990, "0-16384 0=5");
    CHECK_EQ(map_zero(&map, 0, FORMAT_SIZE_MAX, 0, ++sequence), 0);
    CHECK_EQ(map.chunk_count, 0);
    CHECK_EQ(map.data_bytes, 0);
    CHECK_EQ(map.stored_bytes, 0);
    CHECK_EQ(map.extent_count, 0);
    CHECK_EQ(map.page_count, 0);
    map_clear(&map);
}

static void stays_as_it_was_when_a_chunk_has_too_many_extents(void)
{
    struct extent extent;
    struct map map;

    map_init(&map, SHIFT);
    for (uint32_t i = 0; i < MAP_EXTENTS_MAX; i++)
        add(&map, 0, i * 4, i * 4 + 2, 0);
    extent = extent_of(1000, 2, 0);
    CHECK_EQ(map_add(&map, 0, &extent), -EOVERFLOW);
    CHECK_EQ(map_find(&map, 0)->count, MAP_EXTENTS_MAX);
    add(&map, 0, 0, 2000, 0); /* what covers them all is no one too many */
    check_chunk(&map, 0, "0-2000");
    map_clear(&map);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(keeps_what_shows_when_extents_overlap),
        CASE(finds_neighbours_when_chunks_are_far_apart),
        CASE(keeps_count_when_chunks_come_and_go),
        CASE(stays_as_it_was_when_a_chunk_has_too_many_extents),
    };

    return RUN_CASES(cases);
}
