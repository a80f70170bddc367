/*
 * Locks that programs take, passed to the lower file, so that they hold against programs below the mount too.
 *
 * A POSIX lock belongs to a process and an inode, whichever of its descriptors it was taken with. On the lower file
 * each such owner gets a descriptor of its own, with locks that belong to that descriptor; closing it drops them all.
 * An open file that owns locks itself (F_OFD_SETLK) looks the same here, but that no FLUSH ever names it.
 * A BSD lock belongs to an open file and is taken with that file's own descriptor.
 *
 * What belongs to an open file goes with RELEASE, which comes after the program's close(2) has returned. So whoever
 * would not wait for a lock waits a little while a file with locks is on its way out.
 */
#include <sys/file.h>

#include "fs/handlers.h"
#include "fs/lock_queue.h"
#include "store/claim.h"

/*
 * How long after a close(2) RELEASE may be on its way: another thread has it already, and may not have run since. The
 * close of a duplicate looks the same, so that for this long others may wait for nothing.
 */
#define LEAVING_WAIT_NS (3 * NS_PER_SECOND / 10)

/* Processes that wait for one another in a circle. Longer ones are not looked for. */
#define CIRCLE_MAX 16

struct lock_owner {
    struct lock_owner *next;
    uint64_t id;
    const struct file *file; /* with which it locked last */
    pid_t pid;               /* of the process that locked; 0 while none has */
    int fd;
    bool is_file_s; /* and not closed with the owner: locks have to be given back one way more */
};

/* Called with node->lock held. */
static struct lock_owner **find_owner(struct node *node, uint64_t id)
{
    struct lock_owner **link = &node->lock_owners;

    while (*link && (*link)->id != id)
        link = &(*link)->next;
    return link;
}

static bool is_refused(int fd)
{
    return fd == -EACCES || fd == -EPERM || fd == -EROFS || fd == -ETXTBSY;
}

/*
 * For reading as well as for writing locks, where the file allows it. What the program has open may have become such that
 * nobody can open it any more; then the owner uses the open file itself.
 */
static int open_for_locks(struct call *call, const struct pin *pin, const struct file *file, bool *ret_is_file_s)
{
    int fd = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDWR);

    if (is_refused(fd) && (!file->writes || file->content.shared))
        fd = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDONLY);
    *ret_is_file_s = is_refused(fd) && !file->content.shared;
    if (*ret_is_file_s)
        fd = LOWER(call->split, fcntl(backend_descriptor(file->content.backend), F_DUPFD_CLOEXEC, 0));
    return fd;
}

