/*
 * The control file, a name in the root that is no file of the lower directory, and the attributes of tallyfs' own,
 * user.tallyfs.*: those of the mount on the control file and the root, those of a file on each file.
 */
#ifndef TALLY_FS_CONTROL_H
#define TALLY_FS_CONTROL_H

#include "fs/context.h"
#include "util/strbuf.h"

void control_entry(const struct fs *fs, struct fuse_entry_param *ret_entry);
void control_attributes(const struct fs *fs, struct stat *ret_attributes);

/* Whether an extended attribute is tallyfs' own. */
bool control_owns(const char *name);

/*
 * The functions below take an attribute's full name, which control_owns. -ENODATA for one that `ino` does not have;
 * -EPERM for one that cannot be written, or not by this caller.
 */
int control_get(struct call *call, fuse_ino_t ino, const char *name, struct strbuf *value);
int control_set(struct call *call, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags);
int control_remove(struct call *call, fuse_ino_t ino, const char *name);

/* Adds the names to be listed on the control file for this caller, each with its NUL. */
void control_list(const struct call *call, struct strbuf *names);

#endif
