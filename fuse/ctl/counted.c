#include "ctl/counted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "util/cleanup.h"

struct counted {
    struct backend backend;
    struct backend *below;
    struct job *job;
};

static struct backend *below(struct backend *backend)
{
    return ((struct counted *)backend)->below;
}

static ssize_t counted_pread(struct backend *backend, struct split *split, void *data, size_t size,
                             off_t offset)
{
    struct job *job = ((struct counted *)backend)->job;
    ssize_t got;

    if (atomic_load(&job->stop))
        return -ECANCELED;
    got = backend_pread(below(backend), split, data, size, offset);
    if (got > 0)
        atomic_fetch_add(&job->bytes, (uint64_t)got);
    return got;
}

static ssize_t counted_pwrite(struct backend *backend, struct split *split, const void *data,
                              size_t size, off_t offset, bool append)
{
    return backend_pwrite(below(backend), split, data, size, offset, append);
}

static int counted_size(struct backend *backend, struct split *split, off_t *ret_size)
{
    return backend_size(below(backend), split, ret_size);
}

static int counted_truncate(struct backend *backend, struct split *split, off_t size)
{
    return backend_truncate(below(backend), split, size);
}

static int counted_flush(struct backend *backend, struct split *split)
{
    return backend_flush(below(backend), split);
}

static int counted_sync(struct backend *backend, struct split *split, bool data_only)
{
    return backend_sync(below(backend), split, data_only);
}

static int counted_allocate(struct backend *backend, struct split *split, int mode, off_t offset,
                            off_t length)
{
    return backend_allocate(below(backend), split, mode, offset, length);
}

static off_t counted_seek(struct backend *backend, struct split *split, off_t offset, int whence)
{
    return backend_seek(below(backend), split, offset, whence);
}

static int counted_stat(struct backend *backend, struct split *split, struct stat *ret_attributes)
{
    return backend_stat(below(backend), split, ret_attributes);
}

static int counted_descriptor(struct backend *backend)
{
    return backend_descriptor(below(backend));
}

static int counted_close(struct backend *backend, struct split *split)
{
    int r = backend_close(below(backend), split);

    free(backend);
    return r;
}

static const struct backend_operations counted_operations = {
    .pread = counted_pread,
    .pwrite = counted_pwrite,
    .size = counted_size,
    .truncate = counted_truncate,
    .flush = counted_flush,
    .sync = counted_sync,
    .allocate = counted_allocate,
    .seek = counted_seek,
    .stat = counted_stat,
    .descriptor = counted_descriptor,
    .close = counted_close,
};

static int open_below(int fd, struct backend **ret_backend)
{
    AUTO_CLOSE int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    int r;

    if (copy < 0)
        return -errno;
    r = raw_backend_create(copy, NULL, ret_backend);
    if (r == 0)
        take_fd(&copy);
    return r;
}

int counted_open(int fd, struct job *job, struct backend **ret_backend)
{
    struct counted *counted = malloc(sizeof(*counted));
    int r;

    if (!counted)
        return -ENOMEM;
    *counted = (struct counted){.backend.operations = &counted_operations, .job = job};
    r = open_below(fd, &counted->below);
    if (r < 0) {
        free(counted);
        return r;
    }
    *ret_backend = &counted->backend;
    return 0;
}
