/* Copying between backends of any kind. */
#include <errno.h>
#include <stdlib.h>

#include "store/backend.h"
#include "util/cleanup.h"

#define COPY_BUFFER_BYTES (256u * 1024)

static ssize_t copy_by_reading(struct backend *in, struct split *split, off_t in_offset, struct backend *out,
                               off_t out_offset, size_t size)
{
    AUTO_FREE char *buffer = malloc(size < COPY_BUFFER_BYTES ? size : COPY_BUFFER_BYTES);
    size_t done = 0;

    if (!buffer)
        return -ENOMEM;
    while (done < size) {
        size_t want = size - done < COPY_BUFFER_BYTES ? size - done : COPY_BUFFER_BYTES;
        ssize_t got = backend_pread(in, split, buffer, want, in_offset + (off_t)done);
        ssize_t put;

        if (got <= 0)
            return got < 0 && !done ? got : (ssize_t)done;
        put = backend_pwrite(out, split, buffer, (size_t)got, out_offset + (off_t)done, false);
        if (put < 0)
            return done ? (ssize_t)done : put;
        done += (size_t)put;
        if (put < got)
            break;
    }
    return (ssize_t)done;
}

ssize_t backend_copy(struct backend *in, struct split *split, off_t in_offset, struct backend *out, off_t out_offset,
                     size_t size)
{
    off_t distance = in_offset < out_offset ? out_offset - in_offset : in_offset - out_offset;
    ssize_t copied;

    if (in_offset < 0 || out_offset < 0)
        return -EINVAL;
    if (in == out && (size_t)distance < size)
        return -EINVAL;
    if (size == 0)
        return 0;
    if (in->operations == out->operations && in->operations->copy) {
        copied = in->operations->copy(in, split, in_offset, out, out_offset, size);
        if (copied != -EXDEV && copied != -EOPNOTSUPP && copied != -ENOSYS)
            return copied;
    }
    return copy_by_reading(in, split, in_offset, out, out_offset, size);
}
