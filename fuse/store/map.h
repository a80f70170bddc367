/*
 * The chunk map of one file: for every chunk with data, the extents that make it, oldest first. What no extent covers
 * is zero. Pure memory, no I/O. Not thread-safe.
 *
 * A sorted array of pages, each for 256 consecutive chunks and holding only those that have data: appending is cheap
 * in a streamed file, and a sparse one costs no more than what it holds.
 */
#ifndef TALLY_STORE_MAP_H
#define TALLY_STORE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* More on one chunk is no work of ours: writers fold at 8, and a crash adds few. Bounds the cost of a hostile file. */
#define MAP_EXTENTS_MAX 64

/* Where zeros lie whose own frame is lost. At 0 there is always a header. */
#define MAP_NO_FRAME UINT64_C(0)

struct extent {
    uint64_t lower_offset; /* of the frame's header */
    uint64_t sequence;     /* of the frame */
    uint32_t begin;        /* first byte within the chunk */
    uint32_t raw_length;   /* bytes covered, from 1 */
    uint32_t stored_length;
    uint8_t codec; /* enum tally_codec_id; FORMAT_RECORD_ZERO: covers with zeros; FORMAT_RECORD_LOST: is not known */
};

struct map_chunk {
    uint64_t chunk; /* index: logical offset >> chunk shift */
    uint32_t count; /* from 1 */
    struct extent *extents; /* owned by the map; oldest first */
};

struct map_page;

struct map {
    unsigned chunk_shift;
    struct map_page *pages;
    size_t page_count;
    size_t page_capacity;
    uint64_t chunk_count;
    uint64_t extent_count;
    uint64_t data_bytes;   /* logical bytes that extents with data cover; overlaps count once or more */
    uint64_t stored_bytes; /* of the extents' frames, with headers */
};

void map_init(struct map *map, unsigned chunk_shift);

/* Empties it; it can be used again. */
void map_clear(struct map *map);

/* The chunk, or NULL where it has no data. Valid until the map changes. */
const struct map_chunk *map_find(const struct map *map, uint64_t chunk);

/* The first chunk with data at or after `chunk`, or NULL. */
const struct map_chunk *map_next(const struct map *map, uint64_t chunk);

/* The last chunk with data, or NULL. */
const struct map_chunk *map_last(const struct map *map);

/*
 * Puts an extent over what the chunk has and drops what it covers wholly. Zeros where nothing lies below store
 * nothing. 0, -ENOMEM, or -EOVERFLOW above MAP_EXTENTS_MAX; the map is as before then.
 */
int map_add(struct map *map, uint64_t chunk, const struct extent *extent);

/*
 * Zeros [offset, offset + length): drops the chunks within, and puts a zero extent with the frame's place and sequence
 * over the partly covered ones at either end. 0 or an error of map_add.
 */
int map_zero(struct map *map, uint64_t offset, uint64_t length, uint64_t lower_offset, uint64_t sequence);

/* Takes extent `i` of a chunk out of the map: others above it say all that it says. */
void map_drop(struct map *map, uint64_t chunk, uint32_t i);

/* Says that the frame that the chunk has under this sequence number lies elsewhere now. */
void map_move(struct map *map, uint64_t chunk, uint64_t sequence, uint64_t lower_offset);

#endif
