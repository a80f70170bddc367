/* The entries of a directory, with "." and "..". */
#ifndef TALLY_DIFFERENTIAL_LISTING_H
#define TALLY_DIFFERENTIAL_LISTING_H

#include <stddef.h>
#include <sys/types.h>

#define LISTING_BUFFER_BYTES 32768
#define LISTING_BUFFER_SMALL 280 /* room for one entry of any name */

struct entry {
    char *name;
    unsigned type; /* DT_… */
    ino_t ino;
    off_t next; /* where the following entry is */
};

struct listing {
    struct entry *entries;
    size_t count;
};

/* Reads on from the descriptor's position with a buffer of that many bytes. 0 or -errno. */
int listing_read(int fd, size_t buffer_bytes, struct listing *ret_listing);

/* By name. */
void listing_sort(struct listing *listing);
void listing_free(struct listing *listing);

#define AUTO_LISTING __attribute__((cleanup(listing_free)))

#endif
