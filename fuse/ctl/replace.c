#include "ctl/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "ctl/kind.h"
#include "ctl/lower.h"

#define NAME_TRIES 16

static int make_name(struct replacement *replacement)
{
    uint64_t random;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return -EAGAIN;
    snprintf(replacement->temporary, sizeof(replacement->temporary), ".tallyctl-convert.%016llx",
             (unsigned long long)random);
    return 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/*
 * A write lease is given only on a file that nobody else has open, and the kernel holds up who opens it later. Not on all
 * file systems, and not to everybody: then the times have to tell.
 */
static int take_lease(struct replacement *replacement)
{
    if (fcntl(replacement->old, F_SETLEASE, F_WRLCK) == 0) {
        replacement->leased = true;
        return 0;
    }
    return errno == EAGAIN || errno == EBUSY ? -EBUSY : 0;
}

static bool lease_holds(const struct replacement *replacement)
{
    return !replacement->leased || fcntl(replacement->old, F_GETLEASE) == F_WRLCK;
}

static int open_new(struct replacement *replacement)
{
    int r;

    replacement->fd = openat(replacement->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (replacement->fd >= 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        return -errno;
    r = make_name(replacement);
    if (r < 0)
        return r;
    replacement->fd = openat(replacement->directory, replacement->temporary,
                             O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (replacement->fd >= 0)
        return 0;
    replacement->temporary[0] = '\0';
    return -errno;
}

int replace_begin(const struct tree_file *file, struct replacement *ret_replacement)
{
    AUTO_REPLACEMENT struct replacement replacement = REPLACEMENT_NONE;
    struct stat named;
    int r;

    replacement.directory = file->directory;
    replacement.name = file->name;
    replacement.old = lower_reopen(*file->fd, O_RDWR | O_NOATIME);
    if (replacement.old == -EPERM)
        replacement.old = lower_reopen(*file->fd, O_RDWR);
    if (replacement.old < 0)
        return replacement.old;
    /* The walk's own descriptor would stand in the way of a lease. */
    close(*file->fd);
    *file->fd = -1;
    r = lower_claim(replacement.old, STORE_CLAIM_WRITE);
    if (r == 0)
        r = take_lease(&replacement);
    if (r < 0)
        return r;
    if (fstat(replacement.old, &replacement.attributes) < 0 ||
        fstatat(replacement.directory, replacement.name, &named, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (!is_same(&named, &replacement.attributes))
        return -ESTALE;
    r = open_new(&replacement);
    if (r < 0)
        return r;
    *ret_replacement = replacement;
    replacement = (struct replacement)REPLACEMENT_NONE;
    return 0;
}

static int give_name(struct replacement *replacement)
{
    char path[32];
    int r = -EEXIST;

    if (replacement->temporary[0])
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", replacement->fd);
    for (unsigned tries = 0; tries < NAME_TRIES && r == -EEXIST; tries++) {
        r = make_name(replacement);
        if (r == 0 && linkat(AT_FDCWD, path, replacement->directory, replacement->temporary,
                             AT_SYMLINK_FOLLOW) < 0)
            r = -errno;
    }
    if (r < 0)
        replacement->temporary[0] = '\0';
    return r;
}

static int exchange(const struct replacement *replacement)
{
    return renameat2(replacement->directory, replacement->temporary, replacement->directory,
                     replacement->name, RENAME_EXCHANGE) < 0
               ? -errno
               : 0;
}

/* The old file as it was, and under which name it is now. The change time moves by the exchange itself. */
static bool is_unchanged(const struct replacement *replacement, const char *name)
{
    const struct stat *before = &replacement->attributes;
    struct stat now, named;

    if (fstat(replacement->old, &now) < 0 ||
        fstatat(replacement->directory, name, &named, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    return is_same(&named, before) && now.st_size == before->st_size &&
           now.st_mode == before->st_mode && now.st_uid == before->st_uid &&
           now.st_gid == before->st_gid && now.st_nlink == before->st_nlink &&
           is_same_time(now.st_mtim, before->st_mtim) && lease_holds(replacement);
}

/* Where names cannot be exchanged there is a moment in which a change of the old file would not be seen. */
static int rename_over(const struct replacement *replacement)
{
    if (!is_unchanged(replacement, replacement->name))
        return -EBUSY;
    return renameat(replacement->directory, replacement->temporary, replacement->directory,
                    replacement->name) < 0
               ? -errno
               : 0;
}

int replace_commit(struct replacement *replacement)
{
    int r = fsync(replacement->fd) < 0 ? -errno : give_name(replacement);

    if (r < 0)
        return r;
    r = exchange(replacement);
    if (r == -EINVAL || r == -ENOSYS) {
        r = rename_over(replacement);
        if (r == 0)
            replacement->temporary[0] = '\0';
    } else if (r == 0 && !is_unchanged(replacement, replacement->temporary)) {
        r = exchange(replacement);
        return r < 0 ? r : -EBUSY;
    }
    if (r < 0)
        return r;
    /* The new name is on the medium before the old file goes. */
    if (fsync(replacement->directory) < 0)
        r = -errno;
    return r;
}

void replace_end(struct replacement *replacement)
{
    if (replacement->temporary[0])
        (void)unlinkat(replacement->directory, replacement->temporary, 0);
    if (replacement->fd >= 0)
        close(replacement->fd);
    if (replacement->old >= 0)
        close(replacement->old);
    *replacement = (struct replacement)REPLACEMENT_NONE;
}
