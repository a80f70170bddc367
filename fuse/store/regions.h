/* The bytes of a lower file that belong to no frame. */
#ifndef TALLY_STORE_REGIONS_H
#define TALLY_STORE_REGIONS_H

#include "store/salvage.h"

/* Whether some of the range was given back to the lower file system. */
bool region_is_punched(struct backend *lower, uint64_t offset, uint64_t length);

/*
 * Adds what lies between the frames and is neither an old trailer, nor zeros, nor given back: something was stored there
 * about which nothing is known. Where such a thing is, what is not covered beside it counts as lost. 0 or -errno.
 */
int regions_check(struct backend *lower, const struct log_frames *frames, struct salvage *salvage);

#endif
