/* File flags, the one thing that programs ask of regular files by ioctl(2). */
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>

#include "fs/handlers.h"

static bool is_file_flags(unsigned command)
{
    return command == FS_IOC_GETFLAGS || command == FS_IOC_SETFLAGS || command == FS_IOC_FSGETXATTR ||
           command == FS_IOC_FSSETXATTR || command == FS_IOC_GETVERSION;
}

int handle_ioctl(struct call *call, fuse_ino_t ino, unsigned int command, void *argument, struct fuse_file_info *fi,
                 unsigned int flags, const void *in, size_t in_size, size_t out_size)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CLOSE int fd = -1;
    union {
        struct fsxattr extended;
        long flags;
    } value = {.flags = 0};
    int r;

    (void)argument;
    (void)fi;
    if (!is_file_flags(command) || flags & FUSE_IOCTL_COMPAT || in_size > sizeof(value) || out_size > sizeof(value))
        return -ENOTTY;
    r = fs_pin(call, ino, &pin);
    if (r < 0)
        return r == -EPERM ? -ENOTTY : r;
    fd = inode_reopen(call->fs->inodes, call->split, pin.fd, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return fd;
    if (in_size > 0)
        memcpy(&value, in, in_size);
    r = LOWER(call->split, ioctl(fd, command, &value));
    if (r < 0)
        return r;
    /* The kernel keeps attributes over an ioctl, but ctime has moved. */
    if (command == FS_IOC_SETFLAGS || command == FS_IOC_FSSETXATTR)
        fuse_lowlevel_notify_inval_inode(call->fs->session, ino, -1, 0);
    reply_ioctl(call, r, &value, out_size);
    return 0;
}
