/*
 * Locks that programs take, passed to the lower file, so that they hold against programs below the mount too.
 *
 * A POSIX lock belongs to a process and an inode, whichever of its descriptors it was taken with. On the lower file
 * each such owner gets a descriptor of its own, with locks that belong to that descriptor; closing it drops them all.
 * An open file that owns locks itself (F_OFD_SETLK) looks the same here, but that no FLUSH ever names it.
 * A BSD lock belongs to an open file and is taken with that file's own descriptor.
 */
#include <sys/file.h>

#include "fs/handlers.h"
#include "fs/lock_queue.h"
#include "store/claim.h"

struct lock_owner {
    struct lock_owner *next;
    uint64_t id;
    uint64_t handle; /* of the open file that was used last */
    pid_t pid;       /* of the process that locked; 0 while none has */
    int fd;
};

/* Called with node->lock held. */
static struct lock_owner **find_owner(struct node *node, uint64_t id)
{
    struct lock_owner **link = &node->lock_owners;

    while (*link && (*link)->id != id)
        link = &(*link)->next;
    return link;
}

/* For reading as well as for writing locks, where the file allows it. */
static int open_for_locks(struct call *call, const struct pin *pin)
{
    int fd = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDWR);

    if (fd == -EACCES || fd == -EPERM || fd == -EROFS || fd == -ETXTBSY)
        fd = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDONLY);
    return fd;
}

/* A duplicate of the owner's descriptor; -ENOENT when it has none. A new owner takes *fd, unless that is -1. */
static int duplicate_owner(struct node *node, const struct fuse_file_info *fi, pid_t pid, int *fd)
{
    struct lock_owner **link, *owner;
    int r = -ENOENT;

    pthread_mutex_lock(&node->lock);
    link = find_owner(node, fi->lock_owner);
    if (!*link && *fd >= 0) {
        owner = malloc(sizeof(*owner));
        r = -ENOMEM;
        if (owner) {
            *owner = (struct lock_owner){.id = fi->lock_owner, .pid = pid, .fd = take_fd(fd)};
            *link = owner;
        }
    }
    if (*link) {
        (*link)->handle = fi->fh;
        if (pid)
            (*link)->pid = pid;
        r = fcntl((*link)->fd, F_DUPFD_CLOEXEC, 0);
        r = r < 0 ? -errno : r;
    }
    pthread_mutex_unlock(&node->lock);
    return r;
}

static int owner_descriptor(struct call *call, const struct pin *pin, const struct fuse_file_info *fi, pid_t pid)
{
    AUTO_CLOSE int opened = -1;
    int fd = duplicate_owner(pin->node, fi, pid, &opened);

    if (fd != -ENOENT)
        return fd;
    opened = open_for_locks(call, pin);
    return opened < 0 ? opened : duplicate_owner(pin->node, fi, pid, &opened);
}

/* Unlocks node->lock. *link is the owner to let go, or NULL. Whether there was one. */
static bool release(struct call *call, struct node *node, struct lock_owner **link)
{
    struct lock_owner *owner = *link;

    if (owner)
        *link = owner->next;
    pthread_mutex_unlock(&node->lock);
    if (!owner)
        return false;
    LOWER(call->split, close(owner->fd));
    free(owner);
    lock_queue_wake(call->fs->lock_queue);
    return true;
}

void lock_release_owner(struct call *call, struct node *node, uint64_t id)
{
    pthread_mutex_lock(&node->lock);
    release(call, node, find_owner(node, id));
}

void lock_release_handle(struct call *call, struct node *node, uint64_t handle)
{
    struct lock_owner **link;

    do {
        pthread_mutex_lock(&node->lock);
        link = &node->lock_owners;
        while (*link && (*link)->handle != handle)
            link = &(*link)->next;
    } while (release(call, node, link));
}

void lock_release_all(struct node *node)
{
    for (struct lock_owner *owner = node->lock_owners, *next; owner; owner = next) {
        next = owner->next;
        close(owner->fd);
        free(owner);
    }
    node->lock_owners = NULL;
}

/*
 * Programs' locks leave out the last byte that a lock can name, by which containers are claimed. For them nothing
 * changes: all lose the same byte.
 */
