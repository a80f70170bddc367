/*
 * Who uses a container. One store file at a time may write a lower file, and nobody may read it meanwhile with a map of
 * his own; but the lower directory can be mounted twice, or `tallyctl` can work on it. So whoever opens a container
 * claims it with a lock on the lower file, which goes with the descriptor, also when the process dies.
 *
 * The lock is of the open file description (fcntl(2), F_OFD_SETLK), on the last byte that a lock can name. The mount
 * keeps its programs' own locks off that byte.
 */
#ifndef TALLY_STORE_CLAIM_H
#define TALLY_STORE_CLAIM_H

#include <stdint.h>

#include "util/split.h"

#define STORE_CLAIM_OFFSET INT64_MAX

enum store_claim {
    STORE_CLAIM_NONE,  /* gives it back */
    STORE_CLAIM_READ,  /* shared with other readers; `fd` must be open for reading */
    STORE_CLAIM_WRITE, /* nobody else; `fd` must be open for writing */
};

/*
 * Replaces the claim that `fd`'s open file description has, without waiting. 0, also on a file system without locks;
 * -EBUSY when somebody else's claim does not allow it: the old claim stands then; -errno.
 */
int store_claim(int fd, struct split *split, enum store_claim claim);

#endif
