#include "place.h"

#include <errno.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "util/cleanup.h"

static int resolve_directory(const char *path, const char *what, const struct log *log, char **ret_absolute)
{
    AUTO_FREE char *absolute = realpath(path, NULL);
    struct stat attributes;
    struct statvfs space;

    /* The attributes of a mount that has died may still be in the kernel's cache; space is always asked for. */
    if (!absolute || stat(absolute, &attributes) < 0 || statvfs(absolute, &space) < 0) {
        int r = -errno;

        if (r == -ENOTCONN)
            log_error(log, "%s: the file system that was mounted here has died; unmount it with \"fusermount3 -u\"",
                      path);
        else
            log_error(log, "%s: %s: %s", path, what, strerror(-r));
        return r;
    }
    if (!S_ISDIR(attributes.st_mode)) {
        log_error(log, "%s: %s: not a directory", path, what);
        return -ENOTDIR;
    }
    *ret_absolute = TAKE_POINTER(absolute);
    return 0;
}

bool place_has_tallyfs(const char *mountpoint)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    struct mntent *entry;
    bool found = false;

    if (!mounts)
        return false;
    while ((entry = getmntent(mounts)) != NULL) {
        if (strcmp(entry->mnt_dir, mountpoint) == 0)
            found = strcmp(entry->mnt_type, "fuse.tallyfs") == 0;
    }
    endmntent(mounts);
    return found;
}

static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    if (strcmp(directory, "/") == 0)
        return path[1] != '\0';
    return strncmp(path, directory, length) == 0 && path[length] == '/';
}

static int check_device(const struct log *log)
{
    int r = access("/dev/fuse", R_OK | W_OK) < 0 ? -errno : 0;

    if (r == -ENOENT || r == -ENODEV || r == -ENXIO)
        log_error(log, "/dev/fuse: %s; is the kernel's fuse module loaded?", strerror(-r));
    else if (r < 0)
        log_error(log, "/dev/fuse: %s; mounting needs the right to open it", strerror(-r));
    return r;
}

int place_resolve(const char *lower, const char *mountpoint, const struct log *log, struct place *place)
{
    int r = resolve_directory(lower, "lower directory", log, &place->lower);

    if (r == 0)
        r = resolve_directory(mountpoint, "mountpoint", log, &place->mountpoint);
    if (r == 0)
        r = check_device(log);
    if (r < 0)
        return r;
    /* A second tallyfs over the first would hide it; others may be meant. */
    if (place_has_tallyfs(place->mountpoint)) {
        log_error(log, "%s: a tallyfs is already mounted here", mountpoint);
        return -EBUSY;
    }
    if (is_below(place->mountpoint, place->lower)) {
        log_error(log, "%s: mountpoint: lies inside the lower directory %s, so the mount would contain itself",
                  mountpoint, lower);
        return -EINVAL;
    }
    return 0;
}

void place_free(struct place *place)
{
    free(place->lower);
    free(place->mountpoint);
}
