/* Extended attributes: the lower file's, passed on, and tallyfs' own in place of those that are kept below. */
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>

#include "fs/control.h"
#include "fs/handlers.h"
#include "fs/policy.h"

/* Linux' XATTR_SIZE_MAX and XATTR_LIST_MAX. */
#define VALUE_BYTES_MAX 65536

/* Answers a request for at most `size` bytes, where 0 asks how many there are. */
static int reply_value(struct call *call, size_t size, const void *value, size_t length)
{
    if (size == 0)
        reply_xattr_size(call, length);
    else if (length > size)
        return -ERANGE;
    else
        reply_xattr_value(call, value, length);
    return 0;
}

/* Counters grow between the question for their size and the question for them. */
static size_t with_room(size_t length)
{
    size_t room = length + length / 4 + 256;

    return room < VALUE_BYTES_MAX ? room : VALUE_BYTES_MAX;
}

static int get_own(struct call *call, fuse_ino_t ino, const char *name, size_t size)
{
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    int r = control_get(call, ino, name, &value);

    return r < 0 ? r : reply_value(call, size, value.data, size == 0 ? with_room(value.length) : value.length);
}

int handle_getxattr(struct call *call, fuse_ino_t ino, const char *name, size_t size)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_FREE char *value = NULL;
    char path[PROC_PATH_BYTES];
    ssize_t length;
    int r;

    if (control_owns(name))
        return get_own(call, ino, name, size);
    if (ino == CONTROL_INO)
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
    return length < 0 ? (int)length : reply_value(call, size, value, (size_t)length);
}

/* The node is held since closing its store file gives back what an ACL or a capability changes. */
static int set_on_lower(struct call *call, const struct pin *pin, const char *name, const char *value, size_t size,
                        int flags)
{
    char path[PROC_PATH_BYTES];
    int r = 0;

    proc_path(pin->fd, path);
    content_hold(pin->node);
    /* A capability goes with the next write to the lower file; what programs wrote before it must not take it along. */
    if (strcmp(name, "security.capability") == 0)
        r = content_settle(call, pin->node);
    if (r == 0)
        r = LOWER(call->split, setxattr(path, name, value, size, flags));
    content_let_go(pin->node);
    return r;
}

static int remove_on_lower(struct call *call, const struct pin *pin, const char *name)
{
    char path[PROC_PATH_BYTES];
    int r;

    proc_path(pin->fd, path);
    content_hold(pin->node);
    r = LOWER(call->split, removexattr(path, name));
    content_let_go(pin->node);
    return r;
}

int handle_setxattr(struct call *call, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    int r;

    if (control_owns(name)) {
        r = control_set(call, ino, name, value, size, flags);
    } else {
        r = fs_pin(call, ino, &pin);
        if (r == 0)
            r = set_on_lower(call, &pin, name, value, size, flags);
    }
    if (r == 0)
        reply_done(call);
    return r;
}

int handle_removexattr(struct call *call, fuse_ino_t ino, const char *name)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    int r;

    if (control_owns(name)) {
        r = control_remove(call, ino, name);
    } else {
        r = fs_pin(call, ino, &pin);
        if (r == 0)
            r = remove_on_lower(call, &pin, name);
    }
    if (r == 0)
        reply_done(call);
    return r;
}

/* The lower file's names without those that tallyfs keeps there for itself. */
static int list_lower(struct call *call, fuse_ino_t ino, struct strbuf *names)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_FREE char *all = malloc(VALUE_BYTES_MAX);
    char path[PROC_PATH_BYTES];
    ssize_t length;
    int r;

    if (!all)
        return -ENOMEM;
    r = fs_pin(call, ino, &pin);
    if (r < 0)
        return r;
    proc_path(pin.fd, path);
    length = LOWER(call->split, listxattr(path, all, VALUE_BYTES_MAX));
    if (length < 0)
        return (int)length;
    for (const char *name = all; name < all + length; name += strlen(name) + 1) {
        if (!control_owns(name) || strcmp(name, POLICY_ATTRIBUTE) == 0)
            strbuf_add(names, name, strlen(name) + 1);
    }
    return 0;
}

int handle_listxattr(struct call *call, fuse_ino_t ino, size_t size)
{
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    int r = 0;

    if (ino == CONTROL_INO)
        control_list(call, &names);
    else
        r = list_lower(call, ino, &names);
    if (r == 0 && names.failed)
        r = -ENOMEM;
    return r < 0 ? r : reply_value(call, size, names.data, names.length);
}
