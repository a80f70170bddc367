/* What a lower file is, told from a few bytes of it. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"
#include "tally/format.h"

static ssize_t read_fully(int fd, struct split *split, void *data, size_t size, off_t offset)
{
    ssize_t got;

    do
        got = LOWER(split, pread(fd, data, size, offset));
    while (got == -EINTR);
    return got;
}

int store_would_mimic(int fd, struct split *split, const void *data, size_t size, off_t offset)
{
    uint8_t begin[FORMAT_HEADER_BYTES] = {0};
    ssize_t got;

    if (offset >= (off_t)sizeof(begin) || size == 0)
        return 0;
    if (offset > 0 || size < sizeof(begin)) {
        got = read_fully(fd, split, begin, sizeof(begin), 0);
        if (got < 0)
            return (int)got;
    }
    if (size > sizeof(begin) - (size_t)offset)
        size = sizeof(begin) - (size_t)offset;
    memcpy(begin + offset, data, size);
    return format_looks_like_container(begin);
}
