/* How far a run is, on stderr: a bar with the time left on a terminal, a line a step elsewhere. */
#ifndef TALLY_BENCH_PROGRESS_H
#define TALLY_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool terminal;
    size_t step, steps;
    uint64_t began_ns, drawn_ns;
    char what[96];
};

void progress_begin(struct progress *progress, size_t steps);

/* Starts the next step: `what` of it. */
void progress_step(struct progress *progress, const char *what);

/* There are so many steps more than was thought. */
void progress_more(struct progress *progress, size_t steps);

/* How much of the step is done, 0 ... 1. Cheap to call often. */
void progress_part(struct progress *progress, double part);

/* Takes the bar away, so that other lines can be written; progress_step draws it again. */
void progress_clear(const struct progress *progress);

#endif
