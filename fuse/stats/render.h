/*
 * Counters as text: what the mount and tallyctl have in common. All functions are pure; an allocation that fails shows
 * in the strbuf.
 */
#ifndef TALLY_STATS_RENDER_H
#define TALLY_STATS_RENDER_H

#include <stdbool.h>

#include "tally/stats.h"
#include "util/strbuf.h"

/* All counters of a mount at one moment, or their growth between two. */
struct stats_snapshot {
    const char *version;
    const char *lower;
    const char *options;
    uint64_t epoch;
    uint64_t
        interval_ns; /* that the counters cover: since the last reset, or between two snapshots */
    uint64_t uptime_ns; /* since the mount */
    uint64_t lost;
    bool sums_only; /* extremes and histograms are not known */
    bool gauges_known;
    uint64_t gauges[TALLY_GAUGE_COUNT];
    struct tally_op_counters operations[TALLY_OP_COUNT];
    struct tally_op_counters background[TALLY_BACKGROUND_COUNT];
};

/* How much of the detail is wanted. */
struct stats_detail {
    unsigned
        errnos; /* the most frequent ones of each operation by name, the rest added up as "other" */
    bool histograms;
    bool prometheus; /* the text format 0.0.4 in place of OpenMetrics */
};

/* stats.json. Operations with a count of 0 are left out; what is not known is null. */
void stats_render_json(const struct stats_snapshot *snapshot, const struct stats_detail *detail,
                       struct strbuf *out);

/* stats.openmetrics: the OpenMetrics text format 1.0; or stats.prometheus. */
void stats_render_openmetrics(const struct stats_snapshot *snapshot,
                              const struct stats_detail *detail, struct strbuf *out);

/* stats: lines for people. */
void stats_render_table(const struct stats_snapshot *snapshot, struct strbuf *out);

/* op.NAME: one operation as a JSON object, with its histograms as [[LOW, COUNT], …]. */
void stats_render_operation(const struct tally_op_counters *counters, bool sums_only,
                            const struct stats_detail *detail, struct strbuf *out);

/* background.NAME: one kind of background work as a JSON object. */
void stats_render_background(const struct tally_op_counters *counters, struct strbuf *out);

/* op.NAME.histogram: sparse "LOW COUNT" lines; the overflow bucket begins with ">". */
void stats_render_histogram(const struct tally_op_counters *counters, struct strbuf *out);

/* op.NAME.sizes: sparse "LOW_BYTES COUNT" lines, LOW_BYTES being 0 or a power of two. */
void stats_render_sizes(const struct tally_op_counters *counters, struct strbuf *out);

/* Calls `add` for each of the `errnos` most frequent errors, then once with the name "other" for the rest, if any. */
void stats_errors(const struct tally_op_counters *counters, unsigned errnos,
                  void (*add)(void *user, const char *name, uint64_t count), void *user);

#endif
