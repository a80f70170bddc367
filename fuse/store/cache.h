/*
 * Decoded chunks of all files of a mount, least recently used out first, so that small reads of one chunk decode it
 * once. Thread-safe.
 */
#ifndef TALLY_STORE_CACHE_H
#define TALLY_STORE_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct cache;
struct cached;

/* What a decoded chunk is of. The version is the newest sequence number in it: other contents, other version. */
struct cache_key {
    uint64_t file; /* unique to one opening of a file */
    uint64_t chunk;
    uint64_t version;
};

/* NULL without memory. */
struct cache *cache_create(size_t limit_bytes);
void cache_destroy(struct cache *cache);

/* The chunk's bytes, held until cache_release; NULL when it is not there. */
struct cached *cache_find(struct cache *cache, const struct cache_key *key);

/*
 * Room for a chunk of `size` bytes, held by the caller alone, who fills it and then publishes it; NULL without
 * memory. Released without being published it is forgotten.
 */
struct cached *cache_new(struct cache *cache, const struct cache_key *key, size_t size);
void cache_publish(struct cache *cache, struct cached *cached);
void cache_release(struct cache *cache, struct cached *cached);

/* Since cache_create: what cache_find found and did not find; and what is there now. */
struct cache_usage {
    uint64_t hits;
    uint64_t misses;
    uint64_t bytes;
};

struct cache_usage cache_usage(struct cache *cache);

uint8_t *cached_data(struct cached *cached);

#endif
