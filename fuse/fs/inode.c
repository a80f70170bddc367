#include "fs/inode.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "fs/inode_table.h"
#include "fs/location.h"
#include "util/cleanup.h"

#define BUCKETS_MIN 16
#define BUCKETS_MAPPED_BYTES ((size_t)16 << 10)

/* Mixes all bits of the key into all bits of the hash (the finalizer of MurmurHash3). */
static uint64_t hash_key(dev_t device, ino_t ino)
{
    uint64_t hash = (uint64_t)ino ^ ((uint64_t)device << 32 | (uint64_t)device >> 32);

    hash ^= hash >> 33;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 33;
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    hash ^= hash >> 33;
    return hash;
}

static struct shard *shard_of(struct inode_table *table, uint64_t hash)
{
    return &table->shards[hash % INODE_SHARDS];
}

static struct node **bucket_of(const struct shard *shard, uint64_t hash)
{
    return &shard->buckets[hash / INODE_SHARDS & (shard->bucket_count - 1)];
}

/* Large ones apart from malloc's memory, which would keep most of what a million nodes needed. */
static struct node **buckets_create(size_t count)
{
    size_t bytes = count * sizeof(struct node *);
    void *mapped;

    if (bytes < BUCKETS_MAPPED_BYTES)
        return calloc(1, bytes);
    mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static void buckets_free(struct node **buckets, size_t count)
{
    size_t bytes = count * sizeof(struct node *);

    if (bytes < BUCKETS_MAPPED_BYTES)
        free(buckets);
    else
        munmap(buckets, bytes);
}

/* Follows the number of nodes, also down; without memory the table stays as it is and works, slower. */
static void shard_resize(struct shard *shard)
{
    struct shard grown = {.bucket_count = shard->bucket_count};

    if (shard->node_count > shard->bucket_count)
        grown.bucket_count *= 2;
    else if (shard->node_count < shard->bucket_count / 8 && shard->bucket_count > BUCKETS_MIN)
        grown.bucket_count /= 2;
    else
        return;
    grown.buckets = buckets_create(grown.bucket_count);
    if (!grown.buckets)
        return;
    for (size_t i = 0; i < shard->bucket_count; i++) {
        for (struct node *node = shard->buckets[i], *next; node; node = next) {
            struct node **bucket = bucket_of(&grown, hash_key(node->device->number, node->ino));

            next = node->next;
            node->next = *bucket;
            *bucket = node;
        }
    }
    buckets_free(shard->buckets, shard->bucket_count);
    shard->buckets = grown.buckets;
    shard->bucket_count = grown.bucket_count;
}

/* An open descriptor of the node keeps its number from being used again, so that the number alone proves identity. */
static bool holds_descriptor(struct node *node)
{
    bool holds;

    pthread_mutex_lock(&node->lock);
    holds = node->descriptor >= 0;
    pthread_mutex_unlock(&node->lock);
    return holds;
}

static struct node *find(const struct shard *shard, uint64_t hash, const struct device *device, ino_t ino,
                         const struct file_handle_bytes *handle)
{
    for (struct node *node = *bucket_of(shard, hash); node; node = node->next) {
        if (node->device != device || node->ino != ino)
            continue;
        if (handle ? fhandle_equal(&node->handle, handle) : holds_descriptor(node))
            return node;
    }
    return NULL;
}

static struct node *node_create(struct inode_table *table, struct device *device, const struct stat *attributes,
                                const struct file_handle_bytes *handle)
{
    size_t handle_size = handle ? handle->size : 0;
    struct node *node =
        handle_size > NODE_HANDLE_BYTES ? malloc(sizeof(*node) + handle_size) : slab_alloc(&table->nodes);

    if (!node)
        return NULL;
    *node = (struct node){
        .generation = atomic_fetch_add_explicit(&table->generation, 1, memory_order_relaxed),
        .device = device,
        .ino = attributes->st_ino,
        .type = attributes->st_mode & S_IFMT,
        .descriptor = -1,
    };
    node->content.mtime_ns = node->content.written_ns = TIME_UNSET;
    pthread_mutex_init(&node->lock, NULL);
    pthread_mutex_init(&node->content_lock, NULL);
    if (handle)
        memcpy(&node->handle, handle, sizeof(*handle) + handle_size);
    return node;
}

void node_free(struct inode_table *table, struct node *node)
{
    location_drop(table, node);
    descriptor_drop(table, node);
    pthread_mutex_destroy(&node->content_lock);
    pthread_mutex_destroy(&node->lock);
    if (node->handle.size > NODE_HANDLE_BYTES)
        free(node);
    else
        slab_free(&table->nodes, node);
}

/*
 * The node of this identity with one lookup more; NULL when it is not there and not to be made, or without memory.
 * It is made when there is a handle or, for a node that keeps a descriptor, *path to keep.
 */
static struct node *find_or_create(struct inode_table *table, struct device *device, const struct stat *attributes,
                                   const struct file_handle_bytes *handle, int *path)
{
    uint64_t hash = hash_key(device->number, attributes->st_ino);
    struct shard *shard = shard_of(table, hash);
    struct node *node;

    pthread_mutex_lock(&shard->lock);
    node = find(shard, hash, device, attributes->st_ino, handle);
    if (!node && (handle || path))
        node = node_create(table, device, attributes, handle);
    if (node && node->lookups == 0) {
        struct node **bucket;

        if (path)
            descriptor_give(table, node, path);
        shard->node_count++;
        shard_resize(shard);
        bucket = bucket_of(shard, hash);
        node->next = *bucket;
        *bucket = node;
    }
    if (node)
        node->lookups++;
    pthread_mutex_unlock(&shard->lock);
    return node;
}

/* For a device whose handles cannot be opened, or that has none. */
static struct node *acquire_keeping(struct inode_table *table, struct split *split, int fd, struct device *device,
                                    const struct stat *attributes, const struct file_handle_bytes *handle)
{
    AUTO_CLOSE int path = inode_reopen(table, split, fd, O_PATH);

    if (path < 0) {
        errno = -path;
        return NULL;
    }
    errno = ENOMEM;
    return find_or_create(table, device, attributes, handle, &path);
}

/* The node of something that no node with an open descriptor is. */
static struct node *acquire_by_handle(struct inode_table *table, struct split *split, int *fd, bool is_path,
                                      struct device *device, const struct stat *attributes)
{
    union handle_buffer buffer;
    const struct file_handle_bytes *handle = NULL;

