/*
 * Descriptors of nodes. A node with a handle has one only while it is useful: the ring holds them oldest first, and
 * whoever opens one too many closes some that were neither used since the last round nor are pinned, if they can be
 * opened again.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "fs/inode_table.h"
#include "fs/location.h"
#include "util/cleanup.h"

/* How many of the ring's oldest are looked at to make room for one; pinned and recent ones stay. */
#define EVICTION_TRIES 8

static void ring_remove(struct descriptor_ring *ring, struct node *node)
{
    if (node->older)
        node->older->newer = node->newer;
    else
        ring->oldest = node->newer;
    if (node->newer)
        node->newer->older = node->older;
    else
        ring->newest = node->older;
    node->older = node->newer = NULL;
    ring->count--;
}

static void ring_append(struct descriptor_ring *ring, struct node *node)
{
    node->older = ring->newest;
    node->newer = NULL;
    if (ring->newest)
        ring->newest->newer = node;
    else
        ring->oldest = node;
    ring->newest = node;
    ring->count++;
}

/* Something open may have lost its name. */
static bool can_be_reopened(const struct node *node)
{
    return node->device->mount >= 0 || (node->location && node->opens == 0);
}

/* Takes the oldest descriptor out, or moves its node to the end. The descriptor or -1. Ring lock held. */
static int evict_one(struct descriptor_ring *ring)
{
    struct node *node = ring->oldest;
    int fd = -1;

    if (!node)
        return -1;
    ring_remove(ring, node);
    /* Against the lock order, so it must not wait; a locked node is in use anyway. */
    if (pthread_mutex_trylock(&node->lock) == 0) {
        if (node->pins == 0 && !node->recent && can_be_reopened(node)) {
            fd = node->descriptor;
            node->descriptor = -1;
        }
        node->recent = false;
        pthread_mutex_unlock(&node->lock);
    }
    if (fd < 0)
        ring_append(ring, node);
    return fd;
}

/* Closes cached descriptors until at most `keep` are left, as far as `tries` go. */
static void ring_shrink(struct descriptor_ring *ring, unsigned keep, unsigned tries)
{
    for (unsigned i = 0; i < tries; i++) {
        int fd = -1;
        bool done;

        pthread_mutex_lock(&ring->lock);
        done = ring->count <= keep;
        if (!done)
            fd = evict_one(ring);
        pthread_mutex_unlock(&ring->lock);
        if (done)
            return;
        cleanup_close(&fd);
    }
}

static bool is_cached(const struct node *node)
{
    return node->handle.size > 0;
}

void descriptor_give(struct inode_table *table, struct node *node, int *fd)
{
    node->descriptor = take_fd(fd);
    node->recent = false;
    if (!is_cached(node))
        return;
    pthread_mutex_lock(&table->ring.lock);
    ring_append(&table->ring, node);
    pthread_mutex_unlock(&table->ring.lock);
    ring_shrink(&table->ring, table->ring.budget, EVICTION_TRIES);
}

void descriptor_drop(struct inode_table *table, struct node *node)
{
    if (is_cached(node)) {
        pthread_mutex_lock(&table->ring.lock);
        if (node->descriptor >= 0)
            ring_remove(&table->ring, node);
        pthread_mutex_unlock(&table->ring.lock);
    }
    cleanup_close(&node->descriptor);
}

static int open_handle(struct inode_table *table, struct split *split, const struct node *node)
{
    int fd = fhandle_open(split, node->device->mount, &node->handle);

    if (fd == -EMFILE || fd == -ENFILE) {
        ring_shrink(&table->ring, table->ring.budget / 2, table->ring.budget);
        fd = fhandle_open(split, node->device->mount, &node->handle);
    }
    return fd;
}

/* Opens a pinned node without a descriptor, with its lock held; gives the lock up while directories above it are opened. */
static int open_again(struct inode_table *table, struct split *split, struct node *node, unsigned depth)
{
    AUTO_CLOSE int fd = -1;

    if (node->device->mount >= 0) {
        fd = open_handle(table, split, node);
    } else {
        pthread_mutex_unlock(&node->lock);
        fd = location_open(table, split, node, depth);
        pthread_mutex_lock(&node->lock);
    }
    if (node->descriptor >= 0)
        return 0;
    if (fd < 0)
        return fd;
    descriptor_give(table, node, &fd);
    return 0;
}

int inode_pin_above(struct inode_table *table, struct split *split, struct node *node, unsigned depth,
                    struct pin *ret_pin)
{
    int r = 0;

    pthread_mutex_lock(&node->lock);
    node->pins++;
    if (node->descriptor < 0)
        r = open_again(table, split, node, depth);
    node->recent = true;
    if (r == 0)
        *ret_pin = (struct pin){table, node, node->descriptor};
    pthread_mutex_unlock(&node->lock);
    if (r < 0) {
        struct pin pin = {table, node, -1};

        inode_unpin(&pin);
    }
    return r;
}

int inode_pin(struct inode_table *table, struct split *split, struct node *node, struct pin *ret_pin)
{
    return inode_pin_above(table, split, node, 0, ret_pin);
}

void inode_unpin(struct pin *pin)
{
    struct node *node = pin->node;
    bool free_it;

    if (!node)
        return;
    pthread_mutex_lock(&node->lock);
    free_it = --node->pins == 0 && node->forgotten;
    pthread_mutex_unlock(&node->lock);
    if (free_it)
        node_free(pin->table, node);
    pin->node = NULL;
}

/* openat(2) of a single name that does not enter a mount. The C library has no such function. */
static int openat_same_mount(int directory, const char *name, int flags)
{
    struct open_how how = {.flags = (unsigned)flags, .resolve = RESOLVE_NO_XDEV};

    return (int)syscall(SYS_openat2, directory, name, &how, sizeof(how));
}

int inode_step(struct inode_table *table, struct split *split, int directory, const char *name)
{
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    int fd = LOWER(split, openat_same_mount(directory, name, flags));

    /* EAGAIN: something was mounted or renamed just now. ENOSYS, EPERM: not known here, or not allowed. */
    if (fd == -EMFILE || fd == -ENFILE || fd == -EAGAIN || fd == -ENOSYS || fd == -EPERM)
        return inode_openat(table, split, directory, name, flags, 0);
    return fd;
}

int inode_openat(struct inode_table *table, struct split *split, int directory, const char *name, int flags,
                 mode_t mode)
{
    int fd = LOWER(split, openat(directory, name, flags | O_CLOEXEC, mode));

    if (fd == -EMFILE || fd == -ENFILE) {
        ring_shrink(&table->ring, table->ring.budget / 2, table->ring.budget);
        fd = LOWER(split, openat(directory, name, flags | O_CLOEXEC, mode));
    }
    return fd;
}

void proc_path(int fd, char path[static PROC_PATH_BYTES])
{
    snprintf(path, PROC_PATH_BYTES, "/proc/self/fd/%d", fd);
}

int inode_reopen(struct inode_table *table, struct split *split, int fd, int flags)
{
    char path[PROC_PATH_BYTES];

    proc_path(fd, path);
    return inode_openat(table, split, AT_FDCWD, path, flags, 0);
}
