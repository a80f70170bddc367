/* The one place that includes libfuse. TALLY_FUSE_USE_VERSION comes from the library that the build found. */
#ifndef TALLY_FS_LIBFUSE_H
#define TALLY_FS_LIBFUSE_H

#define FUSE_USE_VERSION TALLY_FUSE_USE_VERSION
#include <fuse_lowlevel.h>

#define TALLY_FUSE_HAS_V318 (FUSE_VERSION >= FUSE_MAKE_VERSION(3, 18))

#endif
