#include "ctl/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ctl/queue.h"
#include "util/cleanup.h"

struct walk {
    struct job *job;
    struct queue *queue;
    dev_t device;
    void *seen; /* of files with several names, a search tree of struct identity */
};

struct identity {
    dev_t device;
    ino_t inode;
};

static int compare_identities(const void *left, const void *right)
{
    const struct identity *a = left, *b = right;

    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->inode > b->inode) - (a->inode < b->inode);
}

/* Whether the file was met under another name; -ENOMEM. */
static int was_seen(struct walk *walk, const struct stat *attributes)
{
    struct identity *identity, **found;

    if (attributes->st_nlink < 2)
        return 0;
    identity = malloc(sizeof(*identity));
    if (!identity)
        return -ENOMEM;
    *identity = (struct identity){attributes->st_dev, attributes->st_ino};
    found = tsearch(identity, &walk->seen, compare_identities);
    if (found && *found == identity)
        return 0;
    free(identity);
    return found ? 1 : -ENOMEM;
}

static char *join(const char *directory, const char *name)
{
    char *path;

    return asprintf(&path, "%s%s%s", directory, strcmp(directory, "/") == 0 ? "" : "/", name) < 0
               ? NULL
               : path;
}

/* Reading must not show in the access time, where the file is ours. */
static int open_file(int directory, const char *name)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd = openat(directory, name, flags | O_NOATIME);

    return fd < 0 && errno == EPERM ? openat(directory, name, flags) : fd;
}

/* Takes the path. */
static void add_file(struct walk *walk, int directory, const char *name, char *path)
{
    AUTO_FREE char *owned = path, *name_copy = strdup(name);
    AUTO_CLOSE int fd = open_file(directory, name);
    AUTO_CLOSE int copy = -1;
    struct stat attributes;
    int r;

    if (fd < 0 || fstat(fd, &attributes) < 0) {
        job_fail(walk->job, "%s: %s", path, strerrordesc_np(errno));
        return;
    }
    if (!S_ISREG(attributes.st_mode))
        return; /* it was one a moment ago */
    r = was_seen(walk, &attributes);
    if (r > 0)
        return;
    copy = fcntl(directory, F_DUPFD_CLOEXEC, 0);
    if (r < 0 || copy < 0 || !name_copy) {
        job_fail(walk->job, "%s: %s", path, strerrordesc_np(r < 0 ? -r : errno));
        return;
    }
    queue_add(walk->queue, TAKE_POINTER(owned), TAKE_POINTER(name_copy), copy, fd, &attributes);
    take_fd(&copy);
    take_fd(&fd);
}

static void walk_directory(struct walk *walk, int fd, const char *path);

static void walk_entry(struct walk *walk, int directory, const char *directory_path,
                       const char *name)
{
    AUTO_FREE char *path = join(directory_path, name);
    struct stat attributes;

    if (!path) {
        job_fail(walk->job, "%s: %s", directory_path, strerrordesc_np(ENOMEM));
        return;
    }
    if (fstatat(directory, name, &attributes, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT)
            job_fail(walk->job, "%s: %s", path, strerrordesc_np(errno));
        return;
    }
    if (S_ISREG(attributes.st_mode)) {
        add_file(walk, directory, name, TAKE_POINTER(path));
    } else if (S_ISDIR(attributes.st_mode)) {
        int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

        if (fd < 0 || fstat(fd, &attributes) < 0) {
            job_fail(walk->job, "%s: %s", path, strerrordesc_np(errno));
            if (fd >= 0)
                close(fd);
        } else if (attributes.st_dev != walk->device) {
            job_note(walk->job, "%s: on another file system, not entered", path);
            close(fd);
        } else {
            walk_directory(walk, fd, path);
        }
    }
}

/* Takes the descriptor. */
static void walk_directory(struct walk *walk, int fd, const char *path)
{
    DIR *directory = fdopendir(fd);
    const struct dirent *entry;

    if (!directory) {
        job_fail(walk->job, "%s: %s", path, strerrordesc_np(errno));
        close(fd);
        return;
    }
    while (!atomic_load(&walk->job->stop)) {
        errno = 0;
        entry = readdir(directory);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            walk_entry(walk, fd, path, entry->d_name);
    }
    if (!atomic_load(&walk->job->stop) && errno != 0)
        job_fail(walk->job, "%s: %s", path, strerrordesc_np(errno));
    closedir(directory);
}

/* A file that the user named, by its directory, so that it can be replaced there. */
static void walk_named_file(struct walk *walk, const char *path)
{
    AUTO_FREE char *real = realpath(path, NULL), *shown = strdup(path);
    AUTO_CLOSE int directory = -1;
    char *slash = real ? strrchr(real, '/') : NULL;

    if (slash) {
        *slash = '\0';
        directory = open(slash == real ? "/" : real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (!shown || directory < 0) {
        job_fail(walk->job, "%s: %s", path, strerrordesc_np(errno));
        return;
    }
    add_file(walk, directory, slash + 1, TAKE_POINTER(shown));
}

static void walk_operand(struct walk *walk, const char *path)
{
    struct stat attributes;
    int fd;

    if (stat(path, &attributes) < 0) {
        job_fail(walk->job, "%s: %s", path, strerrordesc_np(errno));
        return;
    }
    walk->device = attributes.st_dev;
    if (S_ISREG(attributes.st_mode)) {
        walk_named_file(walk, path);
    } else if (S_ISDIR(attributes.st_mode)) {
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
            job_fail(walk->job, "%s: %s", path, strerrordesc_np(errno));
        else
            walk_directory(walk, fd, path);
    } else {
        job_fail(walk->job, "%s: not a regular file or a directory", path);
    }
}

/* A deep tree takes a descriptor a level. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void tree_walk(struct job *job, char **paths, int count, tree_visit *visit, void *user)
{
    struct walk walk = {.job = job, .queue = queue_create(job, visit, user)};

    if (!walk.queue) {
        job_fail(job, "%s", strerrordesc_np(ENOMEM));
        return;
    }
    raise_descriptor_limit();
    for (int i = 0; i < count && !atomic_load(&job->stop); i++)
        walk_operand(&walk, paths[i]);
    queue_destroy(walk.queue);
    tdestroy(walk.seen, free);
}
