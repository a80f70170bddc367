#include "store/scratch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

void scratch_pool_init(struct scratch_pool *pool)
{
    pthread_mutex_init(&pool->lock, NULL);
    pool->free = NULL;
    pool->free_count = 0;
}

static void scratch_free(struct scratch *scratch)
{
    for (size_t i = 0; i < SCRATCH_COMPRESSORS && scratch->compressors[i].choice.codec; i++)
        scratch->compressors[i].choice.codec->compressor_destroy(scratch->compressors[i].context);
    for (unsigned id = 0; id <= TALLY_CODEC_GZIP; id++)
        if (scratch->decompressor_made[id])
            tally_codec_by_id(id)->decompressor_destroy(scratch->decompressors[id]);
    free(scratch->frame);
    free(scratch->chunk);
    free(scratch);
}

void scratch_pool_destroy(struct scratch_pool *pool)
{
    while (pool->free) {
        struct scratch *scratch = pool->free;

        pool->free = scratch->next;
        scratch_free(scratch);
    }
    pthread_mutex_destroy(&pool->lock);
}

static struct scratch *scratch_new(void)
{
    struct scratch *scratch = calloc(1, sizeof(*scratch));

    if (!scratch)
        return NULL;
    scratch->frame = malloc(format_frame_bytes(FORMAT_PAYLOAD_MAX));
    scratch->chunk = malloc(FORMAT_CHUNK_MAX);
    if (!scratch->frame || !scratch->chunk) {
        scratch_free(scratch);
        return NULL;
    }
    return scratch;
}

struct scratch *scratch_get(struct scratch_pool *pool)
{
    struct scratch *scratch;

    pthread_mutex_lock(&pool->lock);
    scratch = pool->free;
    if (scratch) {
        pool->free = scratch->next;
        pool->free_count--;
    }
    pthread_mutex_unlock(&pool->lock);
    return scratch ? scratch : scratch_new();
}

void scratch_put(struct scratch_pool *pool, struct scratch *scratch)
{
    bool kept;

    pthread_mutex_lock(&pool->lock);
    kept = pool->free_count < SCRATCH_IDLE_MAX;
    if (kept) {
        scratch->next = pool->free;
        pool->free = scratch;
        pool->free_count++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!kept)
        scratch_free(scratch);
}

static int compressor_for(struct scratch *scratch, const struct tally_codec_choice *choice, void **ret_context)
{
    size_t i;
    void *context;
    int r;

    for (i = 0; i < SCRATCH_COMPRESSORS && scratch->compressors[i].choice.codec; i++) {
        if (scratch->compressors[i].choice.codec == choice->codec &&
            scratch->compressors[i].choice.level == choice->level) {
            *ret_context = scratch->compressors[i].context;
            return 0;
        }
    }
    r = choice->codec->compressor_create(choice->level, &context);
    if (r < 0)
        return r;
    if (i == SCRATCH_COMPRESSORS) {
        i--;
        scratch->compressors[i].choice.codec->compressor_destroy(scratch->compressors[i].context);
    }
    scratch->compressors[i].choice = *choice;
    scratch->compressors[i].context = context;
    *ret_context = context;
    return 0;
}

ssize_t scratch_compress(struct scratch *scratch, const struct tally_codec_choice *choice, const void *raw,
                         size_t raw_bytes, void *out, size_t out_capacity)
{
    void *context;
    int r = compressor_for(scratch, choice, &context);

    return r < 0 ? r : choice->codec->compress(context, raw, raw_bytes, out, out_capacity);
}

int scratch_decompress(struct scratch *scratch, unsigned id, const void *in, size_t in_bytes, void *raw,
                       size_t raw_bytes)
{
    const struct tally_codec *codec = tally_codec_by_id(id);

    if (!codec)
        return -EIO;
    if (!scratch->decompressor_made[id]) {
        int r = codec->decompressor_create(&scratch->decompressors[id]);

        if (r < 0)
            return r;
        scratch->decompressor_made[id] = 1;
    }
    return codec->decompress(scratch->decompressors[id], in, in_bytes, raw, raw_bytes);
}
