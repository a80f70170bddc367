/*
 * The file system: libfuse's low-level operations over one lower directory. Everything of a mount hangs from one
 * `struct fs`, which is the session's user data.
 */
#ifndef TALLY_FS_FS_H
#define TALLY_FS_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/codec.h"
#include "util/log.h"

struct fs;
struct fuse_lowlevel_ops;
struct fuse_session;

enum fs_cache {
    FS_CACHE_AUTO,      /* the kernel keeps a file's pages while the lower file is unchanged */
    FS_CACHE_NONE,      /* every read and write reaches tallyfs */
    FS_CACHE_WRITEBACK, /* the kernel also holds back writes */
};

/* The longest threshold for slow operations: a day. */
#define FS_SLOW_MAX_MS 86400000

struct fs_config {
    const char *lower;   /* absolute path of the lower directory */
    const char *options; /* as given, for user.tallyfs.options */
    const char *control; /* name of the control file in the root */
    enum fs_cache cache;
    double attr_timeout_s;
    double entry_timeout_s;
    bool count;       /* false: no counters, no clocks */
    uint64_t slow_ns; /* operations at least as slow are kept for user.tallyfs.slow; 0: none */
    bool slow_logged; /* and logged */
    unsigned tree_depth; /* of the directories that are counted each; 0: none */
    struct tally_codec_choice compress;
    uint32_t chunk_bytes;
    unsigned worker_count; /* threads that compress in the background */
    const struct log *log; /* must outlive the file system */
};

/*
 * 0; -errno when the lower directory cannot be opened; -ENOMEM; what store_create returns. The strings of `config`
 * are copied. Starts no thread when worker_count is 0; call it after daemonising otherwise.
 */
int fs_create(const struct fs_config *config, struct fs **ret_fs);

/* After mounting and before the session's loop. The session must outlive the loop. 0 or -errno. */
int fs_begin(struct fs *fs, struct fuse_session *session, const char *mountpoint);

/*
 * Has the kernel write back what it holds of files that are open, and waits for it. Requests must still be answered
 * meanwhile, by other threads.
 */
void fs_write_back(struct fs *fs);

/* The session must have ended. Drains and closes all files; the first error of that. */
int fs_destroy(struct fs *fs);

/* The table for fuse_session_new, whose user data must be a `struct fs`. */
const struct fuse_lowlevel_ops *fs_operations(void);

#endif
