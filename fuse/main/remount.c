#include "remount.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "place.h"

struct flag {
    const char *name;
    unsigned long set;
    unsigned long clear;
};

/* The later of two options counts, as for mount(8). */
static const struct flag flags[] = {
    {"ro", MS_RDONLY, 0},
    {"rw", 0, MS_RDONLY},
    {"nosuid", MS_NOSUID, 0},
    {"suid", 0, MS_NOSUID},
    {"nodev", MS_NODEV, 0},
    {"dev", 0, MS_NODEV},
    {"noexec", MS_NOEXEC, 0},
    {"exec", 0, MS_NOEXEC},
    {"sync", MS_SYNCHRONOUS, 0},
    {"async", 0, MS_SYNCHRONOUS},
    {"noatime", MS_NOATIME, MS_RELATIME},
    {"atime", 0, MS_NOATIME},
    {"relatime", MS_RELATIME, MS_NOATIME},
    {"norelatime", 0, MS_RELATIME},
    {"nodiratime", MS_NODIRATIME, 0},
    {"diratime", 0, MS_NODIRATIME},
};

void remount_note(struct remount *remount, const char *option)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(option, flags[i].name) == 0) {
            remount->set = (remount->set & ~flags[i].clear) | flags[i].set;
            remount->clear = (remount->clear & ~flags[i].set) | flags[i].clear;
        }
    }
}

static unsigned long current_flags(const struct statvfs *space)
{
    static const struct {
        unsigned long of_statvfs, of_mount;
    } pairs[] = {
        {ST_RDONLY, MS_RDONLY},   {ST_NOSUID, MS_NOSUID},           {ST_NODEV, MS_NODEV},
        {ST_NOEXEC, MS_NOEXEC},   {ST_SYNCHRONOUS, MS_SYNCHRONOUS}, {ST_NOATIME, MS_NOATIME},
        {ST_RELATIME, MS_RELATIME}, {ST_NODIRATIME, MS_NODIRATIME},
    };
    unsigned long found = 0;

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (space->f_flag & pairs[i].of_statvfs)
            found |= pairs[i].of_mount;
    return found;
}

int remount_do(const struct remount *remount, const char *mountpoint, const struct log *log)
{
    struct statvfs space;
    unsigned long wanted;
    int r = 0;

    if (!place_has_tallyfs(mountpoint)) {
        log_error(log, "%s: cannot remount: no tallyfs is mounted here", mountpoint);
        return -EINVAL;
    }
    if (statvfs(mountpoint, &space) < 0)
        r = -errno;
    if (r == 0) {
        wanted = (current_flags(&space) & ~remount->clear) | remount->set;
        if (mount("none", mountpoint, NULL, MS_REMOUNT | wanted, NULL) < 0)
            r = -errno;
    }
    if (r < 0)
        log_error(log, "%s: cannot remount: %s", mountpoint, strerror(-r));
    return r;
}
