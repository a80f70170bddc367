/* The control file: a name in the root that is no file of the lower directory, for reading counters and for commands. */
#ifndef TALLY_FS_CONTROL_H
#define TALLY_FS_CONTROL_H

#include "fs/context.h"

void control_entry(const struct fs *fs, struct fuse_entry_param *ret_entry);
void control_attributes(const struct fs *fs, struct stat *ret_attributes);

#endif
