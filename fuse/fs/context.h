/* What all handlers of one mount share. */
#ifndef TALLY_FS_CONTEXT_H
#define TALLY_FS_CONTEXT_H

#include "fs/call.h"
#include "fs/fs.h"
#include "fs/inode.h"
#include "fs/opened.h"
#include "store/backend.h"

struct departed;
struct lock_queue;
struct seeker;
struct slow_log;
struct stats;
struct stats_sample;
struct store;

struct fs {
    struct stats *stats; /* NULL with stats=off */
    struct slow_log *slow;
    struct departed *departed; /* NULL with stats=off, as `slow` */
    struct trees *trees; /* NULL unless they are counted */
    struct store *store;
    struct tally_codec_choice compress; /* of new files */
    struct lock_queue *lock_queue;
    struct seeker *seeker;
    struct fuse_session *session;
    dev_t device; /* of the mount itself, as programs see it */
    struct opened_list opened;
    struct inode_table *inodes;
    struct node *root;
    const struct log *log;
    char *lower;
    char *options;
    char *control;
    enum fs_cache cache;
    double attr_timeout_s;
    double entry_timeout_s;
    _Atomic uint64_t slow_ns; /* what takes at least as long goes to `slow`; 0: nothing does */
    bool slow_logged;         /* and to the log */
    bool switch_user;    /* the daemon is root and makes files as their callers */
    bool posix_acl;      /* the lower file system has ACLs, and the kernel uses them */
    struct raw_room room; /* FORGETs count there too: they close O_PATH descriptors */
    _Atomic bool busy_reported; /* that another mount uses a container */
    bool kill_privilege; /* the kernel leaves the clearing of set-id bits to us */
    _Atomic uint64_t cache_hits_before, cache_misses_before; /* of the store, at the last reset */
    uid_t owner;         /* of the mount */
    gid_t group;
    struct timespec began;
};

/* libfuse's init: chooses the features of the connection. */
void fs_init(void *user, struct fuse_conn_info *connection);

/*
 * Before the session's loop answers INIT: lets the kernel read further ahead in this mount's files than FUSE may ask for.
 * Needs root; without it the mount is as it was.
 */
void fs_read_further_ahead(dev_t mount);

/* libfuse's destroy: the last moment at which requests can be answered. */
void fs_end(void *user);

void fs_log_slow(struct fs *fs, const struct stats_sample *sample);

/* The node that the kernel means; it has looked it up and not forgotten it. */
static inline struct node *fs_node(struct fs *fs, fuse_ino_t ino)
{
    return ino == FUSE_ROOT_ID ? fs->root : (struct node *)(uintptr_t)ino;
}

static inline fuse_ino_t fs_ino(const struct fs *fs, const struct node *node)
{
    return node == fs->root ? FUSE_ROOT_ID : (fuse_ino_t)(uintptr_t)node;
}

#endif
