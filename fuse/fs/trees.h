/*
 * Directory trees that operations are counted for (-o tree=DEPTH): each directory down to that depth below the mount's root
 * is one, with all that is below it and in no tree of its own. The trees are known by small numbers, which only ever grow
 * in number, up to a bound.
 *
 * Thread safety: all functions may be called from any thread; finding a known tree takes no lock.
 */
#ifndef TALLY_FS_TREES_H
#define TALLY_FS_TREES_H

#include <stdbool.h>
#include <stdint.h>

#include "util/strbuf.h"

/* More directories than these are counted with the tree that they are in. */
#define TREES_MAX 4096

/* Deeper ones would mostly be of one file each. */
#define TREES_DEPTH_MAX 16

/* A node's place: its tree, and how deep it is. 0: not known. */
struct tree_place {
    uint16_t tree;
    uint16_t depth; /* no more than TREES_DEPTH_MAX + 1 */
};

struct trees;

/* `depth`: 1 to TREES_DEPTH_MAX. NULL without memory. */
struct trees *trees_create(unsigned depth);
void trees_destroy(struct trees *trees);

struct tree_place trees_root(void);

/* The place of what is found as `name` in a directory at `parent`; a name is needed for directories only. */
struct tree_place trees_below(struct trees *trees, struct tree_place parent, const char *name, bool is_directory);

/* Adds the tree's path below the mount's root, "." for the root itself. */
void trees_path(struct trees *trees, unsigned tree, struct strbuf *path);

#endif
