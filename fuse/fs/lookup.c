/* Names to inodes. */
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "fs/control.h"
#include "fs/handlers.h"
#include "fs/path.h"

int fs_pin(struct call *call, fuse_ino_t ino, struct pin *ret_pin)
{
    if (ino == CONTROL_INO)
        return -EPERM;
    return inode_pin(call->fs->inodes, call->split, fs_node(call->fs, ino), ret_pin);
}

bool fs_is_control(const struct fs *fs, fuse_ino_t parent, const char *name)
{
    return parent == FUSE_ROOT_ID && strcmp(name, fs->control) == 0;
}

/* What leads out of the directory, or further than one step, never reaches the lower file system. */
static bool is_single_name(const char *name)
{
    return name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

int fs_check_name(const struct fs *fs, fuse_ino_t parent, const char *name)
{
    if (!is_single_name(name))
        return -EINVAL;
    return fs_is_control(fs, parent, name) ? -EPERM : 0;
}

int lookup_open(struct call *call, int *fd, bool is_path, const struct pin *parent, const char *name,
                struct fuse_entry_param *ret_entry)
{
    struct fs *fs = call->fs;
    struct stat attributes;
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct node *node;
    int r = LOWER(call->split, fstatat(*fd, "", &attributes, AT_EMPTY_PATH));

    if (r < 0)
        return r;
    r = inode_acquire(fs->inodes, call->split, fd, is_path, &attributes, parent->node, name, &node);
    if (r < 0)
        return r;
    if (fs->trees)
        node->place = trees_below(fs->trees, parent->node->place, name, S_ISDIR(attributes.st_mode));
    r = inode_pin(fs->inodes, call->split, node, &pin);
    if (r == 0)
        r = attributes_present(call, node, pin.fd, &attributes);
    if (r < 0) {
        inode_forget(fs->inodes, node, 1);
        return r;
    }
    *ret_entry = (struct fuse_entry_param){
        .ino = fs_ino(fs, node),
        .generation = node->generation,
        .attr = attributes,
        .attr_timeout = attributes_timeout_s(call, &attributes),
        .entry_timeout = fs->entry_timeout_s,
    };
    return 0;
}

/*
 * What is mounted on a name below LOWER, unless it is this mount itself: every step into it would ask us again, and
 * there is no end to that. The kernel knows a mount's device without asking.
 */
static int enter_mount(struct call *call, int parent_fd, const char *name)
{
    AUTO_CLOSE int fd = inode_openat(call->fs->inodes, call->split, parent_fd, name, O_PATH | O_NOFOLLOW, 0);
    struct statx attributes;
    int r;

    if (fd < 0)
        return fd;
    r = LOWER(call->split, statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &attributes));
    if (r == 0 && makedev(attributes.stx_dev_major, attributes.stx_dev_minor) == call->fs->device)
        r = -ELOOP;
    return r < 0 ? r : take_fd(&fd);
}

int lookup_child(struct call *call, const struct pin *parent, const char *name, struct fuse_entry_param *ret_entry)
{
    AUTO_CLOSE int fd = inode_step(call->fs->inodes, call->split, parent->fd, name);

    if (fd == -EXDEV)
        fd = enter_mount(call, parent->fd, name);
    return fd < 0 ? fd : lookup_open(call, &fd, true, parent, name, ret_entry);
}

static void lookup_forget(struct call *call, fuse_ino_t ino, uint64_t lookups)
{
    if (ino == CONTROL_INO)
        return;
    path_keep(call->fs, call->split, fs_node(call->fs, ino));
    inode_forget(call->fs->inodes, fs_node(call->fs, ino), lookups);
}

void lookup_undo(struct call *call, const struct fuse_entry_param *entry)
{
    lookup_forget(call, entry->ino, 1);
}

int lookup_reply(struct call *call, const struct fuse_entry_param *entry)
{
    if (reply_entry(call, entry) < 0)
        lookup_undo(call, entry);
    return 0;
}

int handle_lookup(struct call *call, fuse_ino_t parent, const char *name)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct fuse_entry_param entry;
    int r;

    if (!is_single_name(name))
        return -EINVAL;
    if (fs_is_control(call->fs, parent, name)) {
        control_entry(call->fs, &entry);
        return lookup_reply(call, &entry);
    }
    r = fs_pin(call, parent, &pin);
    if (r == 0)
        r = lookup_child(call, &pin, name, &entry);
    return r < 0 ? r : lookup_reply(call, &entry);
}

int handle_forget(struct call *call, fuse_ino_t ino, uint64_t lookups)
{
    call->fs->room.closing++;
    lookup_forget(call, ino, lookups);
    call->fs->room.closing--;
    reply_none(call);
    return 0;
}

int handle_forget_multi(struct call *call, size_t count, struct fuse_forget_data *forgets)
{
    call->fs->room.closing++;
    for (size_t i = 0; i < count; i++)
        lookup_forget(call, forgets[i].ino, forgets[i].nlookup);
    call->fs->room.closing--;
    reply_none(call);
    return 0;
}

int handle_readlink(struct call *call, fuse_ino_t ino)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    char target[PATH_MAX + 1];
    ssize_t length;
    int r = fs_pin(call, ino, &pin);

    if (r < 0)
        return r;
    length = LOWER(call->split, readlinkat(pin.fd, "", target, sizeof(target)));
    if (length < 0)
        return (int)length;
    if ((size_t)length == sizeof(target))
        return -ENAMETOOLONG;
    target[length] = '\0';
    reply_link(call, target);
    return 0;
}
