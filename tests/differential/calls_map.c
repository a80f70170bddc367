/* Mappings. They are read and written by system calls on a memory file, so that a fault is EFAULT and no signal. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data.h"
#include "util/cleanup.h"
#include "view.h"

#define PAGE_BYTES 4096

static void remove_mapping(struct mapping *mapping)
{
    if (mapping->at) {
        munmap(mapping->at, mapping->size);
        close(mapping->fd);
    }
    *mapping = (struct mapping){.fd = -1};
}

/* map slot offset length protection */
void call_map(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    struct mapping *mapping = &view->maps[arguments[0]];
    int fd = view->slots[arguments[1]], protection = (int)arguments[4];
    off_t offset = arguments[2] & ~(off_t)(PAGE_BYTES - 1);
    size_t size = (size_t)arguments[3] + 1;
    char *at;

    remove_mapping(mapping);
    at = mmap(NULL, size, protection & ~PROTECTION_PRIVATE,
              protection & PROTECTION_PRIVATE ? MAP_PRIVATE : MAP_SHARED, fd, offset);
    if (outcome_result(outcome, at == MAP_FAILED ? -1 : 0))
        *mapping = (struct mapping){at, size, offset, fcntl(fd, F_DUPFD_CLOEXEC, 0)};
}

/*
 * The bytes of the last page that lie behind the end of the file may be seen by other mappings until the page is
 * written, and never later: nothing can be said of them, so no call reaches for them. Whole pages behind the end fault.
 */
static size_t within_file(const struct mapping *mapping, size_t begin, size_t length)
{
    struct stat attributes;
    off_t end;

    if (length > mapping->size - begin)
        length = mapping->size - begin;
    if (fstat(mapping->fd, &attributes) < 0)
        return 0;
    end = attributes.st_size - mapping->offset;
    if ((off_t)begin >= (end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES)
        return length;
    if ((off_t)begin >= end)
        return 0;
    return (off_t)(begin + length) > end ? (size_t)end - begin : length;
}

/* map offset length data */
void call_store(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    struct mapping *mapping = &view->maps[arguments[0]];
    size_t begin, length;

    if (!mapping->at)
        return;
    begin = (size_t)arguments[1] % mapping->size;
    length = within_file(mapping, begin, (size_t)arguments[2]);
    data_fill(arguments[3], begin, view->buffer, length);
    if (pwrite(view->memory, view->buffer, length, 0) != (ssize_t)length)
        abort();
    outcome_result(outcome, pread(view->memory, mapping->at + begin, length, 0));
}

/* map offset length */
void call_load(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    struct mapping *mapping = &view->maps[arguments[0]];
    size_t begin, length;

    if (!mapping->at)
        return;
    begin = (size_t)arguments[1] % mapping->size;
    length = within_file(mapping, begin, (size_t)arguments[2]);
    if (!outcome_result(outcome, pwrite(view->memory, mapping->at + begin, length, 0)))
        return;
    outcome->data = view->buffer;
    outcome->size = (size_t)pread(view->memory, view->buffer, (size_t)outcome->result, 0);
}

/* map flags */
void call_msync(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    struct mapping *mapping = &view->maps[arguments[0]];

    if (mapping->at)
        outcome_result(outcome, msync(mapping->at, mapping->size, (int)arguments[1]));
}

/* map */
void call_unmap(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    (void)outcome;
    remove_mapping(&view->maps[arguments[0]]);
}

/* The range of the shared file that belongs to this thread, which no other thread touches. */
static int open_shared(const struct view *view, int64_t *offset, int64_t *length)
{
    char path[VIEW_PATH_BYTES];

    view_shared_path(view, path);
    *offset = (int64_t)((uint64_t)*offset % SHARED_PART_BYTES);
    if (*length > SHARED_PART_BYTES - *offset)
        *length = SHARED_PART_BYTES - *offset;
    *offset += (int64_t)view->thread * SHARED_PART_BYTES;
    return open(path, O_RDWR | O_CLOEXEC);
}

/* offset length data */
void call_shared_write(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int64_t offset = arguments[0], length = arguments[1];
    AUTO_CLOSE int fd = open_shared(view, &offset, &length);

    data_fill(arguments[2], (uint64_t)offset, view->buffer, (size_t)length);
    outcome_result(outcome, pwrite(fd, view->buffer, (size_t)length, offset));
}

/* offset length */
void call_shared_read(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int64_t offset = arguments[0], length = arguments[1];
    AUTO_CLOSE int fd = open_shared(view, &offset, &length);

    if (!outcome_result(outcome, pread(fd, view->buffer, (size_t)length, offset)))
        return;
    outcome->data = view->buffer;
    outcome->size = (size_t)outcome->result;
}

/* offset length */
void call_shared_punch(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int64_t offset = arguments[0], length = arguments[1];
    AUTO_CLOSE int fd = open_shared(view, &offset, &length);

    outcome_result(outcome,
                   fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, length));
}

/* offset length data */
void call_shared_store(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int64_t offset = arguments[0] & ~(int64_t)(PAGE_BYTES - 1), length = arguments[1];
    AUTO_CLOSE int fd = open_shared(view, &offset, &length);
    char *at;

    if (length == 0)
        return;
    at = mmap(NULL, (size_t)length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (!outcome_result(outcome, at == MAP_FAILED ? -1 : 0))
        return;
    data_fill(arguments[2], (uint64_t)offset, view->buffer, (size_t)length);
    if (pwrite(view->memory, view->buffer, (size_t)length, 0) != length)
        abort();
    outcome_result(outcome, pread(view->memory, at, (size_t)length, 0));
    munmap(at, (size_t)length);
}

void call_shared_sync(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int64_t offset = 0, length = 0;
    AUTO_CLOSE int fd = open_shared(view, &offset, &length);

    (void)arguments;
    outcome_result(outcome, fsync(fd));
}
