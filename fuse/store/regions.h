/* The bytes of a lower file that belong to no frame. */
#ifndef TALLY_STORE_REGIONS_H
#define TALLY_STORE_REGIONS_H

#include "store/salvage.h"

/*
 * Adds what lies between the frames from `from` on and is neither an old trailer, nor zeros, nor given back: something was
 * stored there about which nothing is known. Where a frame is missing, what is not covered beside such a place counts as
 * lost. 0 or -errno.
 */
int regions_check(struct backend *lower, const struct log_frames *frames, uint64_t from, struct salvage *salvage);

#endif
