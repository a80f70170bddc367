/*
 * What a thread needs while it compresses or decompresses: buffers and codec contexts, reused from call to call. A pool
 * holds those that nobody uses.
 */
#ifndef TALLY_STORE_SCRATCH_H
#define TALLY_STORE_SCRATCH_H

#include <pthread.h>
#include <stdint.h>

#include "tally/codec.h"
#include "tally/format.h"

#define SCRATCH_COMPRESSORS 4

/* Kept while nobody uses them; hundreds of readers at once leave no more behind. */
#define SCRATCH_IDLE_MAX 16

struct scratch {
    struct scratch *next;
    uint8_t *frame; /* a header and the largest payload, with padding */
    uint8_t *chunk; /* FORMAT_CHUNK_MAX bytes */
    struct {
        struct tally_codec_choice choice;
        void *context;
    } compressors[SCRATCH_COMPRESSORS]; /* filled from 0; the last is the one replaced */
    void *decompressors[TALLY_CODEC_GZIP + 1]; /* by id; NULL where there is none yet */
    uint8_t decompressor_made[TALLY_CODEC_GZIP + 1];
};

struct scratch_pool {
    pthread_mutex_t lock;
    struct scratch *free;
    unsigned free_count;
};

void scratch_pool_init(struct scratch_pool *pool);
void scratch_pool_destroy(struct scratch_pool *pool);

/* A scratch for the caller alone, or NULL without memory. Give it back. */
struct scratch *scratch_get(struct scratch_pool *pool);
void scratch_put(struct scratch_pool *pool, struct scratch *scratch);

/* As tally_codec.compress, with a context that is kept. Also -ENOMEM. */
ssize_t scratch_compress(struct scratch *scratch, const struct tally_codec_choice *choice, const void *raw,
                         size_t raw_bytes, void *out, size_t out_capacity);

/* As tally_codec.decompress for the codec with this id. Also -ENOMEM; -EIO for an unknown codec. */
int scratch_decompress(struct scratch *scratch, unsigned codec, const void *in, size_t in_bytes, void *raw,
                       size_t raw_bytes);

#endif
