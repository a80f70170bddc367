/*
 * Where a file of the right has data, and with that where the same file of the left may have data or holes.
 *
 * On a raw mount the same, but for preallocated blocks that nobody has written: they are data where the page cache holds
 * them and holes where it does not, and reading ahead decides that. With the kernel's write-back cache data also reach
 * the lower file in other pieces, by which XFS preallocates more or less; then only holes are checked. In a compressed file zeros need not be stored and a
 * chunk with any data may be data as a whole.
 */
#ifndef TALLY_DIFFERENTIAL_LAYOUT_H
#define TALLY_DIFFERENTIAL_LAYOUT_H

#include "segments.h"

struct traits;

struct layout {
    int fd; /* not owned */
    off_t size;
    const struct traits *traits;
    struct segments data, unwritten;
};

/* The position of the descriptor is kept. 0 or -errno. */
int layout_read(int fd, const struct traits *traits, struct layout *ret_layout);
void layout_free(struct layout *layout);

/* Whether all of the range may be so on the left. */
bool layout_may_be_data(const struct layout *layout, off_t begin, off_t end);
bool layout_may_be_hole(const struct layout *layout, off_t begin, off_t end);

/* Whether `found` may be the left's answer to SEEK_DATA or SEEK_HOLE at `offset`; negative: -errno. */
bool layout_may_find(const struct layout *layout, off_t offset, int whence, off_t found);

/* Whether all data and holes of a file of the left may be as they are. */
bool layout_allows(const struct layout *layout, const struct segments *left);

#define AUTO_LAYOUT __attribute__((cleanup(layout_free)))

#endif
