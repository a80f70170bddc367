#ifndef TALLY_DIFFERENTIAL_XATTR_NAMES_H
#define TALLY_DIFFERENTIAL_XATTR_NAMES_H

#include <stdbool.h>

#include "util/strbuf.h"

/* Adds the names of a file's extended attributes, sorted, one a line. 0 or -errno. */
int xattr_names(const char *path, bool follow, struct strbuf *to);

#endif
