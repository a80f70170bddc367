/* What programs have open, so that it can be closed in order when the mount ends under them. */
#ifndef TALLY_FS_OPENED_H
#define TALLY_FS_OPENED_H

#include <pthread.h>

#include "fs/call.h"
#include "fs/node_ops.h"

/* The part of an open file or directory that is in the list. */
struct opened {
    struct opened *next, **link;
    fuse_ino_t ino;
    uint32_t uid, pid; /* of who opened it, if somebody counts */
    struct node_ops ops; /* reads and writes through it */
    int (*close)(struct call *call, struct opened *opened); /* closes and frees; 0 or -errno */
};

struct opened_list {
    pthread_mutex_t lock;
    struct opened *first;
    uint64_t count;
};

/*
 * The inode numbers of all that is open, in memory that the caller frees; an inode may be there several times. Their
 * count, or -ENOMEM.
 */
ssize_t opened_inodes(struct opened_list *list, fuse_ino_t **ret_inodes);

void opened_add(struct opened_list *list, const struct call *call, struct opened *opened);
/* Its operations are from now on the node's, at the same moment for opened_ops. */
void opened_remove(struct opened_list *list, struct opened *opened, struct node_ops *node_ops);

/* The operations on an inode: the node's, given, and those of what is open of it. */
void opened_ops(struct opened_list *list, fuse_ino_t ino, const struct node_ops *node_ops, struct node_ops *ret_ops);

uint64_t opened_count(struct opened_list *list);

/* Closes all, which remove themselves. The first error. Nobody else may use the list. */
int opened_close_all(struct opened_list *list, struct call *call);

#endif
