/* The data and holes of a file. */
#ifndef TALLY_DIFFERENTIAL_SEGMENTS_H
#define TALLY_DIFFERENTIAL_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "util/strbuf.h"

struct segment {
    off_t begin, end; /* data from begin to before end */
};

struct segments {
    struct segment *all; /* in order; owned */
    size_t count;
};

/* By SEEK_DATA and SEEK_HOLE; the position of the descriptor moves. 0 or -errno. */
int segments_read(int fd, struct segments *ret_segments);

/* Behind those that are there. 0 or -ENOMEM. */
int segments_add(struct segments *segments, off_t begin, off_t end);

/* Whether there is data within the range. */
bool segments_touch(const struct segments *segments, off_t begin, off_t end);

/* Whether the file has no byte other than zero within the range. */
bool segments_are_zero(const struct segments *segments, int fd, off_t begin, off_t end);

void segments_print(const struct segments *segments, struct strbuf *to);
void segments_free(struct segments *segments);

/*
 * Compares the bytes of two files wherever one of them has data. 0 with *ret_at the offset of the first difference, -1
 * for none, and *ret_has_bytes whether there is a byte other than zero; or -errno.
 */
int segments_compare_bytes(int left, const struct segments *left_segments, int right,
                           const struct segments *right_segments, off_t *ret_at,
                           bool *ret_has_bytes);

#define AUTO_SEGMENTS __attribute__((cleanup(segments_free)))

#endif
