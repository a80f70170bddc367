#include "ctl/mount.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "tally/stats.h"
#include "util/cleanup.h"

/* Linux' XATTR_SIZE_MAX: all that a value can be, so that it is read in one call, which is counted, too. */
#define VALUE_BYTES_MAX 65536
#define NAME_BYTES_MAX 256

int mount_get(const char *path, const char *name, char **ret_value)
{
    AUTO_FREE char *value = malloc(VALUE_BYTES_MAX + 1);
    char full[NAME_BYTES_MAX];
    ssize_t length;

    if (!value)
        return -ENOMEM;
    snprintf(full, sizeof(full), TALLY_XATTR_PREFIX "%s", name);
    length = getxattr(path, full, value, VALUE_BYTES_MAX);
    if (length < 0)
        return -errno;
    value[length] = '\0';
    *ret_value = TAKE_POINTER(value);
    return 0;
}

int mount_command(const char *path, const char *name)
{
    char full[NAME_BYTES_MAX];

    snprintf(full, sizeof(full), TALLY_XATTR_PREFIX "%s", name);
    return setxattr(path, full, "1", 1, 0) == 0 ? 0 : -errno;
}

const char *mount_problem(const char *path)
{
    AUTO_FREE char *version = NULL;
    int r = mount_get(path, "version", &version);

    if (r == 0)
        return NULL;
    return r == -ENODATA || r == -EOPNOTSUPP ? "not a tallyfs mount" : strerrordesc_np(-r);
}
