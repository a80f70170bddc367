#include "util/slab.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/*
 * Small enough that one object that stays does not hold much, since the kernel forgets inodes in the order in which
 * they were used, not quite that in which they were made.
 */
#define BLOCK_BYTES ((size_t)16 << 10)
/* Address space taken at a time, so that the mappings of neighbours are one. */
#define REGION_BYTES ((size_t)1 << 20)
#define ALIGNMENT 16

/* Sanitizers see only objects of malloc's. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define USE_MALLOC 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define USE_MALLOC 1
#endif
#endif
#ifndef USE_MALLOC
#define USE_MALLOC 0
#endif

struct object {
    struct object *next;
};

/* At the beginning of its memory, which is aligned to its size. */
struct slab_block {
    struct slab_block *next, *previous; /* in the list of partial ones */
    struct object *free;
    unsigned used;
    unsigned touched; /* objects from here on were never used */
};

#define HEADER_BYTES ((sizeof(struct slab_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

_Static_assert(HEADER_BYTES + 2 * SLAB_OBJECT_MAX <= BLOCK_BYTES, "a block is for several");

static unsigned capacity(const struct slab *slab)
{
    return (unsigned)((BLOCK_BYTES - HEADER_BYTES) / slab->object_bytes);
}

static struct slab_block *block_of(void *object)
{
    return (struct slab_block *)((uintptr_t)object & ~(uintptr_t)(BLOCK_BYTES - 1));
}

static void list_add(struct slab *slab, struct slab_block *block)
{
    block->previous = NULL;
    block->next = slab->partial;
    if (block->next)
        block->next->previous = block;
    slab->partial = block;
}

static void list_remove(struct slab *slab, struct slab_block *block)
{
    if (block->previous)
        block->previous->next = block->next;
    else
        slab->partial = block->next;
    if (block->next)
        block->next->previous = block->previous;
}

void slab_init(struct slab *slab, size_t object_bytes)
{
    assert(object_bytes <= SLAB_OBJECT_MAX);
    *slab = (struct slab){.object_bytes = (object_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT};
    pthread_mutex_init(&slab->lock, NULL);
}

void slab_destroy(struct slab *slab)
{
    if (slab->empty)
        munmap(slab->empty, BLOCK_BYTES);
    if (slab->fresh < slab->fresh_end)
        munmap(slab->fresh, (size_t)(slab->fresh_end - slab->fresh));
    pthread_mutex_destroy(&slab->lock);
}

/* More address space, aligned to blocks; its pages cost nothing until they are used. */
static char *map_region(struct slab *slab)
{
    char *mapped = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;

    if (mapped == MAP_FAILED)
        return NULL;
    before = -(uintptr_t)mapped & (BLOCK_BYTES - 1);
    slab->fresh_end = mapped + REGION_BYTES;
    slab->fresh = mapped + before;
    if (before > 0) {
        munmap(mapped, before);
        slab->fresh_end -= BLOCK_BYTES - before;
        munmap(slab->fresh_end, BLOCK_BYTES - before);
    }
    return slab->fresh;
}

/* A block with nothing used in it, in the list. */
static struct slab_block *block_create(struct slab *slab)
{
    struct slab_block *block = slab->empty;

    if (block) {
        slab->empty = NULL;
    } else {
        if (slab->fresh == slab->fresh_end && !map_region(slab))
            return NULL;
        block = (struct slab_block *)slab->fresh;
        slab->fresh += BLOCK_BYTES;
        *block = (struct slab_block){.free = NULL};
    }
    list_add(slab, block);
    return block;
}

static void *block_take(const struct slab *slab, struct slab_block *block)
{
    struct object *object = block->free;

    block->used++;
    if (!object)
        return (char *)block + HEADER_BYTES + slab->object_bytes * block->touched++;
    block->free = object->next;
    return object;
}

void *slab_alloc(struct slab *slab)
{
    struct slab_block *block;
    void *object = NULL;

    if (USE_MALLOC)
        return malloc(slab->object_bytes);
    pthread_mutex_lock(&slab->lock);
    block = slab->partial ? slab->partial : block_create(slab);
    if (block) {
        object = block_take(slab, block);
        if (block->used == capacity(slab))
            list_remove(slab, block);
    }
    pthread_mutex_unlock(&slab->lock);
    return object;
}

/* The kernel may refuse to split a mapping once more: then the block stays usable. */
static void block_release(struct slab *slab, struct slab_block *block)
{
    list_remove(slab, block);
    if (!slab->empty)
        slab->empty = block;
    else if (munmap(block, BLOCK_BYTES) < 0)
        list_add(slab, block);
}

void slab_free(struct slab *slab, void *freed)
{
    struct slab_block *block = block_of(freed);
    struct object *object = freed;

    if (USE_MALLOC) {
        free(freed);
        return;
    }
    pthread_mutex_lock(&slab->lock);
    object->next = block->free;
    block->free = object;
    if (block->used-- == capacity(slab))
        list_add(slab, block);
    if (block->used == 0)
        block_release(slab, block);
    pthread_mutex_unlock(&slab->lock);
}
