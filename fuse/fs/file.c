/* Opening and closing regular files. */
#include <string.h>

#include "fs/handlers.h"
#include "fs/lock_queue.h"

static bool is_unchanged(const struct paged *paged, const struct stat *attributes)
{
    return paged->known && paged->size == attributes->st_size &&
           paged->mtime.tv_sec == attributes->st_mtim.tv_sec && paged->mtime.tv_nsec == attributes->st_mtim.tv_nsec;
}

/* Notes the file as it is now, and returns whether the kernel's pages of it are still right. */
static bool note_pages(struct call *call, struct node *node, int fd)
{
    struct stat attributes;
    bool right;

    if (attributes_get(call, node, fd, &attributes) < 0)
        return false;
    pthread_mutex_lock(&node->content_lock);
    right = is_unchanged(&node->paged, &attributes);
    node->paged = (struct paged){true, attributes.st_size, attributes.st_mtim};
    pthread_mutex_unlock(&node->content_lock);
    return right;
}

static void choose_caching(struct call *call, const struct pin *pin, struct fuse_file_info *fi)
{
    switch (call->fs->cache) {
    case FS_CACHE_NONE:
        fi->direct_io = 1;
#if TALLY_FUSE_HAS_V318
        fi->parallel_direct_writes = 1;
#endif
        break;
    case FS_CACHE_AUTO:
    case FS_CACHE_WRITEBACK:
        fi->keep_cache = note_pages(call, pin->node, pin->fd);
        break;
    }
}

/* The kernel sends O_TRUNC with the open and clears nothing itself, unlike for a write. */
static bool truncation_kills_privilege(const struct call *call, const struct fuse_file_info *fi)
{
    return call->fs->kill_privilege ? file_kills_privilege(call, fi) : file_is_unprivileged(call);
}

static int open_content(struct call *call, const struct pin *pin, int *fd, const struct fuse_file_info *fi,
                        struct content *ret_content)
{
    struct content content;
    int r = content_open(call, pin, fi->flags, fd, &content);

    if (r == 0 && fi->flags & O_TRUNC) {
        r = attributes_kill_privilege(call, pin->fd, truncation_kills_privilege(call, fi));
        if (r < 0)
            content_close(call, &content);
    }
    if (r == 0)
        *ret_content = content;
    return r;
}

static int close_opened(struct call *call, struct opened *opened)
{
    return file_close(call, (struct file *)opened);
}

int file_open(struct call *call, const struct pin *pin, int *fd, struct fuse_file_info *fi)
{
    struct file *file = calloc(1, sizeof(*file));
    int r = file ? open_content(call, pin, fd, fi, &file->content) : -ENOMEM;

    if (r < 0) {
        free(file);
        return r;
    }
    file->flock_fd = -1;
    file->writes = (fi->flags & O_ACCMODE) != O_RDONLY;
    pin->node->opens++;
    if (file->writes)
        pin->node->writers++;
    file->opened.ino = fs_ino(call->fs, pin->node);
    file->opened.close = close_opened;
    opened_add(&call->fs->opened, call, &file->opened);
    fi->fh = (uint64_t)(uintptr_t)file;
    choose_caching(call, pin, fi);
    return 0;
}

int file_close(struct call *call, struct file *file)
{
    struct node *node = file->content.node;
    int r;

    opened_remove(&call->fs->opened, &file->opened, &node->ops);
    node->opens--;
    if (file->writes)
        node->writers--;
    if (file->flock_fd >= 0)
        LOWER(call->split, close(file->flock_fd));
    r = content_close(call, &file->content);
    if (file->leaving)
        node->leaving--;
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
        file_close(call, file_of(fi));
    return r;
}

int handle_release(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    int r = 0;

    if (ino != CONTROL_INO) {
        call_for_opener(call, &file_of(fi)->opened);
        lock_release_file(call, file_of(fi));
        r = file_close(call, file_of(fi));
    }
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
        struct content *content = &file_of(fi)->content;

        lock_release_owner(call, file_of(fi), fi->lock_owner);
        r = backend_flush(content->backend, call->split);
        /* What this mount's programs wrote is in the kernel's pages too. */
        if (r == 0 && call->fs->cache != FS_CACHE_NONE && content->changed) {
            content->changed = false;
            note_pages(call, content->node, backend_descriptor(content->backend));
        }
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
