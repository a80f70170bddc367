/* Reading and writing what is open. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "data.h"
#include "view.h"

#define DIRECT_BYTES 4096 /* a multiple of what any file system asks of direct I/O */
#define PARTS 3

static bool is_direct(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && flags & O_DIRECT && !(flags & O_PATH);
}

/*
 * Direct I/O that is not aligned fails on some file systems and not on others, and FUSE knows no such demand; programs
 * that use it align it. What cannot be aligned here is left out, on both sides.
 */
static bool align(int fd, int64_t *offset, int64_t *length)
{
    if (!is_direct(fd))
        return true;
    *length -= *length % DIRECT_BYTES;
    if (offset && *offset > 0)
        *offset -= *offset % DIRECT_BYTES;
    return offset || lseek(fd, 0, SEEK_CUR) % DIRECT_BYTES == 0;
}

static bool align_write(int fd, int64_t *offset, int64_t *length, bool append)
{
    struct stat attributes;

    if (!align(fd, offset, length))
        return false;
    if (!is_direct(fd) || !(append || fcntl(fd, F_GETFL) & O_APPEND))
        return true;
    return fstat(fd, &attributes) < 0 || attributes.st_size % DIRECT_BYTES == 0;
}

/* Three parts of the buffer, the first an odd few bytes unless direct I/O forbids that. */
static void split(struct view *view, int fd, int64_t length, struct iovec parts[PARTS])
{
    size_t first = is_direct(fd) ? DIRECT_BYTES : 13, left = (size_t)length;
    unsigned char *at = view->buffer;

    for (unsigned i = 0; i < PARTS; i++) {
        size_t size = i == PARTS - 1 || first > left ? left : first;

        parts[i] = (struct iovec){at, size};
        at += size;
        left -= size;
    }
}

static void got(struct view *view, ssize_t size, struct outcome *outcome)
{
    if (!outcome_result(outcome, size))
        return;
    outcome->data = view->buffer;
    outcome->size = (size_t)size;
}

/* slot length */
void call_read(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int fd = view->slots[arguments[0]];
    int64_t length = arguments[1];

    if (align(fd, NULL, &length))
        got(view, read(fd, view->buffer, (size_t)length), outcome);
}

/* slot length */
void call_readv(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int fd = view->slots[arguments[0]];
    int64_t length = arguments[1];
    struct iovec parts[PARTS];

    if (!align(fd, NULL, &length))
        return;
    split(view, fd, length, parts);
    got(view, readv(fd, parts, PARTS), outcome);
}

/* slot offset length */
void call_pread(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int fd = view->slots[arguments[0]];
    int64_t offset = arguments[1], length = arguments[2];

    if (align(fd, &offset, &length))
        got(view, pread(fd, view->buffer, (size_t)length, offset), outcome);
}

/* slot length data */
void call_write(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int fd = view->slots[arguments[0]];
    int64_t length = arguments[1];

    if (!align_write(fd, NULL, &length, false))
        return;
    data_fill(arguments[2], 0, view->buffer, (size_t)length);
    outcome_result(outcome, write(fd, view->buffer, (size_t)length));
}

/* slot length data */
void call_writev(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int fd = view->slots[arguments[0]];
    int64_t length = arguments[1];
    struct iovec parts[PARTS];

    if (!align_write(fd, NULL, &length, false))
        return;
    data_fill(arguments[2], 0, view->buffer, (size_t)length);
    split(view, fd, length, parts);
    outcome_result(outcome, writev(fd, parts, PARTS));
}

/* slot offset length data */
void call_pwrite(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int fd = view->slots[arguments[0]];
    int64_t offset = arguments[1], length = arguments[2];

    if (!align_write(fd, &offset, &length, false))
        return;
    data_fill(arguments[3], (uint64_t)offset, view->buffer, (size_t)length);
    outcome_result(outcome, pwrite(fd, view->buffer, (size_t)length, offset));
}

/* slot offset length data flags */
void call_pwritev2(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int fd = view->slots[arguments[0]];
    int64_t offset = arguments[1], length = arguments[2];
    struct iovec parts[PARTS];

    if (!align_write(fd, &offset, &length, arguments[4] & RWF_APPEND))
        return;
    data_fill(arguments[3], (uint64_t)offset, view->buffer, (size_t)length);
    split(view, fd, length, parts);
    outcome_result(outcome, pwritev2(fd, parts, PARTS, offset, (int)arguments[4]));
}

/* slot offset whence; positions in a directory mean nothing to programs but 0 and what readdir gave them */
void call_lseek(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    struct stat attributes;

    if (fstat(view->slots[arguments[0]], &attributes) == 0 && S_ISDIR(attributes.st_mode))
        return;
    outcome_result(outcome, lseek(view->slots[arguments[0]], arguments[1], (int)arguments[2]));
}

/* path size */
void call_truncate(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome, truncate(path, arguments[1]));
}

/* slot size */
void call_ftruncate(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    outcome_result(outcome, ftruncate(view->slots[arguments[0]], arguments[1]));
}

/* slot mode offset length */
void call_fallocate(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    outcome_result(outcome, fallocate(view->slots[arguments[0]], (int)arguments[1], arguments[2],
                                      arguments[3]));
}

/* from offset to to_offset length; a negative offset is the file's position. Short copies are usual: it goes on. */
void call_copy_file_range(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int from = view->slots[arguments[0]], to = view->slots[arguments[2]];
    off_t offset = arguments[1], to_offset = arguments[3];
    size_t copied = 0, length = (size_t)arguments[4];
    ssize_t size;

    if (is_direct(from) || is_direct(to))
        return;
    do {
        size = copy_file_range(from, offset < 0 ? NULL : &offset, to,
                               to_offset < 0 ? NULL : &to_offset, length - copied, 0);
        copied += size > 0 ? (size_t)size : 0;
    } while (size > 0 && copied < length);
    outcome_result(outcome, copied > 0 ? (ssize_t)copied : size);
    outcome_value(outcome, "offset", offset);
    outcome_value(outcome, "to_offset", to_offset);
}

static bool are_same_file(int a, int b)
{
    struct stat one, other;

    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/*
 * from offset to length; a negative offset is the file's position. Within one file, what is sent may be read before or
 * after it is written over.
 */
void call_sendfile(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int from = view->slots[arguments[0]], to = view->slots[arguments[2]];
    off_t offset = arguments[1];

    if (is_direct(from) || is_direct(to) || are_same_file(from, to))
        return;
    outcome_result(outcome, sendfile(to, from, offset < 0 ? NULL : &offset, (size_t)arguments[3]));
    outcome_value(outcome, "offset", offset);
}

/* slot */
void call_fsync(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    outcome_result(outcome, fsync(view->slots[arguments[0]]));
}

/* slot */
void call_fdatasync(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    outcome_result(outcome, fdatasync(view->slots[arguments[0]]));
}

/* slot */
void call_syncfs(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    outcome_result(outcome, syncfs(view->slots[arguments[0]]));
}

/* slot */
void call_drop_pages(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    errno = posix_fadvise(view->slots[arguments[0]], 0, 0, POSIX_FADV_DONTNEED);
    outcome_result(outcome, errno ? -1 : 0);
}
