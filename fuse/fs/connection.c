/* What tallyfs asks of the kernel when a mount begins. */
#include "fs/context.h"

#include <stdio.h>
#include <sys/sysmacros.h>

#include "util/cleanup.h"
#include "util/strbuf.h"

#define WRITE_BYTES_MAX (1024 * 1024)

/*
 * Of requests that no program waits for. RELEASE is one: with the kernel's default of 12 at a time, hundreds of threads
 * that open and close leave their closes behind until tallyfs has no descriptor left.
 */
#define BACKGROUND_MAX 512

/*
 * How far the kernel reads ahead of a sequential reader. Its own 128 KiB are one chunk of a compressed file: with more,
 * several are decoded at once, and requests are fewer.
 */
#define READ_AHEAD_BYTES (1024 * 1024)

/* libfuse 3.17 widened the flags and gave them functions. */
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 17)
static bool is_capable(struct fuse_conn_info *connection, uint64_t feature)
{
    return connection->capable_ext & feature;
}

static void want(struct fuse_conn_info *connection, uint64_t feature)
{
    if (is_capable(connection, feature))
        fuse_set_feature_flag(connection, feature);
}

static void refuse(struct fuse_conn_info *connection, uint64_t feature)
{
    fuse_unset_feature_flag(connection, feature);
}
#else
static bool is_capable(struct fuse_conn_info *connection, unsigned feature)
{
    return connection->capable & feature;
}

static void want(struct fuse_conn_info *connection, unsigned feature)
{
    connection->want |= connection->capable & feature;
}

static void refuse(struct fuse_conn_info *connection, unsigned feature)
{
    connection->want &= ~feature;
}
#endif

void fs_read_further_ahead(dev_t mount)
{
    AUTO_STRBUF struct strbuf path = STRBUF_INIT;
    AUTO_FCLOSE FILE *parameter = NULL;

    strbuf_printf(&path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(mount), minor(mount));
    if (!path.failed)
        parameter = fopen(path.data, "we");
    if (parameter)
        fprintf(parameter, "%d", READ_AHEAD_BYTES / 1024);
}

void fs_init(void *user, struct fuse_conn_info *connection)
{
    struct fs *fs = user;

    connection->max_write = WRITE_BYTES_MAX;
    /* The kernel offered what it had before fs_read_further_ahead, and takes the lesser of its own and this. */
    if (connection->max_readahead > 0)
        connection->max_readahead = READ_AHEAD_BYTES;
    connection->max_background = BACKGROUND_MAX;
    connection->congestion_threshold = BACKGROUND_MAX / 4 * 3;
    want(connection, FUSE_CAP_PARALLEL_DIROPS);
    want(connection, FUSE_CAP_ASYNC_DIO);
    want(connection, FUSE_CAP_ASYNC_READ);
    want(connection, FUSE_CAP_ATOMIC_O_TRUNC);
    want(connection, FUSE_CAP_READDIRPLUS);
    want(connection, FUSE_CAP_READDIRPLUS_AUTO);
    want(connection, FUSE_CAP_AUTO_INVAL_DATA);
    want(connection, FUSE_CAP_DONT_MASK);
    want(connection, FUSE_CAP_POSIX_LOCKS);
    want(connection, FUSE_CAP_FLOCK_LOCKS);
    /* Data passes through memory of tallyfs anyway; pipes only cost. */
    refuse(connection, FUSE_CAP_SPLICE_READ);
    refuse(connection, FUSE_CAP_SPLICE_WRITE);
    refuse(connection, FUSE_CAP_SPLICE_MOVE);
    if (fs->cache == FS_CACHE_WRITEBACK)
        want(connection, FUSE_CAP_WRITEBACK_CACHE);
#ifdef FUSE_CAP_DIRECT_IO_ALLOW_MMAP
    /* With cache=none too, programs such as SQLite share memory through a file. The kernel keeps both sides alike. */
    want(connection, FUSE_CAP_DIRECT_IO_ALLOW_MMAP);
#endif
    if (fs->posix_acl)
        want(connection, FUSE_CAP_POSIX_ACL);
    fs->posix_acl = fs->posix_acl && is_capable(connection, FUSE_CAP_POSIX_ACL);
#if TALLY_FUSE_HAS_KILL_SUIDGID
    /* Without this the kernel asks for security.capability before every write. */
    want(connection, FUSE_CAP_HANDLE_KILLPRIV_V2);
    fs->kill_privilege = is_capable(connection, FUSE_CAP_HANDLE_KILLPRIV_V2);
#endif
}
