/* Figures out of results of tallybench, addressed by words so that a table of claims can name them. */
#ifndef TALLY_BENCH_PUBLISHED_SAMPLE_H
#define TALLY_BENCH_PUBLISHED_SAMPLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct values {
    double *list; /* owned */
    size_t count;
};

/*
 * The figure of each good trial of one row.
 *
 *   results   array of results of tallybench; the first that has the row gives the values
 *   workload  such as "trigger"
 *   row       "TARGET/CODEC/PATH", such as "ext4/lz4/tallyfs"
 *   twin      of the row's repetition (--aa) instead of the row itself
 *   measure   "PHASE:FIELD+FIELD": the sum of those fields over the trial's phases of that name; "PHASE@SET:…" of that
 *             set only; "space:…" and "space@SET:…" likewise of the trial's space. "…/FIELD" divides by the sum of
 *             that field.
 *
 * Trials without the figure give no value. 0, perhaps with none; -ENOMEM.
 */
int sample_values(const json_t *results, const char *workload, const char *row, bool twin,
                  const char *measure, struct values *ret_values);

/* The largest |mean(row) / mean(its repetition) - 1| of the workload's rows; 0 where nothing was repeated; -ENOMEM. */
int sample_noise(const json_t *results, const char *workload, const char *measure,
                 double *ret_floor);

void values_free(struct values *values);

#endif
