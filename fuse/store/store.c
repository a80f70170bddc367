#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "store/boot.h"
#include "store/internal.h"
#include "util/cleanup.h"

#define DEAD_FREE_BYTES (UINT64_C(1) << 20)

/* So that a crash does not cost a walk over all of a file. */
#define CHECKPOINT_BYTES (UINT64_C(64) << 20)

static int hexadecimal_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * 32 hexadecimal digits with dashes between. Where it cannot be read it stays zero: then every boot looks the same, and
 * a torn frame under an index is reported as damage instead of being replaced by what was there before.
 */
void boot_id_read(uint8_t ret_id[static 16])
{
    AUTO_CLOSE int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    char text[64] = "";
    size_t digits = 0;

    memset(ret_id, 0, 16);
    if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
        return;
    for (const char *at = text; *at && digits < 32; at++) {
        int digit = hexadecimal_digit(*at);

        if (digit < 0)
            continue;
        ret_id[digits / 2] = (uint8_t)((unsigned)ret_id[digits / 2] << 4 | (unsigned)digit);
        digits++;
    }
}

static bool config_is_sound(const struct store_config *config)
{
    return config->chunk_bytes >= FORMAT_CHUNK_MIN && config->chunk_bytes <= FORMAT_CHUNK_MAX &&
           (config->chunk_bytes & (config->chunk_bytes - 1)) == 0;
}

static void init_conditions(struct store *store)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&store->work, NULL);
    pthread_cond_init(&store->shared, NULL);
    pthread_cond_init(&store->room, NULL);
    pthread_cond_init(&store->reclaim, NULL);
    pthread_cond_init(&store->watch, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static void store_free(struct store *store)
{
    while (store->spares) {
        struct spare *spare = store->spares;

        store->spares = spare->next;
        free(spare);
    }
    cache_destroy(store->cache);
    scratch_pool_destroy(&store->scratches);
    pthread_cond_destroy(&store->work);
    pthread_cond_destroy(&store->shared);
    pthread_cond_destroy(&store->room);
    pthread_cond_destroy(&store->reclaim);
    pthread_cond_destroy(&store->watch);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

int store_create(const struct store_config *config, struct store **ret_store)
{
    struct store *store;
    int r;

    if (!config_is_sound(config))
        return -EINVAL;
    store = calloc(1, sizeof(*store));
    if (!store)
        return -ENOMEM;
    store->cache = cache_create(config->cache_limit_bytes);
    if (!store->cache) {
        free(store);
        return -ENOMEM;
    }
    store->config = *config;
    boot_id_read(store->boot_id);
    store->dead_free_bytes = DEAD_FREE_BYTES;
    store->checkpoint_bytes = CHECKPOINT_BYTES;
    scratch_pool_init(&store->scratches);
    pthread_mutex_init(&store->lock, NULL);
    init_conditions(store);
    r = workers_start(store);
    if (r < 0) {
        store_free(store);
        return r;
    }
    *ret_store = store;
    return 0;
}

void store_destroy(struct store *store)
{
    workers_stop(store);
    store_free(store);
}

void store_usage(struct store *store, struct store_usage *ret_usage)
{
    struct cache_usage cache = cache_usage(store->cache);

    *ret_usage = (struct store_usage){
        .cache_hits = cache.hits,
        .cache_misses = cache.misses,
        .cache_bytes = cache.bytes,
    };
    pthread_mutex_lock(&store->lock);
    ret_usage->buffered_bytes = store->dirty_bytes;
    pthread_mutex_unlock(&store->lock);
}

int store_drain(struct store *store, struct split *split)
{
    int first = 0;

    pthread_mutex_lock(&store->lock);
    for (struct store_file *file = store->files; file; file = file->next) {
        file->pins++;
        pthread_mutex_unlock(&store->lock);

        content_lock_shared(file, split);
        buffer_drain(file, split);
        pthread_mutex_lock(&file->lock);
        if (first == 0)
            first = file->error; /* which the file's own program gets too */
        pthread_mutex_unlock(&file->lock);
        content_unlock(file);

        pthread_mutex_lock(&store->lock);
        if (--file->pins == 0)
            pthread_cond_broadcast(&store->room);
    }
    pthread_mutex_unlock(&store->lock);
    return first;
}
