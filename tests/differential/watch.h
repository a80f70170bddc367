/* How a call moves times: of the objects that it names and of the directories that they are in. */
#ifndef TALLY_DIFFERENTIAL_WATCH_H
#define TALLY_DIFFERENTIAL_WATCH_H

#include "view.h"

#define WATCHED_MAX 4

struct watch {
    struct {
        bool known;
        struct stat attributes;
    } objects[WATCHED_MAX];
};

void watch_begin(const struct view *view, const struct op *op, struct watch *ret_watch);

/* After watch_begin the clock moves on, so that a time that is set is later than any before. */
void watch_wait(void);

/* Adds to the outcome for each object whether its times went forward, back, or not at all. */
void watch_end(const struct view *view, const struct op *op, const struct watch *watch,
               struct outcome *outcome);

#endif
