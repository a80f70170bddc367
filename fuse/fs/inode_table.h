/* The inside of the inode table, for inode.c, device.c and descriptor.c. */
#ifndef TALLY_FS_INODE_TABLE_H
#define TALLY_FS_INODE_TABLE_H

#include "fs/inode.h"
#include "util/slab.h"

#define INODE_SHARDS 64

/* Handles up to this size have room in the nodes of the slab: those of ext4 (8), XFS (12) and Btrfs (20). */
#define NODE_HANDLE_BYTES 24

struct shard {
    pthread_mutex_t lock;
    struct node **buckets;
    size_t bucket_count; /* a power of two */
    size_t node_count;
} __attribute__((aligned(64)));

/* Cached descriptors, oldest first. */
struct descriptor_ring {
    pthread_mutex_t lock;
    struct node *oldest, *newest;
    unsigned count;
    unsigned budget;
};

struct inode_table {
    struct shard shards[INODE_SHARDS];
    struct slab nodes;
    struct descriptor_ring ring;
    pthread_mutex_t location_lock; /* of all nodes' */
    pthread_mutex_t device_lock;
    _Atomic(struct device *) devices; /* only grows while mounted */
    _Atomic uint64_t generation;
    struct node *root;
};

/* The device of what `fd` has open, registered when it is new. 0 or -errno. */
int device_find(struct inode_table *table, struct split *split, int fd, const struct stat *attributes,
                struct device **ret_device);
void device_free_all(struct inode_table *table);

/* Gives a node without a descriptor the O_PATH one in *fd, which is then -1. Called with node->lock held. */
void descriptor_give(struct inode_table *table, struct node *node, int *fd);

/* Closes a node's descriptor, cached or kept; nobody else has the node any more. */
void descriptor_drop(struct inode_table *table, struct node *node);

/* inode_pin of a directory `depth` steps above what was asked for. */
int inode_pin_above(struct inode_table *table, struct split *split, struct node *node, unsigned depth,
                    struct pin *ret_pin);

/* Frees a node that nobody has any more. */
void node_free(struct inode_table *table, struct node *node);

#endif
