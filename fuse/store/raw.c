/* The raw backend: a lower file's descriptor as it is. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "store/backend.h"

struct raw_backend {
    struct backend backend;
    struct raw_room *room; /* or NULL */
    int fd;
};

static int fd_of(struct backend *backend)
{
    return ((struct raw_backend *)backend)->fd;
}

static ssize_t raw_pread(struct backend *backend, struct split *split, void *data, size_t size, off_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = LOWER(split, pread(fd_of(backend), (char *)data + done, size - done, offset + (off_t)done));

        if (got == -EINTR)
            continue;
        if (got < 0)
            return done ? (ssize_t)done : got;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* Closes that take longer, of a very large file, are not waited for. */
#define NAPS_MAX 1000
static const struct timespec nap = {.tv_nsec = 1000000};

void raw_room_settle(const struct raw_room *room)
{
    for (unsigned i = 0; i < NAPS_MAX && room->closing > 0; i++)
        nanosleep(&nap, NULL);
}

/* Whether what has failed with `error` is worth another try. Asked once for each attempt at something. */
static bool is_worth_another_try(struct backend *backend, struct split *split, ssize_t error, bool *tried)
{
    const struct raw_room *room = ((const struct raw_backend *)backend)->room;
    uint64_t began_ns;

    if (error == -EINTR)
        return true;
    if ((error != -ENOSPC && error != -EDQUOT) || !room || *tried)
        return false;
    began_ns = split_begin(split);
    /* Also for what was taken from the kernel's queue but is not being closed yet. */
    nanosleep(&nap, NULL);
    raw_room_settle(room);
    split_end_wait(split, began_ns);
    *tried = true;
    return true;
}

/* Appending is the kernel's own (RWF_APPEND), so that it is atomic against others who write to the lower file. */
static ssize_t raw_pwrite(struct backend *backend, struct split *split, const void *data, size_t size, off_t offset,
                          bool append)
{
    struct iovec vector = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
    bool tried = false;
    ssize_t written;

    do
        written = append ? LOWER(split, pwritev2(fd_of(backend), &vector, 1, offset, RWF_APPEND))
                         : LOWER(split, pwrite(fd_of(backend), data, size, offset));
    while (written < 0 && is_worth_another_try(backend, split, written, &tried));
    return written;
}

static int raw_stat(struct backend *backend, struct split *split, struct stat *ret_attributes)
{
    struct stat attributes;
    int r = LOWER(split, fstat(fd_of(backend), &attributes));

    if (r < 0)
        return r;
    *ret_attributes = attributes;
    return 0;
}

static int raw_size(struct backend *backend, struct split *split, off_t *ret_size)
{
    struct stat attributes;
    int r = raw_stat(backend, split, &attributes);

    if (r < 0)
        return r;
    *ret_size = attributes.st_size;
    return 0;
}

static int raw_truncate(struct backend *backend, struct split *split, off_t size)
{
    return LOWER(split, ftruncate(fd_of(backend), size));
}

/*
 * Closing a duplicate is what makes a file system below flush and report (NFS and FUSE do, a local one has nothing
 * to say), as the program's own close(2) would.
 */
static int raw_flush(struct backend *backend, struct split *split)
{
    int copy = LOWER(split, fcntl(fd_of(backend), F_DUPFD_CLOEXEC, 0));

    return copy < 0 ? copy : LOWER(split, close(copy));
}

static int raw_sync(struct backend *backend, struct split *split, bool data_only)
{
    return data_only ? LOWER(split, fdatasync(fd_of(backend))) : LOWER(split, fsync(fd_of(backend)));
}

static int raw_allocate(struct backend *backend, struct split *split, int mode, off_t offset, off_t length)
{
    bool tried = false;
    int r;

    do
        r = LOWER(split, fallocate(fd_of(backend), mode, offset, length));
    while (r < 0 && is_worth_another_try(backend, split, r, &tried));
    return r;
}

static off_t raw_seek(struct backend *backend, struct split *split, off_t offset, int whence)
{
    return LOWER(split, lseek(fd_of(backend), offset, whence));
}

static ssize_t raw_copy(struct backend *in, struct split *split, off_t in_offset, struct backend *out, off_t out_offset,
                        size_t size)
{
    return LOWER(split, copy_file_range(fd_of(in), &in_offset, fd_of(out), &out_offset, size, 0));
}

static int raw_descriptor(struct backend *backend)
{
    return fd_of(backend);
}

static int raw_close(struct backend *backend, struct split *split)
{
    struct raw_room *room = ((struct raw_backend *)backend)->room;
    int r;

    if (room)
        room->closing++;
    r = LOWER(split, close(fd_of(backend)));
    if (room)
        room->closing--;
    free(backend);
    return r;
}

static const struct backend_operations raw_operations = {
    .pread = raw_pread,
    .pwrite = raw_pwrite,
    .size = raw_size,
    .truncate = raw_truncate,
    .flush = raw_flush,
    .sync = raw_sync,
    .allocate = raw_allocate,
    .seek = raw_seek,
    .copy = raw_copy,
    .stat = raw_stat,
    .descriptor = raw_descriptor,
    .close = raw_close,
};

int raw_backend_create(int fd, struct raw_room *room, struct backend **ret_backend)
{
    struct raw_backend *raw = malloc(sizeof(*raw));

    if (!raw)
        return -ENOMEM;
    raw->backend.operations = &raw_operations;
    raw->room = room;
    raw->fd = fd;
    *ret_backend = &raw->backend;
    return 0;
}