static void avoid_claim(struct flock *lock)
{
    if (lock->l_start == STORE_CLAIM_OFFSET)
        lock->l_start--;
    if (lock->l_len == 0 || lock->l_len > STORE_CLAIM_OFFSET - lock->l_start)
        lock->l_len = STORE_CLAIM_OFFSET - lock->l_start;
}

/* Back to what a program takes for a lock to the end of the file. */
static void hide_claim(struct flock *lock)
{
    if (lock->l_type != F_UNLCK && lock->l_len == STORE_CLAIM_OFFSET - lock->l_start)
        lock->l_len = 0;
}

/*
 * Which program of this mount has the lock that was found: the lower file system does not know (-1). Asked on behalf of
 * an owner it does not count that owner's own locks, so it finds none there when asked for the holder.
 */
static pid_t find_holder(struct call *call, struct node *node, const struct flock *found)
{
    pid_t pid = found->l_pid;

    pthread_mutex_lock(&node->lock);
    for (struct lock_owner *owner = node->lock_owners; owner && pid == -1; owner = owner->next) {
        struct flock probe = *found;

        probe.l_type = F_WRLCK;
        probe.l_pid = 0;
        if (LOWER(call->split, fcntl(owner->fd, F_OFD_GETLK, &probe)) == 0 && probe.l_type == F_UNLCK)
            pid = owner->pid;
    }
    pthread_mutex_unlock(&node->lock);
    return pid;
}

int handle_getlk(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CLOSE int fd = -1;
    int r = fs_pin(call, ino, &pin);

    if (r < 0)
        return r;
    fd = owner_descriptor(call, &pin, fi, 0);
    if (fd < 0)
        return fd;
    lock->l_pid = 0;
    avoid_claim(lock);
    r = LOWER(call->split, fcntl(fd, F_OFD_GETLK, lock));
    if (r < 0)
        return r;
    if (lock->l_type != F_UNLCK)
        lock->l_pid = find_holder(call, pin.node, lock);
    hide_claim(lock);
    reply_lock(call, lock);
    return 0;
}

/* What both kinds of locks have in common. */
static int attempt_lock(struct call *call, const struct lock_attempt *attempt, bool gives_back, bool wait)
{
    int r = lock_try(call->split, attempt);

    if (r == 0 && gives_back)
        lock_queue_wake(call->fs->lock_queue);
    if (r == -EAGAIN && wait)
        return lock_queue_wait(call->fs->lock_queue, call, attempt);
    if (r == 0)
        reply_done(call);
    return r;
}

int handle_setlk(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleep)
{
    struct lock_attempt attempt = {.lock = *lock};
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CLOSE int fd = -1;
    int r = fs_pin(call, ino, &pin);

    if (r < 0)
        return r;
    fd = owner_descriptor(call, &pin, fi, lock->l_pid);
    if (fd < 0)
        return fd;
    attempt.fd = fd;
    avoid_claim(&attempt.lock);
    return attempt_lock(call, &attempt, lock->l_type != F_WRLCK, sleep);
}

/* All opens of a container share a descriptor, which cannot tell their locks apart. */
static int flock_descriptor(struct call *call, fuse_ino_t ino, struct file *file)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    int fd, r;

    if (!file->content.shared)
        return backend_descriptor(file->content.backend);
    pthread_mutex_lock(&file->content.node->content_lock);
    fd = file->flock_fd;
    pthread_mutex_unlock(&file->content.node->content_lock);
    if (fd >= 0)
        return fd;
    r = fs_pin(call, ino, &pin);
    if (r < 0)
        return r;
    fd = inode_reopen(call->fs->inodes, call->split, pin.fd, O_RDONLY);
    if (fd < 0)
        return fd;
    pthread_mutex_lock(&file->content.node->content_lock);
    if (file->flock_fd < 0)
        file->flock_fd = take_fd(&fd);
    cleanup_close(&fd);
    fd = file->flock_fd;
    pthread_mutex_unlock(&file->content.node->content_lock);
    return fd;
}

int handle_flock(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi, int operation)
{
    struct lock_attempt attempt = {.is_flock = true, .operation = operation & ~LOCK_NB};

    if (ino == CONTROL_INO)
        return -EPERM;
    attempt.fd = flock_descriptor(call, ino, file_of(fi));
    if (attempt.fd < 0)
        return attempt.fd;
    return attempt_lock(call, &attempt, attempt.operation != LOCK_EX, !(operation & LOCK_NB));
}
