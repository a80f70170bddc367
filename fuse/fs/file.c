/* Data of regular files. */
#include <poll.h>

#include "fs/handlers.h"

int file_lower_flags(const struct fs *fs, int flags)
{
    flags &= ~(O_CREAT | O_EXCL | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW);
    if (fs->cache == FS_CACHE_WRITEBACK) {
        /* The kernel reads pages that it writes in part, and places appended data itself. */
        if ((flags & O_ACCMODE) == O_WRONLY)
            flags = (flags & ~O_ACCMODE) | O_RDWR;
        flags &= ~O_APPEND;
    }
    /* Buffers of libfuse are aligned for no medium. */
    return flags & ~O_DIRECT;
}

static void present_open(struct call *call, struct fuse_file_info *fi)
{
    fi->direct_io = call->fs->cache == FS_CACHE_NONE;
#if TALLY_FUSE_HAS_V318
    fi->parallel_direct_writes = fi->direct_io;
#endif
}

int file_adopt(struct call *call, const struct pin *pin, int *fd, struct fuse_file_info *fi)
{
    struct file *file = calloc(1, sizeof(*file));
    int r;

    (void)pin;
    if (!file)
        return -ENOMEM;
    r = raw_backend_create(*fd, &file->backend);
    if (r < 0) {
        free(file);
        return r;
    }
    *fd = -1;
    file->append = fi->flags & O_APPEND && call->fs->cache != FS_CACHE_WRITEBACK;
    fi->fh = (uint64_t)(uintptr_t)file;
    present_open(call, fi);
    return 0;
}

int file_open(struct call *call, const struct pin *pin, struct fuse_file_info *fi)
{
    AUTO_CLOSE int fd = -1;
    int r;

    fd = inode_reopen(call->fs->inodes, call->split, pin->fd, file_lower_flags(call->fs, fi->flags));
    if (fd < 0)
        return fd;
    r = attributes_kill_privilege(call, fd, file_kills_privilege(call, fi) && fi->flags & O_TRUNC);
    return r < 0 ? r : file_adopt(call, pin, &fd, fi);
}

int file_close(struct call *call, struct fuse_file_info *fi)
{
    struct file *file = file_of(fi);
    int r = backend_close(file->backend, call->split);

    free(file);
    return r;
}

int handle_open(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    int r;

    if (ino == CONTROL_INO) {
        fi->fh = 0;
        fi->direct_io = 1;
        reply_open(call, fi);
        return 0;
    }
    r = fs_pin(call, ino, &pin);
    if (r == 0)
        r = file_open(call, &pin, fi);
    if (r == 0 && reply_open(call, fi) < 0)
        file_close(call, fi);
    return r;
}

int handle_release(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    int r = ino == CONTROL_INO ? 0 : file_close(call, fi);

    if (r == 0)
        reply_done(call);
    return r;
}

int handle_read(struct call *call, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    AUTO_FREE void *data = NULL;
    ssize_t got;

    if (ino == CONTROL_INO) {
        reply_data(call, "", 0);
        return 0;
    }
    data = malloc(size);
    if (!data)
        return -ENOMEM;
    got = backend_pread(file_of(fi)->backend, call->split, data, size, offset);
    if (got < 0)
        return (int)got;
    reply_data(call, data, (size_t)got);
    return 0;
}

int handle_write(struct call *call, fuse_ino_t ino, const char *data, size_t size, off_t offset,
                 struct fuse_file_info *fi)
{
    struct file *file = file_of(fi);
    ssize_t written;
    int r;

    if (ino == CONTROL_INO)
        return -EPERM;
    written = backend_pwrite(file->backend, call->split, data, size, offset, file->append && !fi->writepage);
    if (written < 0)
        return (int)written;
    r = attributes_kill_privilege(call, backend_descriptor(file->backend), file_kills_privilege(call, fi));
    if (r < 0)
        return r;
    reply_written(call, (size_t)written);
    return 0;
}

int handle_flush(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    int r = ino == CONTROL_INO ? 0 : backend_flush(file_of(fi)->backend, call->split);

    if (r == 0)
        reply_done(call);
    return r;
}

int handle_fsync(struct call *call, fuse_ino_t ino, int data_only, struct fuse_file_info *fi)
{
    int r = ino == CONTROL_INO ? 0 : backend_sync(file_of(fi)->backend, call->split, data_only);

    if (r == 0)
        reply_done(call);
    return r;
}

int handle_fallocate(struct call *call, fuse_ino_t ino, int mode, off_t offset, off_t length,
                     struct fuse_file_info *fi)
{
    int r;

    if (ino == CONTROL_INO)
        return -EPERM;
    r = backend_allocate(file_of(fi)->backend, call->split, mode, offset, length);
    if (r == 0)
        r = attributes_kill_privilege(call, backend_descriptor(file_of(fi)->backend),
                                      file_kills_unasked(call));
    if (r == 0)
        reply_done(call);
    return r;
}

int handle_lseek(struct call *call, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi)
{
    off_t found;

    if (ino == CONTROL_INO)
        return -ENXIO;
    found = backend_seek(file_of(fi)->backend, call->split, offset, whence);
    if (found < 0)
        return (int)found;
    reply_offset(call, found);
    return 0;
}

int handle_copy_file_range(struct call *call, fuse_ino_t in, off_t in_offset, struct fuse_file_info *in_fi,
                           fuse_ino_t out, off_t out_offset, struct fuse_file_info *out_fi, size_t size, int flags)
{
    ssize_t copied;
    int r;

    if (in == CONTROL_INO || out == CONTROL_INO || flags != 0)
        return -EINVAL;
    copied = backend_copy(file_of(in_fi)->backend, call->split, in_offset, file_of(out_fi)->backend, out_offset, size);
    if (copied < 0)
        return (int)copied;
    r = attributes_kill_privilege(call, backend_descriptor(file_of(out_fi)->backend), file_kills_unasked(call));
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
