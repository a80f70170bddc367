#include "ctl/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/xattr.h>

#include "store/check.h"
#include "store/store.h"

int lower_kind(int fd, const struct stat *attributes, enum lower_kind *ret_kind)
{
    struct store_probe probe;
    int r;

    *ret_kind = LOWER_PLAIN;
    if (fgetxattr(fd, LOWER_PLAIN_MARK, NULL, 0) >= 0)
        return 0;
    r = store_probe(fd, NULL, attributes, &probe);
    if (r == -EIO || r == -EPROTONOSUPPORT || (r == 0 && probe.is_container)) {
        *ret_kind = LOWER_STORED;
        return 0;
    }
    if (r < 0)
        return r;
    r = store_check_is_disguised(fd, attributes);
    if (r > 0)
        *ret_kind = LOWER_DISGUISED;
    return r < 0 ? r : 0;
}

int lower_reopen(int fd, int flags)
{
    char path[32];
    int opened;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    opened = open(path, flags | O_CLOEXEC | O_NOCTTY);
    return opened < 0 ? -errno : opened;
}
