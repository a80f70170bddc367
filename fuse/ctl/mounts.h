/* Which tallyfs mounts there are in this mount namespace. */
#ifndef TALLY_CTL_MOUNTS_H
#define TALLY_CTL_MOUNTS_H

#include <stdbool.h>

/*
 * Where a live tallyfs mount has to do with `path`, a place in a lower directory: it serves it, a directory above it or
 * one below it. 1 with the mountpoint, which the caller frees; 2 where `path` itself lies on a tallyfs mount; 0; -errno.
 */
int mounts_find(const char *path, char **ret_mountpoint);

/*
 * Whether a subcommand may work on its operands: not on a mount itself, nor, when it `writes`, below a live one; a note
 * where it may find files in use. 0; -EBUSY after a message.
 */
struct options;
struct log;
int mounts_allow(const struct options *options, const struct log *log, bool writes);

#endif
