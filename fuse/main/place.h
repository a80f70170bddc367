/* The two directories of a mount, checked before anything is started, so that each fault has its own message. */
#ifndef TALLY_MAIN_PLACE_H
#define TALLY_MAIN_PLACE_H

#include <stdbool.h>

#include "util/log.h"

struct place {
    char *lower;      /* absolute; owned */
    char *mountpoint; /* absolute; owned */
};

/* 0, or -errno after a message. `place` must be freed in any case. */
int place_resolve(const char *lower, const char *mountpoint, const struct log *log, struct place *place);

/* Whether a tallyfs is mounted on an absolute path. */
bool place_has_tallyfs(const char *mountpoint);

void place_free(struct place *place);

#endif
