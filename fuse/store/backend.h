/*
 * A file that can be read and written: the one interface between the handlers and what a file is made of. Backends
 * stack: `raw` is a lower file's descriptor, `store` is a compressed log over another backend, the tests' `fault` is a
 * crash machine over another. Whoever has a backend does not know which it is.
 *
 * All calls are thread-safe against each other on one backend, except close, which must be the last. All return -errno
 * on failure. `split` may be NULL; see util/split.h.
 */
#ifndef TALLY_STORE_BACKEND_H
#define TALLY_STORE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "util/split.h"

struct backend;

struct backend_operations {
    /* Bytes read; less than `size` only at the end of the file. */
    ssize_t (*pread)(struct backend *, struct split *, void *data, size_t size, off_t offset);

    /* Bytes written; less than `size` only where the next byte would have failed. `append` ignores `offset`. */
    ssize_t (*pwrite)(struct backend *, struct split *, const void *data, size_t size, off_t offset, bool append);

    /* The logical size in bytes. */
    int (*size)(struct backend *, struct split *, off_t *ret_size);

    int (*truncate)(struct backend *, struct split *, off_t size);

    /* Hands everything buffered to the file below, without waiting for the medium; reports earlier write errors once. */
    int (*flush)(struct backend *, struct split *);

    /* Durable on the medium when it returns. data_only as fdatasync(2). */
    int (*sync)(struct backend *, struct split *, bool data_only);

    /* As fallocate(2), FALLOC_FL_ bits in `mode`. -EOPNOTSUPP for what the backend has not. */
    int (*allocate)(struct backend *, struct split *, int mode, off_t offset, off_t length);

    /* SEEK_DATA or SEEK_HOLE as lseek(2), without a file position. -ENXIO past the end. */
    off_t (*seek)(struct backend *, struct split *, off_t offset, int whence);

    /*
     * Bytes copied from `in`, which has the same operations, as copy_file_range(2). NULL where the backend has no
     * short cut; backend_copy then reads and writes.
     */
    ssize_t (*copy)(struct backend *in, struct split *, off_t in_offset, struct backend *out, off_t out_offset,
                    size_t size);

    /* The lower file's attributes with st_size as the logical size and st_blocks never 0 for a file with data. */
    int (*stat)(struct backend *, struct split *, struct stat *ret_attributes);

    /* A descriptor of the lower file for what passes through untouched (chmod, times, locks). Owned by the backend. */
    int (*descriptor)(struct backend *);

    /* Drains, closes and frees, also when it returns an error. */
    int (*close)(struct backend *, struct split *);
};

struct backend {
    const struct backend_operations *operations;
};

static inline ssize_t backend_pread(struct backend *backend, struct split *split, void *data, size_t size,
                                    off_t offset)
{
    return backend->operations->pread(backend, split, data, size, offset);
}

static inline ssize_t backend_pwrite(struct backend *backend, struct split *split, const void *data, size_t size,
                                     off_t offset, bool append)
{
    return backend->operations->pwrite(backend, split, data, size, offset, append);
}

static inline int backend_size(struct backend *backend, struct split *split, off_t *ret_size)
{
    return backend->operations->size(backend, split, ret_size);
}

static inline int backend_truncate(struct backend *backend, struct split *split, off_t size)
{
    return backend->operations->truncate(backend, split, size);
}

static inline int backend_flush(struct backend *backend, struct split *split)
{
    return backend->operations->flush(backend, split);
}

static inline int backend_sync(struct backend *backend, struct split *split, bool data_only)
{
    return backend->operations->sync(backend, split, data_only);
}

static inline int backend_allocate(struct backend *backend, struct split *split, int mode, off_t offset, off_t length)
{
    return backend->operations->allocate(backend, split, mode, offset, length);
}

static inline off_t backend_seek(struct backend *backend, struct split *split, off_t offset, int whence)
{
    return backend->operations->seek(backend, split, offset, whence);
}

static inline int backend_stat(struct backend *backend, struct split *split, struct stat *ret_attributes)
{
    return backend->operations->stat(backend, split, ret_attributes);
}

static inline int backend_descriptor(struct backend *backend)
{
    return backend->operations->descriptor(backend);
}

static inline int backend_close(struct backend *backend, struct split *split)
{
    return backend->operations->close(backend, split);
}

/*
 * Bytes copied, as copy_file_range(2), whatever the two backends are: by the backend's own copy where both are of one
 * kind and it has one, else by reading and writing. `in` and `out` may be the same file; overlapping ranges in one
 * file are -EINVAL. Short only at the end of `in` or where the next byte would have failed.
 */
ssize_t backend_copy(struct backend *in, struct split *split, off_t in_offset, struct backend *out, off_t out_offset,
                     size_t size);

/*
 * What all raw backends of a mount share to know whether a full lower file system will have room in a moment: the close
 * that frees a removed file's space may be under way in another thread, though the program's own close has returned.
 */
struct raw_room {
    _Atomic unsigned closing; /* descriptors that are being closed just now, by anybody who says so here */
};

/* Waits for what is just being closed. */
void raw_room_settle(const struct raw_room *room);

/*
 * The raw backend: takes ownership of `fd` on success. O_APPEND and O_DIRECT of the descriptor are the caller's
 * business. `room`, which must outlive the backend, may be NULL. 0 or -ENOMEM.
 */
int raw_backend_create(int fd, struct raw_room *room, struct backend **ret_backend);

#endif
