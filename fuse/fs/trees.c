#include "fs/trees.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024u
#define ROOT 1

/* Never changes once it can be found. */
struct tree {
    struct tree *next; /* in its bucket */
    const struct tree *parent;
    uint16_t number;
    char name[];
};

struct trees {
    unsigned depth;
    pthread_mutex_t lock; /* of adding */
    unsigned count;
    _Atomic(struct tree *) buckets[BUCKETS];
    _Atomic(struct tree *) by_number[TREES_MAX];
};

/* FNV-1a over the name, begun with the parent's number (G. Fowler, L. C. Noll, K.-P. Vo). */
static unsigned hash_name(unsigned parent, const char *name)
{
    uint32_t hash = 2166136261u ^ parent;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (hash ^ hash >> 16) % BUCKETS;
}

static struct tree *find(struct trees *trees, unsigned bucket, unsigned parent, const char *name)
{
    struct tree *tree = atomic_load_explicit(&trees->buckets[bucket], memory_order_acquire);

    while (tree && (tree->parent->number != parent || strcmp(tree->name, name) != 0))
        tree = tree->next;
    return tree;
}

static struct tree *add(struct trees *trees, unsigned bucket, const struct tree *parent, const char *name)
{
    struct tree *tree = trees->count < TREES_MAX ? malloc(sizeof(*tree) + strlen(name) + 1) : NULL;

    if (!tree)
        return NULL;
    tree->next = atomic_load_explicit(&trees->buckets[bucket], memory_order_relaxed);
    tree->parent = parent;
    tree->number = (uint16_t)trees->count++;
    strcpy(tree->name, name);
    atomic_store_explicit(&trees->by_number[tree->number], tree, memory_order_release);
    /* The root is in no directory. */
    if (parent)
        atomic_store_explicit(&trees->buckets[bucket], tree, memory_order_release);
    return tree;
}

struct trees *trees_create(unsigned depth)
{
    struct trees *trees = calloc(1, sizeof(*trees));

    if (!trees)
        return NULL;
    trees->depth = depth;
    trees->count = ROOT;
    pthread_mutex_init(&trees->lock, NULL);
    if (!add(trees, 0, NULL, ".")) {
        trees_destroy(trees);
        return NULL;
    }
    return trees;
}

void trees_destroy(struct trees *trees)
{
    for (unsigned i = ROOT; i < trees->count; i++)
        free(trees->by_number[i]);
    pthread_mutex_destroy(&trees->lock);
    free(trees);
}

struct tree_place trees_root(void)
{
    return (struct tree_place){.tree = ROOT, .depth = 0};
}

static struct tree *find_or_add(struct trees *trees, unsigned parent, const char *name)
{
    unsigned bucket = hash_name(parent, name);
    struct tree *tree = find(trees, bucket, parent, name);

    if (tree)
        return tree;
    pthread_mutex_lock(&trees->lock);
    tree = find(trees, bucket, parent, name);
    if (!tree)
        tree = add(trees, bucket, atomic_load_explicit(&trees->by_number[parent], memory_order_acquire), name);
    pthread_mutex_unlock(&trees->lock);
    return tree;
}

struct tree_place trees_below(struct trees *trees, struct tree_place parent, const char *name, bool is_directory)
{
    struct tree_place place = {.tree = parent.tree, .depth = (uint16_t)(parent.depth + 1)};
    const struct tree *tree;

    if (parent.tree == 0)
        return parent;
    if (place.depth > TREES_DEPTH_MAX)
        place.depth = TREES_DEPTH_MAX + 1;
    if (!is_directory || place.depth > trees->depth)
        return place;
    tree = find_or_add(trees, parent.tree, name);
    if (tree)
        place.tree = tree->number;
    return place;
}

static void put_path(const struct tree *tree, struct strbuf *path)
{
    if (tree->parent->parent) {
        put_path(tree->parent, path);
        strbuf_puts(path, "/");
    }
    strbuf_puts(path, tree->name);
}

void trees_path(struct trees *trees, unsigned number, struct strbuf *path)
{
    const struct tree *tree =
        number < TREES_MAX ? atomic_load_explicit(&trees->by_number[number], memory_order_acquire) : NULL;

    if (!tree)
        strbuf_puts(path, "?");
    else if (!tree->parent)
        strbuf_puts(path, tree->name);
    else
        put_path(tree, path);
}
