/*
 * Where a node was last seen: a name in a directory. A daemon that is not root may get file handles, which prove what an
 * inode is, but may not open them. There a node whose descriptor was closed is opened again by its name, and its handle
 * shows whether it is still the same. What has no name any more, or is open, keeps its descriptor.
 */
#ifndef TALLY_FS_LOCATION_H
#define TALLY_FS_LOCATION_H

#include "fs/inode_table.h"

/* The node was found as `name` in `parent`, which is kept as long. Without memory it keeps its descriptor instead. */
void location_set(struct inode_table *table, struct node *node, struct node *parent, const char *name);

/* `node` is about to be freed. No lock may be held. */
void location_drop(struct inode_table *table, struct node *node);

/*
 * Opens the node by its location, `depth` steps above the first that was asked for. An O_PATH descriptor; -ESTALE when
 * something else or nothing is there now; another -errno.
 */
int location_open(struct inode_table *table, struct split *split, struct node *node, unsigned depth);

#endif
