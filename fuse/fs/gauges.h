/* What a mount has at the moment (tally/gauges.def). */
#ifndef TALLY_FS_GAUGES_H
#define TALLY_FS_GAUGES_H

#include "fs/context.h"

/* `user` is the struct fs. */
void gauges_read(void *user, uint64_t ret_gauges[static TALLY_GAUGE_COUNT]);

/* Those that count begin at zero again. */
void gauges_reset(struct fs *fs);

#endif
