/* Names for inodes that are known by number only, for reports. */
#ifndef TALLY_FS_PATH_H
#define TALLY_FS_PATH_H

#include "fs/context.h"
#include "util/strbuf.h"

/* The subject of a call about the control file (struct call). */
#define PATH_CONTROL_SUBJECT UINT64_MAX

/*
 * Adds the path, relative to the mount's root, of what a call with this subject was about; "." for the root itself, "?"
 * when the kernel has forgotten it or it cannot be told. That of a removed file is its last one. Not for everybody's eyes:
 * nobody has checked who may know the directories above it.
 */
void path_describe(struct fs *fs, struct split *split, uint64_t subject, uint64_t ino, struct strbuf *path);

/* Keeps the name of a node that the kernel is about to forget, if much was done with it. */
void path_keep(struct fs *fs, struct split *split, struct node *node);

#endif
