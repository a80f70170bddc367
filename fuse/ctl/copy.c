#include "ctl/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

#define PIECE_BYTES (1UL << 20)

static int write_fully(struct backend *out, const char *data, size_t size, off_t offset)
{
    while (size > 0) {
        ssize_t written = backend_pwrite(out, NULL, data, size, offset, false);

        if (written < 0)
            return (int)written;
        if (written == 0)
            return -EIO;
        data += written;
        size -= (size_t)written;
        offset += written;
    }
    return 0;
}

static int copy_range(struct backend *in, struct backend *out, off_t from, off_t to, char *piece)
{
    while (from < to) {
        size_t wanted = to - from < (off_t)PIECE_BYTES ? (size_t)(to - from) : PIECE_BYTES;
        ssize_t length = backend_pread(in, NULL, piece, wanted, from);
        int r;

        if (length < 0)
            return (int)length;
        if (length == 0)
            return -EAGAIN; /* it shrank */
        r = write_fully(out, piece, (size_t)length, from);
        if (r < 0)
            return r;
        from += length;
    }
    return 0;
}

int copy_contents(struct backend *in, struct backend *out)
{
    AUTO_FREE char *piece = malloc(PIECE_BYTES);
    off_t size, at = 0;
    int r = piece ? backend_size(in, NULL, &size) : -ENOMEM;

    while (r == 0 && at < size) {
        off_t data = backend_seek(in, NULL, at, SEEK_DATA), hole;

        if (data == -ENXIO)
            break;
        if (data < 0)
            return (int)data;
        hole = backend_seek(in, NULL, data, SEEK_HOLE);
        if (hole < 0)
            return (int)hole;
        r = copy_range(in, out, data, hole < size ? hole : size, piece);
        at = hole;
    }
    return r == 0 ? backend_truncate(out, NULL, size) : r;
}

int copy_compare(struct backend *in, struct backend *out)
{
    AUTO_FREE char *left = malloc(PIECE_BYTES), *right = malloc(PIECE_BYTES);
    off_t at = 0;

    if (!left || !right)
        return -ENOMEM;
    for (;;) {
        ssize_t length = backend_pread(in, NULL, left, PIECE_BYTES, at), other;

        if (length < 0)
            return (int)length;
        other = backend_pread(out, NULL, right, PIECE_BYTES, at);
        if (other < 0)
            return (int)other;
        if (other != length || memcmp(left, right, (size_t)length) != 0)
            return -EIO;
        if (length == 0)
            return 0;
        at += length;
    }
}
