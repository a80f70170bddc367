#include "store/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tally/format.h"

#define PAGE_SHIFT 8u
#define PAGE_CHUNKS (1u << PAGE_SHIFT)

struct map_page {
    uint64_t number; /* chunk >> PAGE_SHIFT */
    struct map_chunk *chunks;
    uint32_t count;
    uint32_t capacity;
};

void map_init(struct map *map, unsigned chunk_shift)
{
    *map = (struct map){.chunk_shift = chunk_shift};
}

void map_clear(struct map *map)
{
    for (size_t i = 0; i < map->page_count; i++) {
        for (uint32_t j = 0; j < map->pages[i].count; j++)
            free(map->pages[i].chunks[j].extents);
        free(map->pages[i].chunks);
    }
    free(map->pages);
    map_init(map, map->chunk_shift);
}

/* The first page whose number is not below `number`. */
static size_t page_lower_bound(const struct map *map, uint64_t number)
{
    size_t low = 0, high = map->page_count;

    if (high && map->pages[high - 1].number < number)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (map->pages[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t chunk_lower_bound(const struct map_page *page, uint64_t chunk)
{
    uint32_t low = 0, high = page->count;

    if (high && page->chunks[high - 1].chunk < chunk)
        return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (page->chunks[middle].chunk < chunk)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct map_chunk *map_next(const struct map *map, uint64_t chunk)
{
    for (size_t i = page_lower_bound(map, chunk >> PAGE_SHIFT); i < map->page_count; i++) {
        uint32_t j = chunk_lower_bound(&map->pages[i], chunk);

        if (j < map->pages[i].count)
            return &map->pages[i].chunks[j];
    }
    return NULL;
}

const struct map_chunk *map_find(const struct map *map, uint64_t chunk)
{
    const struct map_chunk *found = map_next(map, chunk);

    return found && found->chunk == chunk ? found : NULL;
}

const struct map_chunk *map_last(const struct map *map)
{
    const struct map_page *page;

    if (map->page_count == 0)
        return NULL;
    page = &map->pages[map->page_count - 1];
    return &page->chunks[page->count - 1];
}

static void account(struct map *map, const struct extent *extent, bool added)
{
    uint64_t stored = format_frame_bytes(extent->stored_length);

    map->extent_count += added ? 1 : (uint64_t)-1;
    map->stored_bytes += added ? stored : (uint64_t)0 - stored;
    if (extent->codec == FORMAT_RECORD_ZERO || extent->codec == FORMAT_RECORD_LOST)
        return;
    map->data_bytes += added ? extent->raw_length : (uint64_t)0 - extent->raw_length;
}

static int page_get(struct map *map, uint64_t number, struct map_page **ret_page)
{
    size_t at = page_lower_bound(map, number);

    if (at == map->page_count || map->pages[at].number != number) {
        if (map->page_count == map->page_capacity) {
            size_t capacity = map->page_capacity ? map->page_capacity * 2 : 4;
            struct map_page *pages = reallocarray(map->pages, capacity, sizeof(*pages));

            if (!pages)
                return -ENOMEM;
            map->pages = pages;
            map->page_capacity = capacity;
        }
        memmove(map->pages + at + 1, map->pages + at, (map->page_count - at) * sizeof(*map->pages));
        map->pages[at] = (struct map_page){.number = number};
        map->page_count++;
    }
    *ret_page = &map->pages[at];
    return 0;
}

/* A page without chunks does not stay: map_last and map_next rely on it. */
static void page_drop_if_empty(struct map *map, struct map_page *page)
{
    size_t at = (size_t)(page - map->pages);

    if (page->count)
        return;
    free(page->chunks);
    memmove(page, page + 1, (map->page_count - at - 1) * sizeof(*page));
    map->page_count--;
}

static int page_insert(struct map_page *page, uint32_t at, const struct map_chunk *entry)
{
    if (page->count == page->capacity) {
        uint32_t capacity = page->capacity ? page->capacity * 2 : 2;
        struct map_chunk *chunks = reallocarray(page->chunks, capacity, sizeof(*chunks));

        if (!chunks)
            return -ENOMEM;
        page->chunks = chunks;
        page->capacity = capacity;
    }
    memmove(page->chunks + at + 1, page->chunks + at, (page->count - at) * sizeof(*page->chunks));
    page->chunks[at] = *entry;
    page->count++;
    return 0;
}

static int add_new(struct map *map, uint64_t chunk, const struct extent *extent)
{
    struct map_chunk entry = {.chunk = chunk, .count = 1};
    struct map_page *page;
    int r;

    if (extent->codec == FORMAT_RECORD_ZERO)
        return 0;
    entry.extents = malloc(sizeof(*entry.extents));
    if (!entry.extents)
        return -ENOMEM;
    entry.extents[0] = *extent;
    r = page_get(map, chunk >> PAGE_SHIFT, &page);
    if (r == 0) {
        r = page_insert(page, chunk_lower_bound(page, chunk), &entry);
        if (r < 0)
            page_drop_if_empty(map, page);
    }
    if (r < 0) {
        free(entry.extents);
        return r;
    }
    map->chunk_count++;
    account(map, extent, true);
    return 0;
}

static void remove_chunk(struct map *map, uint64_t chunk)
{
    struct map_page *page = &map->pages[page_lower_bound(map, chunk >> PAGE_SHIFT)];
    uint32_t at = chunk_lower_bound(page, chunk);

    for (uint32_t i = 0; i < page->chunks[at].count; i++)
        account(map, &page->chunks[at].extents[i], false);
    free(page->chunks[at].extents);
    memmove(page->chunks + at, page->chunks + at + 1, (page->count - at - 1) * sizeof(*page->chunks));
    page->count--;
    map->chunk_count--;
    page_drop_if_empty(map, page);
}

static bool covers(const struct extent *over, const struct extent *under)
{
    return over->begin <= under->begin && over->begin + over->raw_length >= under->begin + under->raw_length;
}

static bool meets(const struct extent *a, const struct extent *b)
{
    return a->begin < b->begin + b->raw_length && b->begin < a->begin + a->raw_length;
}

/*
 * What stays of `entry` under `extent`: not what it covers, and no zeros at the bottom, where there is zero anyway. The
 * count, and the extents in `ret_kept` unless that is NULL.
 */
static uint32_t keep_below(const struct map_chunk *entry, const struct extent *extent, struct extent *ret_kept)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < entry->count; i++) {
        const struct extent *below = &entry->extents[i];

        if (covers(extent, below) || (kept == 0 && below->codec == FORMAT_RECORD_ZERO))
            continue;
        if (ret_kept)
            ret_kept[kept] = *below;
        kept++;
    }
    return kept;
}

static bool is_needed(const struct map_chunk *entry, const struct extent *extent)
{
    if (extent->codec != FORMAT_RECORD_ZERO)
        return true;
    for (uint32_t i = 0; i < entry->count; i++)
        if (meets(extent, &entry->extents[i]) && !covers(extent, &entry->extents[i]))
            return true;
    return false;
}

/* Whether some byte of extent `i` is under none of the later ones. */
static bool shows(const struct extent *extents, uint32_t count, uint32_t i)
{
    uint32_t at = extents[i].begin, end = at + extents[i].raw_length;

    for (uint32_t j = i + 1; j < count && at < end; j++) {
        if (extents[j].begin <= at && extents[j].begin + extents[j].raw_length > at) {
            at = extents[j].begin + extents[j].raw_length;
            j = i; /* another may go on from there, whatever its place */
        }
    }
    return at < end;
}

/* Several zero extents together may leave nothing of the data below them. */
static bool is_all_zero(const struct extent *extents, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (extents[i].codec != FORMAT_RECORD_ZERO && shows(extents, count, i))
            return false;
    return true;
}

int map_add(struct map *map, uint64_t chunk, const struct extent *extent)
{
    struct map_chunk *entry = (struct map_chunk *)(uintptr_t)map_find(map, chunk);
    struct extent *extents;
    uint32_t count;
    bool needed;

    if (!entry)
        return add_new(map, chunk, extent);
    needed = is_needed(entry, extent);
    count = keep_below(entry, extent, NULL);
    if (count == 0 && extent->codec == FORMAT_RECORD_ZERO) {
        remove_chunk(map, chunk);
        return 0;
    }
    if (count + needed > MAP_EXTENTS_MAX)
        return -EOVERFLOW;
    extents = malloc((count + needed) * sizeof(*extents));
    if (!extents)
        return -ENOMEM;
    keep_below(entry, extent, extents);
    if (needed)
        extents[count++] = *extent;
    if (extent->codec == FORMAT_RECORD_ZERO && is_all_zero(extents, count)) {
        free(extents);
        remove_chunk(map, chunk);
        return 0;
    }
    for (uint32_t i = 0; i < entry->count; i++)
        account(map, &entry->extents[i], false);
    for (uint32_t i = 0; i < count; i++)
        account(map, &extents[i], true);
    free(entry->extents);
    entry->extents = extents;
    entry->count = count;
    return 0;
}

int map_zero(struct map *map, uint64_t offset, uint64_t length, uint64_t lower_offset, uint64_t sequence)
{
    uint64_t chunk_bytes = UINT64_C(1) << map->chunk_shift, end = offset + length;
    uint64_t next = offset >> map->chunk_shift;
    const struct map_chunk *entry;

    while (length && (entry = map_next(map, next)) && entry->chunk << map->chunk_shift < end) {
        uint64_t chunk = entry->chunk, start = chunk << map->chunk_shift;
        uint64_t from = offset > start ? offset : start;
        uint64_t to = end < start + chunk_bytes ? end : start + chunk_bytes;
        struct extent zero = {
            .lower_offset = lower_offset,
            .sequence = sequence,
            .begin = (uint32_t)(from - start),
            .raw_length = (uint32_t)(to - from),
            .codec = FORMAT_RECORD_ZERO,
        };
        int r = map_add(map, chunk, &zero);

        if (r < 0)
            return r;
        next = chunk + 1;
    }
    return 0;
}

void map_drop(struct map *map, uint64_t chunk, uint32_t i)
{
    struct map_chunk *entry = (struct map_chunk *)(uintptr_t)map_find(map, chunk);

    account(map, &entry->extents[i], false);
    memmove(entry->extents + i, entry->extents + i + 1, (entry->count - i - 1) * sizeof(*entry->extents));
    entry->count--;
}

void map_move(struct map *map, uint64_t chunk, uint64_t sequence, uint64_t lower_offset)
{
    const struct map_chunk *entry = map_find(map, chunk);

    for (uint32_t i = 0; entry && i < entry->count; i++)
        if (entry->extents[i].sequence == sequence)
            entry->extents[i].lower_offset = lower_offset;
}
