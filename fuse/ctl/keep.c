#include "ctl/keep.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

#include "ctl/kind.h"
#include "util/cleanup.h"

#define CAPABILITY "security.capability"

/* What chattr(1) sets and a new file does not get by itself; not what describes how the file system keeps it. */
#define FLAGS_KEPT                                                                                 \
    (FS_NODUMP_FL | FS_NOATIME_FL | FS_SYNC_FL | FS_NOCOW_FL | FS_COMPR_FL | FS_NOCOMP_FL)

static int set_times(int fd, const struct stat *attributes)
{
    const struct timespec times[2] = {attributes->st_atim, attributes->st_mtim};

    return futimens(fd, times) < 0 ? -errno : 0;
}

int keep_take(int fd, struct kept *ret_kept)
{
    struct kept kept;

    if (fstat(fd, &kept.attributes) < 0)
        return -errno;
    kept.capability_size = fgetxattr(fd, CAPABILITY, kept.capability, sizeof(kept.capability));
    *ret_kept = kept;
    return 0;
}

int keep_give_back(int fd, const struct kept *kept)
{
    struct stat now;
    int r = 0, s;

    if (fstat(fd, &now) < 0)
        return -errno;
    if (now.st_mode != kept->attributes.st_mode && fchmod(fd, kept->attributes.st_mode & 07777) < 0)
        r = -errno;
    if (kept->capability_size > 0 && fgetxattr(fd, CAPABILITY, NULL, 0) < 0 &&
        fsetxattr(fd, CAPABILITY, kept->capability, (size_t)kept->capability_size, 0) < 0)
        r = -errno;
    s = set_times(fd, &kept->attributes);
    return r < 0 ? r : s;
}

static int copy_xattr(int from, int to, const char *name, char *value)
{
    ssize_t size = fgetxattr(from, name, value, XATTR_SIZE_MAX);

    if (size < 0)
        return errno == ENODATA ? 0 : -errno;
    return fsetxattr(to, name, value, (size_t)size, 0) < 0 ? -errno : 0;
}

static int copy_xattrs(int from, int to)
{
    AUTO_FREE char *names = malloc(XATTR_LIST_MAX), *value = malloc(XATTR_SIZE_MAX);
    ssize_t size;

    if (!names || !value)
        return -ENOMEM;
    size = flistxattr(from, names, XATTR_LIST_MAX);
    if (size < 0)
        return errno == EOPNOTSUPP ? 0 : -errno;
    for (const char *name = names; name < names + size; name += strlen(name) + 1) {
        int r = strcmp(name, LOWER_PLAIN_MARK) == 0 ? 0 : copy_xattr(from, to, name, value);

        if (r < 0)
            return r;
    }
    return 0;
}

/* Where there are such flags at all. */
static void copy_flags(int from, int to)
{
    int wanted, flags;

    if (ioctl(from, FS_IOC_GETFLAGS, &wanted) < 0 || ioctl(to, FS_IOC_GETFLAGS, &flags) < 0)
        return;
    wanted = (flags & ~FLAGS_KEPT) | (wanted & FLAGS_KEPT);
    if (wanted != flags)
        (void)ioctl(to, FS_IOC_SETFLAGS, &wanted);
}

int keep_copy(int from, int to)
{
    struct stat attributes, now;
    int r;

    if (fstat(from, &attributes) < 0 || fstat(to, &now) < 0)
        return -errno;
    copy_flags(from, to);
    if ((now.st_uid != attributes.st_uid || now.st_gid != attributes.st_gid) &&
        fchown(to, attributes.st_uid, attributes.st_gid) < 0)
        return -errno;
    r = copy_xattrs(from, to);
    /* After the ACL, whose mask it is, and after chown, which takes set-id bits away. */
    if (r == 0 && fchmod(to, attributes.st_mode & 07777) < 0)
        r = -errno;
    return r < 0 ? r : set_times(to, &attributes);
}