    if (device->has_handles && fhandle_get(split, *fd, &buffer) == 0)
        handle = &buffer.handle;
    errno = ENOMEM;
    if (handle && device->mount >= 0)
        return find_or_create(table, device, attributes, handle, NULL);
    if (is_path)
        return find_or_create(table, device, attributes, handle, fd);
    return acquire_keeping(table, split, *fd, device, attributes, handle);
}

int inode_acquire(struct inode_table *table, struct split *split, int *fd, bool is_path,
                  const struct stat *attributes, struct node *parent, const char *name, struct node **ret_node)
{
    struct device *device;
    struct node *node;
    int r = device_find(table, split, *fd, attributes, &device);

    if (r < 0)
        return r;
    node = find_or_create(table, device, attributes, NULL, NULL);
    if (!node)
        node = acquire_by_handle(table, split, fd, is_path, device, attributes);
    if (!node)
        return -errno;
    if (name && device->mount < 0 && node->handle.size > 0)
        location_set(table, node, parent, name);
    if (is_path && *fd >= 0) {
        pthread_mutex_lock(&node->lock);
        if (node->descriptor < 0)
            descriptor_give(table, node, fd);
        pthread_mutex_unlock(&node->lock);
    }
    *ret_node = node;
    return 0;
}

static struct node *find_generation(struct inode_table *table, const struct device *device, ino_t ino,
                                    uint64_t generation)
{
    uint64_t hash = hash_key(device->number, ino);
    struct shard *shard = shard_of(table, hash);
    struct node *node;

    pthread_mutex_lock(&shard->lock);
    node = *bucket_of(shard, hash);
    while (node && (node->device != device || node->ino != ino || node->generation != generation))
        node = node->next;
    if (node)
        node->lookups++;
    pthread_mutex_unlock(&shard->lock);
    return node;
}

struct node *inode_find(struct inode_table *table, uint64_t number, uint64_t generation)
{
    struct device *device = atomic_load_explicit(&table->devices, memory_order_acquire);
    struct node *node = NULL;

