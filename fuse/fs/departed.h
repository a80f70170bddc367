/*
 * Names of inodes that the kernel has forgotten, for reports: of the last so many on which much was done. A temporary file
 * may have been the busiest of all. Thread-safe; only FORGET of a busy inode and readers of reports take the lock.
 */
#ifndef TALLY_FS_DEPARTED_H
#define TALLY_FS_DEPARTED_H

#include <stdbool.h>
#include <stdint.h>

#include "util/strbuf.h"

#define DEPARTED_NAMES 512

/* Operations on an inode that make its name worth keeping. */
#define DEPARTED_OPERATIONS 32

struct departed;

/* NULL without memory. */
struct departed *departed_create(void);
void departed_destroy(struct departed *departed);

/* Takes `path` over; may be NULL, then nothing happens. */
void departed_add(struct departed *departed, uint64_t subject, char *path);

/* Adds the path of the call's subject; false when it is not known. */
bool departed_find(struct departed *departed, uint64_t subject, struct strbuf *path);

#endif
