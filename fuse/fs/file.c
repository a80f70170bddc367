/* Opening and closing regular files. */
#include <string.h>

#include "fs/handlers.h"
#include "fs/lock_queue.h"

static void present_open(struct call *call, struct fuse_file_info *fi)
{
    fi->direct_io = call->fs->cache == FS_CACHE_NONE;
#if TALLY_FUSE_HAS_V318
    fi->parallel_direct_writes = fi->direct_io;
#endif
}

static int open_content(struct call *call, const struct pin *pin, int *fd, const struct fuse_file_info *fi,
                        struct content *ret_content)
{
    struct content content;
    int r = content_open(call, pin, fi->flags, fd, &content);

    if (r == 0 && fi->flags & O_TRUNC) {
        r = attributes_kill_privilege(call, pin->fd, file_kills_privilege(call, fi));
        if (r < 0)
            content_close(call, &content);
    }
    if (r == 0)
        *ret_content = content;
    return r;
}

int file_open(struct call *call, const struct pin *pin, int *fd, struct fuse_file_info *fi)
{
    struct file *file = calloc(1, sizeof(*file));
    int r = file ? open_content(call, pin, fd, fi, &file->content) : -ENOMEM;

    if (r < 0) {
        free(file);
        return r;
    }
    /* The kernel's write-back cache knows the end of the file better. */
    file->flock_fd = -1;
    file->append = fi->flags & O_APPEND && call->fs->cache != FS_CACHE_WRITEBACK;
    fi->fh = (uint64_t)(uintptr_t)file;
    present_open(call, fi);
    return 0;
}

int file_close(struct call *call, struct fuse_file_info *fi)
{
    struct file *file = file_of(fi);
    int r = content_close(call, &file->content);

    if (file->flock_fd >= 0)
        LOWER(call->split, close(file->flock_fd));
    free(file);
    return r;
}

static void open_control(struct fuse_file_info *fi)
{
    fi->fh = 0;
    fi->direct_io = 1;
}

int handle_open(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CLOSE int fd = -1;
    int r = 0;

    if (ino == CONTROL_INO) {
        open_control(fi);
    } else {
        r = fs_pin(call, ino, &pin);
        if (r == 0)
            r = file_open(call, &pin, &fd, fi);
    }
    if (r == 0 && reply_open(call, fi) < 0 && ino != CONTROL_INO)
        file_close(call, fi);
    return r;
}

int handle_release(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    int r = ino == CONTROL_INO ? 0 : file_close(call, fi);

    if (fi->flock_release)
        lock_queue_wake(call->fs->lock_queue);
    if (r == 0)
        reply_done(call);
    else
        log_error(call->fs->log, "closing a file: %s", strerror(-r));
    return r;
}

int handle_flush(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    int r = 0;

    if (ino != CONTROL_INO) {
        lock_release_owner(call, fs_node(call->fs, ino), fi->lock_owner);
        r = backend_flush(file_of(fi)->content.backend, call->split);
    }
    if (r == 0)
        reply_done(call);
    return r;
}

int handle_fsync(struct call *call, fuse_ino_t ino, int data_only, struct fuse_file_info *fi)
{
    int r = ino == CONTROL_INO ? 0 : backend_sync(file_of(fi)->content.backend, call->split, data_only);

    if (r == 0)
        reply_done(call);
    return r;
}
