#include "segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

#define PART_BYTES (256 * 1024)
#define GONE_MAX 1000 /* pieces of data that became holes while they were asked for */

int segments_add(struct segments *segments, off_t begin, off_t end)
{
    struct segment *larger = realloc(segments->all, (segments->count + 1) * sizeof(*larger));

    if (!larger)
        return -ENOMEM;
    segments->all = larger;
    larger[segments->count++] = (struct segment){begin, end};
    return 0;
}

int segments_read(int fd, struct segments *ret_segments)
{
    AUTO_SEGMENTS struct segments segments = {.all = NULL};
    off_t begin, end = 0;
    unsigned gone = 0;

    while ((begin = lseek(fd, end, SEEK_DATA)) >= 0) {
        end = lseek(fd, begin, SEEK_HOLE);
        if (end < 0)
            return -errno;
        /* Zeros in a buffer are data until they are written out. */
        if (end == begin && ++gone < GONE_MAX)
            continue;
        if (end <= begin)
            return -EPROTO;
        /* Two pieces of data that touch are one, however the file system gives them. */
        if (segments.count > 0 && segments.all[segments.count - 1].end == begin)
            segments.all[segments.count - 1].end = end;
        else if (segments_add(&segments, begin, end) < 0)
            return -ENOMEM;
    }
    if (errno != ENXIO)
        return -errno;
    *ret_segments = segments;
    segments.all = NULL;
    return 0;
}

bool segments_touch(const struct segments *segments, off_t begin, off_t end)
{
    for (size_t i = 0; i < segments->count; i++) {
        if (segments->all[i].begin < end && segments->all[i].end > begin)
            return true;
    }
    return false;
}

static bool is_zero(int fd, off_t begin, off_t end)
{
    unsigned char part[4096];

    while (begin < end) {
        ssize_t size =
            pread(fd, part,
                  end - begin < (off_t)sizeof(part) ? (size_t)(end - begin) : sizeof(part), begin);

        if (size <= 0)
            return false;
        for (ssize_t i = 0; i < size; i++) {
            if (part[i] != 0)
                return false;
        }
        begin += size;
    }
    return true;
}

bool segments_are_zero(const struct segments *segments, int fd, off_t begin, off_t end)
{
    for (size_t i = 0; i < segments->count; i++) {
        off_t from = segments->all[i].begin > begin ? segments->all[i].begin : begin;
        off_t to = segments->all[i].end < end ? segments->all[i].end : end;

        if (from < to && !is_zero(fd, from, to))
            return false;
    }
    return true;
}

void segments_print(const struct segments *segments, struct strbuf *to)
{
    for (size_t i = 0; i < segments->count; i++)
        strbuf_printf(to, " %lld-%lld", (long long)segments->all[i].begin,
                      (long long)segments->all[i].end);
    if (segments->count == 0)
        strbuf_puts(to, " none");
}

void segments_free(struct segments *segments)
{
    free(segments->all);
    segments->all = NULL;
}

static int compare_range(int left, int right, off_t begin, off_t end, off_t *ret_at,
                         bool *has_bytes)
{
    AUTO_FREE unsigned char *ours = malloc(PART_BYTES);
    AUTO_FREE unsigned char *theirs = malloc(PART_BYTES);

    if (!ours || !theirs)
        return -ENOMEM;
    while (begin < end) {
        size_t wanted = end - begin < PART_BYTES ? (size_t)(end - begin) : PART_BYTES;
        ssize_t a = pread(left, ours, wanted, begin), b = pread(right, theirs, wanted, begin);

        if (a < 0 || b < 0)
            return -errno;
        for (ssize_t i = 0; i < a || i < b; i++) {
            if (i >= a || i >= b || ours[i] != theirs[i]) {
                *ret_at = begin + i;
                return 0;
            }
            *has_bytes |= ours[i] != 0;
        }
        if (a == 0)
            break;
        begin += a;
    }
    return 0;
}

int segments_compare_bytes(int left, const struct segments *left_segments, int right,
                           const struct segments *right_segments, off_t *ret_at,
                           bool *ret_has_bytes)
{
    const struct segments *both[2] = {left_segments, right_segments};
    bool has_bytes = false;
    off_t at = -1;

    for (unsigned side = 0; side < 2; side++) {
        for (size_t i = 0; i < both[side]->count && at < 0; i++) {
            int r = compare_range(left, right, both[side]->all[i].begin, both[side]->all[i].end,
                                  &at, &has_bytes);

            if (r < 0)
                return r;
        }
    }
    *ret_at = at;
    *ret_has_bytes = has_bytes;
    return 0;
}
