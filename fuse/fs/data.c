/* Reading and writing regular files. */
#include <poll.h>

#include "fs/handlers.h"

static struct content *content_of(const struct fuse_file_info *fi)
{
    return &file_of(fi)->content;
}

/* The operation is one on what is open, of `size` bytes. */
static void count_request(struct call *call, const struct fuse_file_info *fi, size_t size)
{
    struct opened *opened = &file_of(fi)->opened;

    call_for_opener(call, opened);
    call->requested_bytes = size;
    if (call->node_ops)
        call->node_ops = &opened->ops;
}

/*
 * O_SYNC, O_DSYNC and pwritev2's flags of these names. For writes through its cache the kernel sends an fsync after
 * them; for those past it nothing but the flag.
 */
static int sync_if_asked(struct call *call, struct content *content, const struct fuse_file_info *fi)
{
    const int full = O_SYNC & ~O_DSYNC;

    if (call->fs->cache != FS_CACHE_NONE || !(fi->flags & O_DSYNC))
        return 0;
    return backend_sync(content->backend, call->split, !(fi->flags & full));
}

/* What every successful change of a file's bytes ends with. */
static int finish_change(struct call *call, struct content *content, bool kills_privilege)
{
    content_wrote(call, content);
    return attributes_kill_privilege(call, backend_descriptor(content->backend), kills_privilege);
}

int handle_read(struct call *call, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    AUTO_FREE void *data = NULL;
    ssize_t got;

    if (ino == CONTROL_INO) {
        reply_data(call, "", 0);
        return 0;
    }
    count_request(call, fi, size);
    data = malloc(size);
    if (!data)
        return -ENOMEM;
    got = backend_pread(content_of(fi)->backend, call->split, data, size, offset);
    if (got < 0)
        return (int)got;
    reply_data(call, data, (size_t)got);
    return 0;
}

int handle_write(struct call *call, fuse_ino_t ino, const char *data, size_t size, off_t offset,
                 struct fuse_file_info *fi)
{
    /*
     * As the flag is now, which programs may change while the file is open. The kernel's write-back cache knows the end
     * of the file better. A page written through a mapping goes where it belongs, whatever open file brings it.
     */
    bool append = fi->flags & O_APPEND && call->fs->cache != FS_CACHE_WRITEBACK && !fi->writepage;
    struct content *content;
    ssize_t written;
    int r;

    if (ino == CONTROL_INO)
        return -EPERM;
    count_request(call, fi, size);
    content = content_of(fi);
    r = content_guard_plain(call, content, data, size, offset);
    if (r < 0)
        return r;
    written = backend_pwrite(content->backend, call->split, data, size, offset, append);
    if (written < 0)
        return (int)written;
    r = finish_change(call, content, file_kills_privilege(call, fi));
    if (r == 0)
        r = sync_if_asked(call, content, fi);
    if (r < 0)
        return r;
    reply_written(call, (size_t)written);
    return 0;
}

/* Guards against what is about to be copied to the beginning of `out`, or was moved there within it. */
static int guard_copied(struct call *call, struct content *out, off_t out_offset, struct content *in, off_t in_offset,
                        size_t size)
{
    char head[CONTENT_GUARD_BYTES];
    ssize_t got;

    if (out->shared || out_offset >= CONTENT_GUARD_BYTES)
        return 0;
    got = backend_pread(in->backend, call->split, head, size < sizeof(head) ? size : sizeof(head), in_offset);
    return got <= 0 ? (int)got : content_guard_plain(call, out, head, (size_t)got, out_offset);
}

int handle_fallocate(struct call *call, fuse_ino_t ino, int mode, off_t offset, off_t length,
                     struct fuse_file_info *fi)
{
    struct content *content;
    int r;

    if (ino == CONTROL_INO)
        return -EPERM;
    content = content_of(fi);
    if (mode & FALLOC_FL_COLLAPSE_RANGE) {
        r = guard_copied(call, content, offset, content, offset + length, CONTENT_GUARD_BYTES);
        if (r < 0)
            return r;
    }
    r = backend_allocate(content->backend, call->split, mode, offset, length);
    if (r == 0)
        r = finish_change(call, content, call->fs->kill_privilege && file_is_unprivileged(call));
    if (r == 0)
        reply_done(call);
    return r;
}

int handle_copy_file_range(struct call *call, fuse_ino_t in, off_t in_offset, struct fuse_file_info *in_fi,
                           fuse_ino_t out, off_t out_offset, struct fuse_file_info *out_fi, size_t size, int flags)
{
    struct content *from, *to;
    ssize_t copied;
    int r;

    if (in == CONTROL_INO || out == CONTROL_INO || flags != 0)
        return -EINVAL;
    call_about(call, out);
    from = content_of(in_fi);
    to = content_of(out_fi);
    r = guard_copied(call, to, out_offset, from, in_offset, size);
    if (r < 0)
        return r;
    copied = backend_copy(from->backend, call->split, in_offset, to->backend, out_offset, size);
    if (copied < 0)
        return (int)copied;
    r = finish_change(call, to, call->fs->kill_privilege && file_is_unprivileged(call));
    if (r < 0)
        return r;
    reply_written(call, (size_t)copied);
    return 0;
}

int handle_poll(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi, struct fuse_pollhandle *handle)
{
    /* Regular files are always ready. */
    (void)ino;
    if (handle)
        fuse_pollhandle_destroy(handle);
    reply_poll(call, fi->poll_events & (POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM));
    return 0;
}