    for (; device && !node; device = device->next)
        node = find_generation(table, device, inode_number(device, number), generation);
    return node;
}

void inode_hold(struct inode_table *table, struct node *node)
{
    struct shard *shard = shard_of(table, hash_key(node->device->number, node->ino));

    pthread_mutex_lock(&shard->lock);
    node->lookups++;
    pthread_mutex_unlock(&shard->lock);
}

static void shard_remove(struct shard *shard, uint64_t hash, struct node *node)
{
    struct node **link = bucket_of(shard, hash);

    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    shard->node_count--;
    shard_resize(shard);
}

void inode_forget(struct inode_table *table, struct node *node, uint64_t lookups)
{
    uint64_t hash = hash_key(node->device->number, node->ino);
    struct shard *shard = shard_of(table, hash);
    bool free_it = false;

    if (node == table->root)
        return;
    pthread_mutex_lock(&shard->lock);
    node->lookups -= lookups < node->lookups ? lookups : node->lookups;
    if (node->lookups == 0) {
        shard_remove(shard, hash, node);
        pthread_mutex_lock(&node->lock);
        node->forgotten = true;
        free_it = node->pins == 0;
        pthread_mutex_unlock(&node->lock);
    }
    pthread_mutex_unlock(&shard->lock);
    if (free_it)
        node_free(table, node);
}

/* The root is never forgotten and never pinned in vain: its pin keeps its descriptor open. */
static int acquire_root(struct inode_table *table, int root, const struct stat *attributes)
{
    struct pin pin;
    int r = inode_acquire(table, NULL, &root, false, attributes, NULL, NULL, &table->root);

    return r < 0 ? r : inode_pin(table, NULL, table->root, &pin);
}

int inode_table_create(int root, unsigned budget, struct inode_table **ret_table, struct node **ret_root)
{
    struct inode_table *table = aligned_alloc(_Alignof(struct inode_table), sizeof(*table));
    struct stat attributes;
    bool complete = true;
    int r;

    if (!table)
        return -ENOMEM;
    memset(table, 0, sizeof(*table));
    slab_init(&table->nodes, sizeof(struct node) + NODE_HANDLE_BYTES);
    table->ring.budget = budget;
    pthread_mutex_init(&table->ring.lock, NULL);
    pthread_mutex_init(&table->device_lock, NULL);
    pthread_mutex_init(&table->location_lock, NULL);
    for (size_t i = 0; i < INODE_SHARDS; i++) {
        struct shard *shard = &table->shards[i];

        pthread_mutex_init(&shard->lock, NULL);
        shard->bucket_count = BUCKETS_MIN;
        shard->buckets = buckets_create(BUCKETS_MIN);
        complete = complete && shard->buckets;
    }
    r = complete ? 0 : -ENOMEM;
    if (r == 0)
        r = LOWER(NULL, fstat(root, &attributes));
    if (r == 0)
        r = acquire_root(table, root, &attributes);
    if (r < 0) {
        inode_table_destroy(table);
        return r;
    }
    *ret_table = table;
    *ret_root = table->root;
    return 0;
}

struct inode_usage inode_usage(struct inode_table *table)
{
    struct inode_usage usage = {0};

    for (size_t i = 0; i < INODE_SHARDS; i++) {
        struct shard *shard = &table->shards[i];

        pthread_mutex_lock(&shard->lock);
        usage.nodes += shard->node_count;
        usage.bytes += shard->bucket_count * sizeof(struct node *);
        pthread_mutex_unlock(&shard->lock);
    }
    usage.bytes += usage.nodes * (sizeof(struct node) + NODE_HANDLE_BYTES);
    pthread_mutex_lock(&table->ring.lock);
    usage.descriptors = table->ring.count;
    pthread_mutex_unlock(&table->ring.lock);
    return usage;
}

void inode_for_each(struct inode_table *table, void (*visit)(void *user, struct node *node), void *user)
{
    for (size_t i = 0; i < INODE_SHARDS; i++) {
        struct shard *shard = &table->shards[i];

        for (size_t j = 0; shard->buckets && j < shard->bucket_count; j++) {
            for (struct node *node = shard->buckets[j], *next; node; node = next) {
                next = node->next;
                visit(user, node);
            }
        }
    }
}

/* All go, so that none has to be given back to its parent. */
static void free_visited(void *table, struct node *node)
{
    free(node->location);
    node->location = NULL;
    node_free(table, node);
}

void inode_table_destroy(struct inode_table *table)
{
    inode_for_each(table, free_visited, table);
    for (size_t i = 0; i < INODE_SHARDS; i++) {
        buckets_free(table->shards[i].buckets, table->shards[i].bucket_count);
        pthread_mutex_destroy(&table->shards[i].lock);
    }
    slab_destroy(&table->nodes);
    device_free_all(table);
    pthread_mutex_destroy(&table->device_lock);
    pthread_mutex_destroy(&table->location_lock);
    pthread_mutex_destroy(&table->ring.lock);
    free(table);
}
