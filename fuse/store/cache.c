#include "store/cache.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define BUCKETS 1024u

struct cached {
    struct cache_key key;
    struct cached *next;               /* in the bucket */
    struct cached *newer, *older;      /* in the order of use */
    size_t size;
    unsigned holders;
    bool listed;
    uint8_t data[];
};

struct cache {
    pthread_mutex_t lock;
    size_t limit_bytes;
    size_t bytes; /* of what is listed */
    uint64_t hits, misses;
    struct cached *newest, *oldest;
    struct cached *buckets[BUCKETS];
};

struct cache *cache_create(size_t limit_bytes)
{
    struct cache *cache = calloc(1, sizeof(*cache));

    if (!cache)
        return NULL;
    pthread_mutex_init(&cache->lock, NULL);
    cache->limit_bytes = limit_bytes;
    return cache;
}

static struct cached **bucket_of(struct cache *cache, const struct cache_key *key)
{
    /* Fibonacci hashing: multiply by 2^64 / golden ratio and take high bits. */
    uint64_t hash = (key->file * UINT64_C(0x9E3779B97F4A7C15) ^ key->chunk) * UINT64_C(0x9E3779B97F4A7C15);

    return &cache->buckets[hash >> 54];
}

static void use_order_remove(struct cache *cache, struct cached *cached)
{
    *(cached->newer ? &cached->newer->older : &cache->newest) = cached->older;
    *(cached->older ? &cached->older->newer : &cache->oldest) = cached->newer;
}

static void use_order_add(struct cache *cache, struct cached *cached)
{
    cached->newer = NULL;
    cached->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = cached;
    cache->newest = cached;
}

/* Off the lists; freed now, or by its last holder. */
static void unlist(struct cache *cache, struct cached *cached)
{
    struct cached **link = bucket_of(cache, &cached->key);

    while (*link != cached)
        link = &(*link)->next;
    *link = cached->next;
    use_order_remove(cache, cached);
    cache->bytes -= cached->size;
    cached->listed = false;
    if (cached->holders == 0)
        free(cached);
}

void cache_destroy(struct cache *cache)
{
    while (cache->oldest)
        unlist(cache, cache->oldest);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

static struct cached *lookup(struct cache *cache, const struct cache_key *key)
{
    struct cached *cached = *bucket_of(cache, key);

    while (cached && (cached->key.file != key->file || cached->key.chunk != key->chunk))
        cached = cached->next;
    return cached;
}

struct cached *cache_find(struct cache *cache, const struct cache_key *key)
{
    struct cached *cached;

    pthread_mutex_lock(&cache->lock);
    cached = lookup(cache, key);
    if (cached && cached->key.version != key->version)
        cached = NULL;
    if (!cached)
        cache->misses++;
    if (cached) {
        cache->hits++;
        cached->holders++;
        use_order_remove(cache, cached);
        use_order_add(cache, cached);
    }
    pthread_mutex_unlock(&cache->lock);
    return cached;
}

struct cached *cache_new(struct cache *cache, const struct cache_key *key, size_t size)
{
    struct cached *cached = malloc(sizeof(*cached) + size);

    (void)cache;
    if (!cached)
        return NULL;
    *cached = (struct cached){.key = *key, .size = size, .holders = 1};
    return cached;
}

void cache_publish(struct cache *cache, struct cached *cached)
{
    struct cached *before;

    pthread_mutex_lock(&cache->lock);
    before = lookup(cache, &cached->key);
    if (before)
        unlist(cache, before);
    if (cached->size <= cache->limit_bytes) {
        struct cached **bucket = bucket_of(cache, &cached->key);

        while (cache->bytes + cached->size > cache->limit_bytes)
            unlist(cache, cache->oldest);
        cached->next = *bucket;
        *bucket = cached;
        use_order_add(cache, cached);
        cache->bytes += cached->size;
        cached->listed = true;
    }
    pthread_mutex_unlock(&cache->lock);
}

void cache_release(struct cache *cache, struct cached *cached)
{
    bool last;

    pthread_mutex_lock(&cache->lock);
    last = --cached->holders == 0 && !cached->listed;
    pthread_mutex_unlock(&cache->lock);
    if (last)
        free(cached);
}

struct cache_usage cache_usage(struct cache *cache)
{
    struct cache_usage usage;

    pthread_mutex_lock(&cache->lock);
    usage = (struct cache_usage){.hits = cache->hits, .misses = cache->misses, .bytes = cache->bytes};
    pthread_mutex_unlock(&cache->lock);
    return usage;
}

uint8_t *cached_data(struct cached *cached)
{
    return cached->data;
}
