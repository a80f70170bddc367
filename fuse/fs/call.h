/*
 * One request on its way through tallyfs. The wrapper in dispatch.c makes it, the handler answers it through one of
 * the reply functions, the wrapper counts it.
 */
#ifndef TALLY_FS_CALL_H
#define TALLY_FS_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "fs/libfuse.h"
#include "tally/stats.h"
#include "util/split.h"

struct fs;
struct node;
struct node_ops;
struct stats_thread;

struct call {
    fuse_req_t req;
    struct fs *fs;
    struct stats_thread *thread; /* NULL: nobody counts */
    struct split *split;         /* points to `times`, or NULL: nobody counts */
    struct split times;
    uint64_t began_ns;
    uint64_t bytes; /* moved by a data operation */
    uint64_t requested_bytes; /* asked for by a read or write */
    enum tally_op op;
    int error;     /* positive errno that was replied */
    bool deferred; /* another thread took a copy of this call and will reply and end it */

    /* For the counters, and set only if they count. Whom it is for: */
    uint32_t uid;
    uint32_t pid; /* a thread's; 0 for what the kernel does later on, until call_for_opener */
    bool nobody;  /* not even a user */
    /* What it is about: numbers, since the inode may be gone when the call is counted. */
    uint64_t subject; /* the node's generation + 1, or PATH_CONTROL_SUBJECT; 0: nothing */
    uint64_t ino;     /* as programs see it */
    unsigned tree;    /* 0: none */
    struct node_ops *node_ops; /* there until the reply; NULL: none */
};

/*
 * Handlers: 0 after having replied exactly once (or having deferred the call), -errno without a reply. Once it has
 * replied a handler touches neither the request nor an inode that it has not pinned.
 */
#define TALLY_UNPARENTHESISE(...) __VA_ARGS__
#define TALLY_OP(name, since, reply, doc, parameters, arguments)                                   \
    int handle_##name(struct call *call, TALLY_UNPARENTHESISE parameters);
#include "tally/ops.def"
#undef TALLY_OP

/*
 * The call is about `ino`, to which the kernel or the caller has a reference: the first inode that the operation names, or
 * the one that it finds or makes and replies.
 */
void call_about(struct call *call, fuse_ino_t ino);

/* Ends a call whose handler returned `r`: replies an error, counts. For whoever took a deferred call, too. */
void call_end(struct call *call, int r);

/*
 * Replies. Each may be called once for a request. Those that hand something to the kernel return -errno when the
 * request was interrupted meanwhile: the kernel then has not got it, and the handler takes it back.
 */
int reply_entry(struct call *call, const struct fuse_entry_param *entry);
int reply_create(struct call *call, const struct fuse_entry_param *entry, const struct fuse_file_info *fi);
int reply_open(struct call *call, const struct fuse_file_info *fi);
void reply_error(struct call *call, int error);
void reply_done(struct call *call);
void reply_none(struct call *call);
void reply_attributes(struct call *call, const struct stat *attributes, double timeout_s);
void reply_link(struct call *call, const char *target);
void reply_data(struct call *call, const void *data, size_t size);
void reply_written(struct call *call, size_t size);
void reply_statfs(struct call *call, const struct statvfs *space);
void reply_xattr_value(struct call *call, const void *value, size_t size);
void reply_xattr_size(struct call *call, size_t size);
void reply_lock(struct call *call, const struct flock *lock);
void reply_ioctl(struct call *call, int result, const void *data, size_t size);
void reply_poll(struct call *call, unsigned events);
void reply_offset(struct call *call, off_t offset);
#if TALLY_FUSE_HAS_V318
void reply_statx(struct call *call, const struct statx *attributes, double timeout_s);
#endif

#endif
