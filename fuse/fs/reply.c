#include "fs/call.h"
#include "fs/node_ops.h"
#include "stats/stats.h"

/* To save a reading of the clock it ends with the last part of the operation that was timed. */
static void count_on_node(const struct call *call)
{
    struct node_ops *ops = call->node_ops;
    uint64_t ended_ns = call->times.ended_ns ? call->times.ended_ns : clock_ns();

    node_ops_add(&ops->count, 1);
    node_ops_add(&ops->errors, call->error ? 1 : 0);
    node_ops_add(&ops->bytes, call->bytes);
    node_ops_add(&ops->total_ns, ended_ns - call->began_ns);
    node_ops_add(&ops->lower_ns, call->times.lower_ns);
    node_ops_add(&ops->codec_ns, call->times.codec_ns);
    node_ops_add(&ops->wait_ns, call->times.wait_ns);
}

/*
 * A program that has its answer may read the counters at once; it must find its own operation there. So readers are
 * told of every reply before it leaves.
 */
static void announce(struct call *call)
{
    if (call->node_ops)
        count_on_node(call);
    if (call->thread)
        stats_replying(call->thread);
}

int reply_entry(struct call *call, const struct fuse_entry_param *entry)
{
    call_about(call, entry->ino);
    announce(call);
    return fuse_reply_entry(call->req, entry);
}

int reply_create(struct call *call, const struct fuse_entry_param *entry, const struct fuse_file_info *fi)
{
    call_about(call, entry->ino);
    announce(call);
    return fuse_reply_create(call->req, entry, fi);
}

int reply_open(struct call *call, const struct fuse_file_info *fi)
{
    announce(call);
    return fuse_reply_open(call->req, fi);
}

void reply_error(struct call *call, int error)
{
    call->error = error;
    announce(call);
    fuse_reply_err(call->req, error);
}

void reply_done(struct call *call)
{
    announce(call);
    fuse_reply_err(call->req, 0);
}

void reply_none(struct call *call)
{
    announce(call);
    fuse_reply_none(call->req);
}

void reply_attributes(struct call *call, const struct stat *attributes, double timeout_s)
{
    announce(call);
    fuse_reply_attr(call->req, attributes, timeout_s);
}

void reply_link(struct call *call, const char *target)
{
    announce(call);
    fuse_reply_readlink(call->req, target);
}

void reply_data(struct call *call, const void *data, size_t size)
{
    call->bytes = size;
    announce(call);
    fuse_reply_buf(call->req, data, size);
}

void reply_written(struct call *call, size_t size)
{
    call->bytes = size;
    announce(call);
    fuse_reply_write(call->req, size);
}

void reply_statfs(struct call *call, const struct statvfs *space)
{
    announce(call);
    fuse_reply_statfs(call->req, space);
}

void reply_xattr_value(struct call *call, const void *value, size_t size)
{
    announce(call);
    fuse_reply_buf(call->req, value, size);
}

void reply_xattr_size(struct call *call, size_t size)
{
    announce(call);
    fuse_reply_xattr(call->req, size);
}

void reply_lock(struct call *call, const struct flock *lock)
{
    announce(call);
    fuse_reply_lock(call->req, lock);
}

void reply_ioctl(struct call *call, int result, const void *data, size_t size)
{
    announce(call);
    fuse_reply_ioctl(call->req, result, data, size);
}

void reply_poll(struct call *call, unsigned events)
{
    announce(call);
    fuse_reply_poll(call->req, events);
}

void reply_offset(struct call *call, off_t offset)
{
    announce(call);
    fuse_reply_lseek(call->req, offset);
}

#if TALLY_FUSE_HAS_V318
void reply_statx(struct call *call, const struct statx *attributes, double timeout_s)
{
    struct statx answer = *attributes;

    announce(call);
    fuse_reply_statx(call->req, 0, &answer, timeout_s);
}
#endif
