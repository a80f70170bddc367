/* Going to the background: the first process stays until the mount answers, and ends with what came of it. */
#ifndef TALLY_MAIN_BACKGROUND_H
#define TALLY_MAIN_BACKGROUND_H

#include "util/log.h"

struct background {
    int ready; /* the daemon's end of the pipe to the first process; -1 in the foreground */
};

#define BACKGROUND_INIT {-1}

/*
 * Forks. In the daemon: 0. The first process does not return but ends: status 0 when the daemon has called
 * background_ready and `mountpoint` answers, else the daemon's own status. -errno when it cannot fork.
 */
int background_start(struct background *background, const char *mountpoint, const struct log *log);

/* The mount is there: the first process may look at it; messages go to syslog from now on. */
void background_ready(struct background *background, struct log *log);

#endif
