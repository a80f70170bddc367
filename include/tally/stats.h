/*
 * The operations and their counters, as read from a mount. No function here keeps state; thread safety is that of
 * the arguments.
 */
#ifndef TALLY_STATS_H
#define TALLY_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/hist.h"

/* All attributes of tallyfs begin with this. */
#define TALLY_XATTR_PREFIX "user.tallyfs."

/* Of stats.json; goes up when a reader of the old one would misread the new one. */
#define TALLY_STATS_SCHEMA 1

enum tally_op {
#define TALLY_OP(name, since, reply, doc, parameters, arguments) TALLY_OP_##name,
#include "tally/ops.def"
#undef TALLY_OP
    TALLY_OP_COUNT
};

/* Work of the threads behind the store. */
enum tally_background {
    TALLY_BACKGROUND_COMPRESS,
    TALLY_BACKGROUND_RECLAIM,
    TALLY_BACKGROUND_DECODE, /* what workers do of a read of several chunks, which waits for them */
    TALLY_BACKGROUND_COUNT
};

/* What the mount has at the moment. */
enum tally_gauge {
#define TALLY_GAUGE(name, kind, unit, doc) TALLY_GAUGE_##name,
#include "tally/gauges.def"
#undef TALLY_GAUGE
    TALLY_GAUGE_COUNT
};

/* Errors are counted by errno; what is above goes into slot 0. */
#define TALLY_ERRNO_SLOTS 134

/* One operation's counters. Times are CLOCK_MONOTONIC nanoseconds, from the handler's entry to the reply written. */
struct tally_op_counters {
    uint64_t count;    /* all, with those that were answered with an error */
    uint64_t errors;   /* answered with an error; ENOENT of a lookup is one */
    uint64_t bytes;    /* moved by data operations */
    uint64_t total_ns; /* lower + codec + wait + own work */
    uint64_t min_ns;   /* 0 when count is 0 */
    uint64_t max_ns;
    uint64_t lower_ns; /* system calls on the lower file system */
    uint64_t codec_ns; /* compressing and decompressing, on the request's thread */
    uint64_t wait_ns;  /* waiting for locks and queues inside tallyfs */
    uint64_t errors_by_errno[TALLY_ERRNO_SLOTS];
    uint64_t buckets[TALLY_HIST_BUCKETS]; /* of total_ns */

    /* Where tally_op_has_sizes; of all requests, also those that moved less or failed. */
    uint64_t requested_bytes;
    uint64_t sizes[TALLY_SIZE_BUCKETS];
};

/* "lookup", "read" …; the name in attributes and everywhere. `op` must be below TALLY_OP_COUNT. */
const char *tally_op_name(enum tally_op op);

/* What the operation is, for people: a phrase without a full stop. */
const char *tally_op_doc(enum tally_op op);

/* Whether the sizes of its requests are counted: read and write. */
bool tally_op_has_sizes(enum tally_op op);

/* The operation of that name, or -1. */
int tally_op_by_name(const char *name);

/* "compress", "reclaim". */
const char *tally_background_name(enum tally_background work);

/* "inodes" …; `gauge` must be below TALLY_GAUGE_COUNT, here and below. */
const char *tally_gauge_name(enum tally_gauge gauge);

/* What it is, for people: a sentence. */
const char *tally_gauge_doc(enum tally_gauge gauge);

/* The unit, with which the name ends, or NULL. */
const char *tally_gauge_unit(enum tally_gauge gauge);

/* Whether it only grows until the next reset. */
bool tally_gauge_is_counter(enum tally_gauge gauge);

/* Adds `from` to `to`: sums, and the wider of the extremes. */
void tally_op_counters_add(struct tally_op_counters *to, const struct tally_op_counters *from);

#endif
