/* What a lower file is, told from a few bytes of it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "store/boot.h"
#include "store/log.h"
#include "store/store.h"
#include "tally/format.h"

static ssize_t read_at(int fd, struct split *split, void *data, size_t size, off_t offset)
{
    ssize_t got;

    do
        got = LOWER(split, pread(fd, data, size, offset));
    while (got == -EINTR);
    return got;
}

/* The size as the trailer has it; -EBADMSG when there is none of this file. */
static int size_from_trailer(int fd, struct split *split, off_t lower_size, const struct format_header *first,
                             off_t *ret_size)
{
    uint8_t encoded[FORMAT_TRAILER_BYTES];
    struct format_trailer trailer;
    ssize_t got = read_at(fd, split, encoded, sizeof(encoded), lower_size - (off_t)sizeof(encoded));

    if (got < 0)
        return (int)got;
    if (got != sizeof(encoded) || format_trailer_decode(encoded, &trailer) < 0 ||
        (first && trailer.file_id != first->file_id))
        return -EBADMSG;
    *ret_size = (off_t)trailer.logical_size;
    return 0;
}

/* The size as opening it would find: the file was not closed. */
static int size_from_frames(int fd, struct split *split, off_t lower_size, off_t *ret_size)
{
    uint8_t boot_id[16];
    struct log_state state;
    struct backend *raw;
    int copy, r;

    copy = LOWER(split, fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (copy < 0)
        return copy;
    r = raw_backend_create(copy, NULL, &raw);
    if (r < 0) {
        close(copy);
        return r;
    }
    boot_id_read(boot_id);
    r = log_recover(raw, split, (uint64_t)lower_size, boot_id, &state);
    backend_close(raw, NULL);
    if (r < 0)
        return r;
    *ret_size = (off_t)state.logical_size;
    log_state_free(&state);
    return 0;
}

int store_probe(int fd, struct split *split, const struct stat *attributes, struct store_probe *ret_probe)
{
    off_t lower_size = attributes->st_size, size = 0;
    uint8_t begin[FORMAT_HEADER_BYTES];
    struct format_header first;
    bool whole;
    ssize_t got;
    int r;

    *ret_probe = (struct store_probe){.is_container = false};
    if (lower_size < (off_t)FORMAT_HEADER_BYTES || lower_size % FORMAT_ALIGN != 0)
        return 0;
    got = read_at(fd, split, begin, sizeof(begin), 0);
    if (got < 0)
        return (int)got;
    if (got != sizeof(begin) || !format_looks_like_container(begin))
        return 0;
    whole = format_header_decode(begin, &first) == 0;
    if (whole && format_frame_bytes(first.stored_length) == (uint64_t)lower_size) {
        *ret_probe = (struct store_probe){.is_container = true, .logical_bytes = (off_t)first.logical_size};
        return 0;
    }
    r = size_from_trailer(fd, split, lower_size, whole ? &first : NULL, &size);
    if (r == -EBADMSG)
        r = size_from_frames(fd, split, lower_size, &size);
    if (r < 0)
        return r;
    *ret_probe = (struct store_probe){.is_container = true, .logical_bytes = size};
    return 0;
}

int store_would_mimic(int fd, struct split *split, const void *data, size_t size, off_t offset)
{
    uint8_t begin[FORMAT_HEADER_BYTES] = {0};
    ssize_t got;

    if (offset >= (off_t)sizeof(begin) || size == 0)
        return 0;
    if (offset > 0 || size < sizeof(begin)) {
        got = read_at(fd, split, begin, sizeof(begin), 0);
        if (got < 0)
            return (int)got;
    }
    if (size > sizeof(begin) - (size_t)offset)
        size = sizeof(begin) - (size_t)offset;
    memcpy(begin + offset, data, size);
    return format_looks_like_container(begin);
}
