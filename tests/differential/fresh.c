#include "fresh.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "listing.h"
#include "util/cleanup.h"
#include "view.h"

static int make_directory(const char *root, const char *name)
{
    char path[VIEW_PATH_BYTES];

    snprintf(path, sizeof(path), "%s%s", root, name);
    return mkdir(path, 0777) < 0 || chmod(path, 0777) < 0 ? -errno : 0;
}

int fresh_make(const char *root, unsigned threads)
{
    char path[VIEW_PATH_BYTES];
    AUTO_CLOSE int fd = -1;
    int r = make_directory(root, "");

    if (r == 0)
        r = make_directory(root, "/shared");
    for (unsigned thread = 0; thread < threads && r == 0; thread++) {
        static const char *const names[] = {"", "/w", "/o"};

        for (unsigned i = 0; i < 3 && r == 0; i++) {
            snprintf(path, sizeof(path), "/%u%s", thread, names[i]);
            r = make_directory(root, path);
        }
    }
    if (r < 0)
        return r;
    snprintf(path, sizeof(path), "%s/shared/common", root);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 || fchmod(fd, 0666) < 0 || ftruncate(fd, (off_t)threads * SHARED_PART_BYTES) < 0)
        return -errno;
    return 0;
}

static void make_removable(int directory, const char *name)
{
    AUTO_CLOSE int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int flags;

    if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 &&
        flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)) {
        flags &= ~(FS_IMMUTABLE_FL | FS_APPEND_FL);
        ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
}

static int remove_in(int parent, const char *name)
{
    AUTO_LISTING struct listing listing = {.entries = NULL};
    AUTO_CLOSE int fd = -1;
    int r = 0;

    if (unlinkat(parent, name, 0) == 0)
        return 0;
    if (errno == EPERM)
        make_removable(parent, name);
    if (unlinkat(parent, name, 0) == 0)
        return 0;
    if (errno != EISDIR)
        return -errno;
    if (geteuid() != 0)
        fchmodat(parent, name, 0700, 0);
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    make_removable(fd, ".");
    r = listing_read(fd, LISTING_BUFFER_BYTES, &listing);
    for (size_t i = 0; i < listing.count && r == 0; i++) {
        if (strcmp(listing.entries[i].name, ".") != 0 && strcmp(listing.entries[i].name, "..") != 0)
            r = remove_in(fd, listing.entries[i].name);
    }
    if (r == 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0)
        r = -errno;
    return r;
}

int fresh_remove(const char *root)
{
    return remove_in(AT_FDCWD, root);
}
