/*
 * Memory for many objects of one size that come and go by the million. Blocks in which none is left go back to the
 * kernel at once; malloc(3) keeps what is free between, and at the end of, what its threads have.
 */
#ifndef TALLY_UTIL_SLAB_H
#define TALLY_UTIL_SLAB_H

#include <pthread.h>
#include <stddef.h>

struct slab_block;

struct slab {
    pthread_mutex_t lock; /* held around no other lock */
    size_t object_bytes;
    struct slab_block *partial; /* blocks with some objects free */
    struct slab_block *empty;   /* at most one, kept for the next */
    char *fresh, *fresh_end;    /* address space for blocks to come */
};

/* `object_bytes`: at most SLAB_OBJECT_MAX; objects are aligned to 16. */
#define SLAB_OBJECT_MAX 4096
void slab_init(struct slab *slab, size_t object_bytes);

/* All objects must have been freed. */
void slab_destroy(struct slab *slab);

/* NULL without memory. The contents are undefined. Thread-safe. */
void *slab_alloc(struct slab *slab);
void slab_free(struct slab *slab, void *object);

#endif
