#include "fs/location.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "util/cleanup.h"

/* Directories above one another without a descriptor. More is a circle of stale locations, or nearly so. */
#define DEPTH_MAX 2000

struct location {
    struct node *parent; /* one lookup of it is ours */
    char name[];
};

void location_set(struct inode_table *table, struct node *node, struct node *parent, const char *name)
{
    struct location *before, *location;

    pthread_mutex_lock(&table->location_lock);
    before = node->location;
    if (before && before->parent == parent && strcmp(before->name, name) == 0) {
        pthread_mutex_unlock(&table->location_lock);
        return;
    }
    location = malloc(sizeof(*location) + strlen(name) + 1);
    if (location) {
        location->parent = parent;
        strcpy(location->name, name);
        inode_hold(table, parent);
    }
    node->location = location;
    pthread_mutex_unlock(&table->location_lock);
    if (before)
        inode_forget(table, before->parent, 1);
    free(before);
}

void location_drop(struct inode_table *table, struct node *node)
{
    struct location *location = node->location;

    node->location = NULL;
    if (location)
        inode_forget(table, location->parent, 1);
    free(location);
}

/* A copy of where the node is; the parent's lookup count is one more. False when that is not known. */
static bool copy_location(struct inode_table *table, struct node *node, struct node **ret_parent,
                          char ret_name[static NAME_MAX + 1])
{
    struct location *location;

    pthread_mutex_lock(&table->location_lock);
    location = node->location;
    if (location) {
        *ret_parent = location->parent;
        memcpy(ret_name, location->name, strlen(location->name) + 1);
        inode_hold(table, location->parent);
    }
    pthread_mutex_unlock(&table->location_lock);
    return location != NULL;
}

static bool is_same(struct split *split, const struct node *node, int fd)
{
    union handle_buffer handle;
    struct stat attributes;

    return LOWER(split, fstatat(fd, "", &attributes, AT_EMPTY_PATH)) == 0 &&
           attributes.st_dev == node->device->number && fhandle_get(split, fd, &handle) == 0 &&
           fhandle_equal(&handle.handle, &node->handle);
}

int location_open(struct inode_table *table, struct split *split, struct node *node, unsigned depth)
{
    struct pin pin = PIN_INIT;
    char name[NAME_MAX + 1];
    struct node *parent;
    AUTO_CLOSE int fd = -1;
    int r;

    if (depth > DEPTH_MAX || !copy_location(table, node, &parent, name))
        return -ESTALE;
    r = inode_pin_above(table, split, parent, depth + 1, &pin);
    if (r == 0) {
        fd = inode_openat(table, split, pin.fd, name, O_PATH | O_NOFOLLOW, 0);
        r = fd < 0 ? fd : 0;
        inode_unpin(&pin);
    }
    inode_forget(table, parent, 1);
    if (r == 0 && !is_same(split, node, fd))
        r = -ESTALE;
    if (r < 0)
        return r == -ENOENT || r == -ENOTDIR ? -ESTALE : r;
    return take_fd(&fd);
}
