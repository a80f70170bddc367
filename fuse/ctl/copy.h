/* The contents of one file into another, whatever they are stored as. */
#ifndef TALLY_CTL_COPY_H
#define TALLY_CTL_COPY_H

#include "store/backend.h"

/* Data where there is data, holes where there are holes, and the size. `out` must be empty. 0 or -errno. */
int copy_contents(struct backend *in, struct backend *out);

/* 0 when both read the same; -EIO when not; other -errno. */
int copy_compare(struct backend *in, struct backend *out);

#endif
