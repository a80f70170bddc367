/* What a result's raw values say: per configuration a sample of each figure, and how configurations compare. */
#ifndef TALLY_BENCH_SUMMARY_H
#define TALLY_BENCH_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "statistics/statistics.h"

/* Seconds, bytes for the two of space, and numbers of calls; sums over the sets of a trial. */
enum metric {
    METRIC_WRITE_WALL,
    METRIC_WRITE_USER,
    METRIC_WRITE_SYSTEM,
    METRIC_WRITE_CPU, /* user + system */
    METRIC_WRITE_SYNC,
    METRIC_WRITE_TOTAL, /* until all is on disk: wall + sync */
    METRIC_WRITE_DAEMON,
    METRIC_WRITE_MACHINE,
    METRIC_READ_WALL,
    METRIC_READ_USER,
    METRIC_READ_SYSTEM,
    METRIC_READ_CPU, /* user + system */
    METRIC_READ_DAEMON,
    METRIC_READ_MACHINE,
    METRIC_DELETE_WALL,
    METRIC_DELETE_USER,
    METRIC_DELETE_SYSTEM,
    METRIC_DELETE_CPU, /* user + system */
    METRIC_DELETE_SYNC,
    METRIC_DELETE_TOTAL,
    METRIC_DELETE_DAEMON,
    METRIC_DELETE_MACHINE,
    METRIC_UNTIL_FREE,
    METRIC_SPACE_DF,
    METRIC_SPACE_ALLOCATED,
    METRIC_WRITE_CALLS, /* from tallyfs' counters, as the four below them: sums over operations and threads */
    METRIC_WRITE_LOWER,
    METRIC_WRITE_CODEC,
    METRIC_WRITE_WAIT,
    METRIC_WRITE_OWN,
    METRIC_WRITE_BYTES, /* that operations moved */
    METRIC_READ_CALLS,
    METRIC_READ_LOWER,
    METRIC_READ_CODEC,
    METRIC_READ_WAIT,
    METRIC_READ_OWN,
    METRIC_READ_BYTES,
    METRIC_COUNT
};

/* "write_wall_s" … */
const char *metric_key(enum metric metric);

/* The figure of one trial. False when the trial has none. */
bool metric_value(const json_t *trial, enum metric metric, double *ret_value);

struct sample {
    double *values; /* owned */
    size_t n;       /* 0: nothing is known, the summary is not set */
    struct stats_summary summary;
    size_t outliers;
};

#define SUMMARY_MAX_SETS 2
#define SUMMARY_NO_TWIN SIZE_MAX

struct set_space {
    const char *name; /* borrowed from the result */
    double original_bytes;
    struct sample df, allocated;
};

struct row {
    const char *workload, *target, *codec, *path; /* borrowed; target is NULL for the source */
    size_t twin_of; /* the row of which this repeats the measurement; SUMMARY_NO_TWIN */
    size_t ok, failed;
    size_t cold_unavailable, unsettled, never_free; /* trials of which this is to be said */
    struct sample metrics[METRIC_COUNT];
    struct set_space sets[SUMMARY_MAX_SETS];
    size_t set_count;
};

struct summary {
    const json_t *result; /* borrowed */
    struct row *rows;     /* in the order of the configurations */
    size_t count;
};

/* 0; -ENOMEM; -EPROTO when the result's configurations and trials do not fit together. */
int summary_make(const json_t *result, struct summary *ret_summary);

void summary_free(struct summary *summary);

/* "ext4 lz4", "ext4 native", "reading the source". */
void row_label(const struct row *row, char *label, size_t size);

/* Whether the row is of that workload and measured a target, not as a twin. */
bool row_competes(const struct row *row, const char *workload);

struct comparison {
    bool known;        /* both have the figure */
    double ratio;      /* mean over the base's mean */
    double half_width; /* of its 95 % interval; NaN when there is no spread */
    struct stats_welch welch;
    bool has_welch;
    struct stats_mann_whitney mann_whitney;
    double adjusted_p;  /* of Welch's test, by Holm over the table; NaN without one */
    double noise_floor; /* as summary_noise gives it */
    enum stats_verdict verdict;
};

/*
 * What two measurements of the same differ by: the largest |mean(a) / mean(b) - 1| over the workload's twins. 0 where
 * there is no twin. Returns the number of pairs.
 */
size_t summary_noise(const struct summary *summary, const char *workload, enum metric metric,
                     double *ret_floor);

/* Compares a with b, without adjusted p, noise floor and verdict. 0; -ENOMEM. */
int comparison_make(const struct sample *a, const struct sample *b,
                    struct comparison *ret_comparison);

/* The row of the workload with the lowest mean of the metric; summary->count when none has it. */
size_t summary_best(const struct summary *summary, const char *workload, enum metric metric);

/*
 * Compares the workload's rows with `base[row]` (an index; summary->count for nothing) by the metric; p-values are
 * adjusted over all of them. `comparisons` has summary->count elements. 0; -ENOMEM.
 */
int summary_compare(const struct summary *summary, const char *workload, enum metric metric,
                    const size_t *base, struct comparison *comparisons);

/* The row of the same workload and target with that codec through tallyfs; summary->count when there is none. */
size_t summary_with_codec(const struct summary *summary, const struct row *row, const char *codec);

#endif