/* A duplicate of the owner's descriptor; -ENOENT when it has none. A new owner takes *fd, unless that is -1. */
static int duplicate_owner(struct node *node, const struct fuse_file_info *fi, pid_t pid, int *fd, bool is_file_s)
{
    struct lock_owner **link, *owner;
    int r = -ENOENT;

    pthread_mutex_lock(&node->lock);
    link = find_owner(node, fi->lock_owner);
    if (!*link && *fd >= 0) {
        owner = malloc(sizeof(*owner));
        r = -ENOMEM;
        if (owner) {
            *owner = (struct lock_owner){.id = fi->lock_owner, .pid = pid, .fd = take_fd(fd),
                                          .is_file_s = is_file_s};
            *link = owner;
        }
    }
    if (*link) {
        (*link)->file = file_of(fi);
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
    bool is_file_s = false;
    int fd = duplicate_owner(pin->node, fi, pid, &opened, is_file_s);

    if (fd != -ENOENT)
        return fd;
    opened = open_for_locks(call, pin, file_of(fi), &is_file_s);
    return opened < 0 ? opened : duplicate_owner(pin->node, fi, pid, &opened, is_file_s);
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
    if (owner->is_file_s)
        LOWER(call->split, fcntl(owner->fd, F_OFD_SETLK, &(struct flock){.l_type = F_UNLCK}));
    LOWER(call->split, close(owner->fd));
    free(owner);
    lock_queue_wake(call->fs->lock_queue);
    return true;
}

void lock_release_owner(struct call *call, struct file *file, uint64_t id)
{
    struct node *node = file->content.node;

    pthread_mutex_lock(&node->lock);
    release(call, node, find_owner(node, id));
    if (file->locks) {
        atomic_store(&node->left_ns, clock_ns());
        if (!atomic_exchange(&file->leaving, true))
            node->leaving++;
    }
}

/* A lock is taken or asked for through the file, so it has not been closed for good. */
static void stay(struct file *file)
{
    file->locks = true;
    if (atomic_exchange(&file->leaving, false))
        file->content.node->leaving--;
}

void lock_release_file(struct call *call, struct file *file)
{
    struct node *node = file->content.node;
    struct lock_owner **link;

    if (!file->locks)
        return;
    do {
        pthread_mutex_lock(&node->lock);
        link = &node->lock_owners;
        while (*link && (*link)->file != file)
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
 * Which owner of this mount has the lock that was found: the lower file system does not know. Asked on behalf of an
 * owner it does not count that owner's own locks, so it finds none there when asked for the holder. False when it is none
 * of them, or shared by several.
 */
static bool find_holder(struct call *call, struct node *node, const struct flock *found, struct lock_owner *ret_holder)
{
    bool holds = false;

    pthread_mutex_lock(&node->lock);
    for (struct lock_owner *owner = node->lock_owners; owner && !holds; owner = owner->next) {
        struct flock probe = *found;

        probe.l_type = F_WRLCK;
        probe.l_pid = 0;
        holds = LOWER(call->split, fcntl(owner->fd, F_OFD_GETLK, &probe)) == 0 && probe.l_type == F_UNLCK;
        if (holds)
            *ret_holder = *owner;
    }
    pthread_mutex_unlock(&node->lock);
    return holds;
}

/* Whether the owner would wait for somebody who waits, perhaps through others, for it. */
static bool closes_circle(struct call *call, const struct lock_attempt *wanted)
{
    struct lock_attempt attempt = *wanted;
    bool circle = false, waits = true;

    for (unsigned i = 0; i < CIRCLE_MAX && waits && !circle; i++) {
        struct flock found = attempt.lock;
        struct lock_owner holder;

        found.l_pid = 0;
        waits = LOWER(call->split, fcntl(attempt.fd, F_OFD_GETLK, &found)) == 0 && found.l_type != F_UNLCK &&
                find_holder(call, attempt.node, &found, &holder);
        circle = waits && holder.id == wanted->owner;
        if (i > 0) {
            cleanup_close(&attempt.fd);
            inode_forget(call->fs->inodes, attempt.node, 1);
        }
        waits = waits && !circle && i + 1 < CIRCLE_MAX &&
                lock_queue_find(call->fs->lock_queue, holder.id, &attempt);
    }
    return circle;
}

int handle_getlk(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CLOSE int fd = -1;
    struct lock_owner holder;
    int r = fs_pin(call, ino, &pin);

    if (r < 0)
        return r;
    stay(file_of(fi));
    fd = owner_descriptor(call, &pin, fi, 0);
    if (fd < 0)
        return fd;
    lock->l_pid = 0;
    avoid_claim(lock);
    r = LOWER(call->split, fcntl(fd, F_OFD_GETLK, lock));
    if (r < 0)
        return r;
    if (lock->l_type != F_UNLCK && find_holder(call, pin.node, lock, &holder))
        lock->l_pid = holder.pid;
    hide_claim(lock);
    reply_lock(call, lock);
    return 0;
}

static int wait_for_posix_lock(struct call *call, const struct lock_attempt *attempt)
{
    int r;

    lock_queue_hold(call->fs->lock_queue);
    r = closes_circle(call, attempt) ? -EDEADLK : lock_queue_wait(call->fs->lock_queue, call, attempt);
    lock_queue_let_go(call->fs->lock_queue);
    return r;
}

/* What both kinds of locks have in common. */
static int attempt_lock(struct call *call, struct file *file, struct lock_attempt *attempt, bool gives_back, bool wait)
{
    struct node *node = file->content.node;
    bool leaving;
    int r;

    stay(file);
    attempt->give_up_ns = wait ? 0 : atomic_load(&node->left_ns) + LEAVING_WAIT_NS;
    /* Asked before trying: it may be gone right after. */
    leaving = !wait && node->leaving > 0 && clock_ns() < attempt->give_up_ns;
    r = lock_try(call->split, attempt);
    if (r == 0 && gives_back)
        lock_queue_wake(call->fs->lock_queue);
    if (r == -EAGAIN && wait && !attempt->is_flock)
        return wait_for_posix_lock(call, attempt);
    if (r == -EAGAIN && (wait || leaving))
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
    attempt.node = pin.node;
    attempt.owner = fi->lock_owner;
    avoid_claim(&attempt.lock);
    return attempt_lock(call, file_of(fi), &attempt, lock->l_type != F_WRLCK, sleep);
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
    return attempt_lock(call, file_of(fi), &attempt, attempt.operation != LOCK_EX, !(operation & LOCK_NB));
}
