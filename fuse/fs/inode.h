/*
 * The inode table: one node for each inode that the kernel knows, found by identity, with exact lookup counts.
 *
 * A node is known by (device, inode number) and its file handle, which holds the generation, so that an inode number
 * that the lower file system uses again is another node. Where the file system has no handles, a node keeps an O_PATH
 * descriptor instead, which keeps the number from being used again.
 *
 * With handles, descriptors are a cache under a budget: opened on demand and closed oldest first. A daemon that may not
 * open handles opens by name and compares (location.h).
 *
 * Lock order: a node's content_lock, locations, shard, a node's lock, device list or descriptor ring.
 */
#ifndef TALLY_FS_INODE_H
#define TALLY_FS_INODE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "fs/handle.h"
#include "fs/node_ops.h"
#include "fs/trees.h"
#include "util/split.h"

struct backend;
struct inode_table;
struct location;
struct lock_owner;

/* A file system below LOWER: LOWER's own, a mount or a Btrfs subvolume. */
struct device {
    struct device *next;
    dev_t number;
    unsigned index; /* 0 is LOWER's own */
    bool has_handles;
    int mount; /* descriptor for opening by handle; -1 where that is not allowed or there are none */
};

/* What a file keeps its bytes in. */
enum content_kind {
    CONTENT_UNKNOWN,
    CONTENT_PLAIN,     /* the lower file's bytes are the program's */
    CONTENT_CONTAINER, /* they are a log of frames */
};

/* What is known of a regular file's bytes, and what all its opens share. */
struct node_content {
    struct backend *shared; /* the store file; NULL while nobody has it open */
    unsigned shared_users;
    bool shared_read_only;
    unsigned raw_users; /* opens of the plain file: it stays plain while there are any */

    enum content_kind kind; /* while nobody has it open, and the lower file is as it was: */
    off_t size;
    struct timespec mtime, ctime;
    off_t logical_size; /* of a container */

    /* The store writes later than programs do. What they must see meanwhile, in ns since 1970; TIME_UNSET: nothing. */
    _Atomic int64_t mtime_ns;
    _Atomic int64_t written_ns;

    /* Closing moved the lower file's ctime to the first of these, when programs had seen the second. */
    int64_t ctime_below_ns, ctime_seen_ns;
};

#define TIME_UNSET INT64_MIN

/* The file as it was when the kernel's pages of it were last known to be right. */
struct paged {
    bool known;
    off_t size;
    struct timespec mtime;
};

struct node {
    struct node *next;  /* in its bucket; shard lock */
    uint64_t lookups;   /* that the kernel has; shard lock */
    uint64_t generation;
    struct device *device;
    ino_t ino; /* the lower file system's */
    mode_t type; /* S_IFMT bits */

    pthread_mutex_t lock; /* of the next five */
    int descriptor;       /* O_PATH, or -1 */
    unsigned pins;
    bool recent;    /* used since the clock's hand passed */
    bool forgotten; /* no longer in the table; the last pin frees it */
    struct lock_owner *lock_owners; /* lock.c */

    _Atomic uint32_t policy; /* policy.c */
    _Atomic struct tree_place place; /* as last looked up */
    _Atomic unsigned opens;   /* by programs */
    _Atomic unsigned writers; /* those for writing */
    _Atomic unsigned leaving; /* open files with locks that seem to have been closed */
    _Atomic uint64_t left_ns; /* when the last of them was */

    _Atomic(struct location *) location; /* location.c */
    struct node *older, *newer; /* in the ring of cached descriptors; ring lock */

    pthread_mutex_t content_lock; /* of `content` and `paged` */
    struct node_content content;
    struct paged paged;

    struct node_ops ops; /* but for what is counted in open files */

    struct file_handle_bytes handle; /* last, of variable size; empty where the descriptor is kept */
};

/*
 * `root` is a descriptor of the lower directory opened for reading; it stays the caller's. `budget` is how many
 * descriptors may stay cached. 0 or -errno.
 */
int inode_table_create(int root, unsigned budget, struct inode_table **ret_table, struct node **ret_root);

/* How many nodes there are, the memory they take, and how many descriptors are cached for them. */
struct inode_usage {
    uint64_t nodes;
    uint64_t bytes;
    uint64_t descriptors;
};

struct inode_usage inode_usage(struct inode_table *table);

/* Calls `visit` for every node, without locks: nobody else may use the table. */
void inode_for_each(struct inode_table *table, void (*visit)(void *user, struct node *node), void *user);

/* Closes and frees all, whatever the kernel still counts. */
void inode_table_destroy(struct inode_table *table);

/*
 * The node of what `fd` has open, one lookup more. `is_path`: *fd is an O_PATH descriptor, which the node takes where
 * it can use it; *fd is then -1. `attributes` is fstat's of it. It was found as `name` in `parent`, which are NULL for
 * what has no name. 0 or -errno.
 */
int inode_acquire(struct inode_table *table, struct split *split, int *fd, bool is_path,
                  const struct stat *attributes, struct node *parent, const char *name, struct node **ret_node);

/* The node of this inode_number and generation with one lookup more; NULL when there is none any more. */
struct node *inode_find(struct inode_table *table, uint64_t number, uint64_t generation);

/* One lookup more of a node that has some, so that it stays. Takes its shard's lock. */
void inode_hold(struct inode_table *table, struct node *node);

/* Takes `lookups` from the node's count and lets it go at zero. */
void inode_forget(struct inode_table *table, struct node *node, uint64_t lookups);

/* A node's O_PATH descriptor, open and its node alive until unpinned. */
struct pin {
    struct inode_table *table;
    struct node *node;
    int fd;
};

#define PIN_INIT {NULL, NULL, -1}

int inode_pin(struct inode_table *table, struct split *split, struct node *node, struct pin *ret_pin);
void inode_unpin(struct pin *pin);

#define AUTO_UNPIN __attribute__((cleanup(inode_unpin)))

/* st_ino as programs see it: unique over all devices below LOWER. It is its own inverse. */
uint64_t inode_number(const struct device *device, uint64_t ino);

/*
 * openat(2) that makes room among the cached descriptors and tries again when the process has none left.
 * The descriptor or -errno.
 */
int inode_openat(struct inode_table *table, struct split *split, int directory, const char *name, int flags,
                 mode_t mode);

/*
 * An O_PATH descriptor of one name in `directory`, not followed; -EXDEV, and nothing is asked of what is mounted there,
 * for a mountpoint. -errno as inode_openat.
 */
int inode_step(struct inode_table *table, struct split *split, int directory, const char *name);

/* "/proc/self/fd/N": a path for system calls that take no descriptor. */
#define PROC_PATH_BYTES 32
void proc_path(int fd, char path[static PROC_PATH_BYTES]);

/* Opens what `fd`, also an O_PATH one, has open again, with other flags. The descriptor or -errno. */
int inode_reopen(struct inode_table *table, struct split *split, int fd, int flags);

#endif
