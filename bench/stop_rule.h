/* When a run has blocks enough. */
#ifndef TALLY_BENCH_STOP_RULE_H
#define TALLY_BENCH_STOP_RULE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "options.h"

enum stop_why {
    STOP_NOT,       /* another block */
    STOP_TRIALS,    /* as many as were asked for */
    STOP_PRECISION, /* all intervals are narrow enough */
    STOP_TIME,      /* no time is left */
};

struct stop {
    enum stop_why why;
    double widest;        /* half of the widest interval over its mean; NaN when one has none yet */
    size_t configuration; /* whose interval that is; of no meaning with NaN */
    const char *metric;   /* a constant; NULL with NaN */
};

/*
 * After `blocks` complete blocks of which the last ended at `elapsed_s`. Without a time limit the number of trials
 * decides. With one, a run goes on until each configuration's time to write (with sync) and to read is known to within
 * options->precision, with no fewer than options->trials blocks, or until the time is over. A configuration of which
 * every trial failed does not hold up the others. 0; -ENOMEM; -EPROTO for a result that does not fit together.
 */
int stop_rule(const struct options *options, const json_t *result, size_t blocks, double elapsed_s,
              struct stop *ret_stop);

/* A new reference: why ("trials", "precision", "time"), blocks, elapsed_s, widest_relative_half_width and whose. */
json_t *stop_json(const struct stop *stop, size_t blocks, double elapsed_s);

#endif
