/* Making things. */
#include "fs/credentials.h"
#include "fs/handlers.h"
#include "fs/policy.h"

/* Hands the directory's codec on to a new file or directory, which the kernel has not been told of yet. */
static int inherit(struct call *call, const struct pin *parent, fuse_ino_t made)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    int r = fs_pin(call, made, &pin);

    if (r == 0)
        policy_inherit(call, parent, pin.node, pin.fd);
    return r;
}

/* Looks up what has just been made and replies it. */
static int reply_made(struct call *call, const struct pin *parent, const char *name)
{
    struct fuse_entry_param entry;
    int r = lookup_child(call, parent, name, &entry);

    if (r < 0)
        return r;
    if (S_ISREG(entry.attr.st_mode) || S_ISDIR(entry.attr.st_mode)) {
        r = inherit(call, parent, entry.ino);
        if (r < 0) {
            lookup_undo(call, &entry);
            return r;
        }
    }
    return lookup_reply(call, &entry);
}

static int pin_parent(struct call *call, fuse_ino_t parent, const char *name, struct pin *ret_pin)
{
    int r = fs_check_name(call->fs, parent, name);

    return r < 0 ? r : fs_pin(call, parent, ret_pin);
}

int handle_mknod(struct call *call, fuse_ino_t parent, const char *name, mode_t mode, dev_t device)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CREDENTIALS struct credentials own = CREDENTIALS_INIT;
    int r = pin_parent(call, parent, name, &pin);

    if (r < 0)
        return r;
    mode = credentials_mode(call, pin.fd, mode);
    r = credentials_switch(call, true, &own);
    if (r == 0)
        r = LOWER(call->split, mknodat(pin.fd, name, mode, device));
    credentials_restore(&own);
    return r < 0 ? r : reply_made(call, &pin, name);
}

int handle_mkdir(struct call *call, fuse_ino_t parent, const char *name, mode_t mode)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CREDENTIALS struct credentials own = CREDENTIALS_INIT;
    int r = pin_parent(call, parent, name, &pin);

    if (r < 0)
        return r;
    mode = credentials_mode(call, pin.fd, mode);
    r = credentials_switch(call, true, &own);
    if (r == 0)
        r = LOWER(call->split, mkdirat(pin.fd, name, mode));
    credentials_restore(&own);
    return r < 0 ? r : reply_made(call, &pin, name);
}

int handle_symlink(struct call *call, const char *target, fuse_ino_t parent, const char *name)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CREDENTIALS struct credentials own = CREDENTIALS_INIT;
    int r = pin_parent(call, parent, name, &pin);

    if (r < 0)
        return r;
    r = credentials_switch(call, true, &own);
    if (r == 0)
        r = LOWER(call->split, symlinkat(target, pin.fd, name));
    credentials_restore(&own);
    return r < 0 ? r : reply_made(call, &pin, name);
}

int handle_link(struct call *call, fuse_ino_t ino, fuse_ino_t new_parent, const char *new_name)
{
    AUTO_UNPIN struct pin from = PIN_INIT;
    AUTO_UNPIN struct pin to = PIN_INIT;
    struct fuse_entry_param entry;
    char path[PROC_PATH_BYTES];
    int r = pin_parent(call, new_parent, new_name, &to);

    if (r == 0)
        r = fs_pin(call, ino, &from);
    if (r < 0)
        return r;
    proc_path(from.fd, path);
    r = LOWER(call->split, linkat(AT_FDCWD, path, to.fd, new_name, AT_SYMLINK_FOLLOW));
    if (r == 0)
        r = lookup_child(call, &to, new_name, &entry);
    return r < 0 ? r : lookup_reply(call, &entry);
}

/* Opens a new file, or one that somebody else made since the kernel looked. The descriptor or -errno. */
static int create_file(struct call *call, int parent, const char *name, mode_t mode, int flags, bool *ret_made)
{
    AUTO_CREDENTIALS struct credentials own = CREDENTIALS_INIT;
    int fd, r;

    mode = credentials_mode(call, parent, mode);
    r = credentials_switch(call, true, &own);
    if (r < 0)
        return r;
    fd = inode_openat(call->fs->inodes, call->split, parent, name, flags | O_CREAT | O_EXCL, mode);
    credentials_restore(&own);
    *ret_made = fd >= 0;
    if (fd != -EEXIST || flags & O_EXCL)
        return fd;
    /* Nobody has checked the caller's permission for that file: the lower file system shall. */
    r = credentials_switch(call, false, &own);
    if (r < 0)
        return r;
    return inode_openat(call->fs->inodes, call->split, parent, name, flags & ~O_CREAT, 0);
}

/* Gives the kernel a file that has just been opened and, if it was `made` for that, has to be told its codec. */
static int reply_created(struct call *call, const struct pin *parent, const char *name, bool made, int *fd,
                         struct fuse_file_info *fi)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct fuse_entry_param entry;
    int r = lookup_open(call, fd, false, parent, name, &entry);

    if (r < 0)
        return r;
    r = fs_pin(call, entry.ino, &pin);
    if (r == 0 && made) {
        policy_inherit(call, parent, pin.node, pin.fd);
        fi->flags &= ~O_TRUNC; /* it is empty */
    }
    if (r == 0)
        r = file_open(call, &pin, fd, fi);
    if (r < 0) {
        lookup_undo(call, &entry);
        return r;
    }
    if (reply_create(call, &entry, fi) < 0) {
        file_close(call, file_of(fi));
        lookup_undo(call, &entry);
    }
    return 0;
}

int handle_create(struct call *call, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CLOSE int fd = -1;
    bool made;
    int r = pin_parent(call, parent, name, &pin);

    if (r < 0)
        return r;
    fd = create_file(call, pin.fd, name, mode, content_lower_flags(fi->flags) | (fi->flags & O_EXCL) | O_NOFOLLOW,
                     &made);
    return fd < 0 ? fd : reply_created(call, &pin, name, made, &fd, fi);
}

#if TALLY_FUSE_HAS_V318
int handle_tmpfile(struct call *call, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CREDENTIALS struct credentials own = CREDENTIALS_INIT;
    AUTO_CLOSE int fd = -1;
    int flags = content_lower_flags(fi->flags) | (fi->flags & O_EXCL);
    int r = fs_pin(call, parent, &pin);

    if (r < 0)
        return r;
    mode = credentials_mode(call, pin.fd, mode);
    r = credentials_switch(call, true, &own);
    if (r < 0)
        return r;
    fd = inode_openat(call->fs->inodes, call->split, pin.fd, ".", flags | O_TMPFILE, mode);
    credentials_restore(&own);
    return fd < 0 ? fd : reply_created(call, &pin, NULL, true, &fd, fi);
}
#endif
