/* Extended attributes: the lower file's, passed on. */
#include <string.h>
#include <sys/xattr.h>

#include "fs/handlers.h"

static bool is_own(const char *name)
{
    return strncmp(name, TALLY_XATTR_PREFIX, strlen(TALLY_XATTR_PREFIX)) == 0;
}

int handle_setxattr(struct call *call, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    char path[PROC_PATH_BYTES];
    int r;

    if (is_own(name))
        return -EPERM;
    r = fs_pin(call, ino, &pin);
    if (r < 0)
        return r;
    proc_path(pin.fd, path);
    r = LOWER(call->split, setxattr(path, name, value, size, flags));
    if (r == 0)
        reply_done(call);
    return r;
}

/* Answers a request for `size` bytes, 0 asking for how many there are, by the getter's calls. */
int handle_getxattr(struct call *call, fuse_ino_t ino, const char *name, size_t size)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_FREE char *value = NULL;
    char path[PROC_PATH_BYTES];
    ssize_t length;
    int r;

    if (is_own(name) || ino == CONTROL_INO)
        return -ENODATA;
    r = fs_pin(call, ino, &pin);
    if (r < 0)
        return r;
    if (size > 0) {
        value = malloc(size);
        if (!value)
            return -ENOMEM;
    }
    proc_path(pin.fd, path);
    length = LOWER(call->split, getxattr(path, name, value, size));
    if (length < 0)
        return (int)length;
    if (size > 0)
        reply_xattr_value(call, value, (size_t)length);
    else
        reply_xattr_size(call, (size_t)length);
    return 0;
}

int handle_listxattr(struct call *call, fuse_ino_t ino, size_t size)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_FREE char *names = NULL;
    char path[PROC_PATH_BYTES];
    ssize_t length;
    int r;

    r = fs_pin(call, ino, &pin);
    if (r < 0)
        return r;
    if (size > 0) {
        names = malloc(size);
        if (!names)
            return -ENOMEM;
    }
    proc_path(pin.fd, path);
    length = LOWER(call->split, listxattr(path, names, size));
    if (length < 0)
        return (int)length;
    if (size > 0)
        reply_xattr_value(call, names, (size_t)length);
    else
        reply_xattr_size(call, (size_t)length);
    return 0;
}

int handle_removexattr(struct call *call, fuse_ino_t ino, const char *name)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    char path[PROC_PATH_BYTES];
    int r;

    if (is_own(name))
        return -EPERM;
    r = fs_pin(call, ino, &pin);
    if (r < 0)
        return r;
    proc_path(pin.fd, path);
    r = LOWER(call->split, removexattr(path, name));
    if (r == 0)
        reply_done(call);
    return r;
}
