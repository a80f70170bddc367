/*
 * Counting. Each thread has a block of its own, a row an operation; nothing is shared on the hot path but one
 * read-mostly epoch. A row is a sequence lock with one writer: readers copy and retry, and never stop the writer.
 *
 * Reset is the epoch going up by one. A writer that meets a row of an older epoch clears it in the same step in
 * which it counts; a reader takes such a row as empty. So a reset costs nothing, and every operation is in exactly
 * one epoch, wholly.
 *
 * A program must find its own operation in the counters when the reply has reached it, although the time of an
 * operation ends only with the reply. So a thread says that it is about to reply, and a reader waits the few
 * microseconds until such a thread has counted.
 */
#ifndef TALLY_STATS_STATS_H
#define TALLY_STATS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "tally/stats.h"
#include "util/split.h"
#include "util/strbuf.h"

struct stats;
struct stats_thread;

/* In no tree. */
#define STATS_TREE_OTHER UINT64_MAX

struct stats_sample {
    enum tally_op op;
    int error; /* 0 or a positive errno that was replied */
    uint64_t total_ns;
    uint64_t bytes; /* moved by a data operation */
    uint64_t requested_bytes; /* where tally_op_has_sizes */
    struct split split;

    /* Whom it was for and what it was about (shares.h). */
    uint64_t subject; /* a number that the inode has had alone since the mount; 0: none */
    uint64_t ino;     /* the inode's number as programs see it */
    uint64_t tree;    /* a number of the directory tree, or STATS_TREE_OTHER; 0: trees are not counted */
    uint32_t pid;     /* the calling thread's; 0: not known */
    uint32_t uid;
    bool nobody; /* no user asked for it, `uid` has no meaning */
};

/* 0 or -ENOMEM. Destroy when no thread counts any more. */
int stats_create(struct stats **ret_stats);
void stats_destroy(struct stats *stats);

/*
 * The calling thread's block, made on first use and handed to a later thread when this one ends (its counts stay in
 * the totals). NULL when memory is out: the operation is then not counted, but stats_lost goes up.
 */
struct stats_thread *stats_thread(struct stats *stats);

/* The calling thread is about to send a reply and will call stats_record next. */
void stats_replying(struct stats_thread *thread);

/* Counts one operation. Any time is fine for operations without a reply. */
void stats_record(struct stats_thread *thread, const struct stats_sample *sample);

/* Counts background work of one kind; not an operation. */
void stats_record_background(struct stats_thread *thread, enum tally_background work, int error,
                             uint64_t bytes, const struct split *split);

/* Zero everything, new epoch. */
void stats_reset(struct stats *stats);

uint64_t stats_epoch(const struct stats *stats);

/* Since stats_create, and since the last reset. */
uint64_t stats_uptime_ns(const struct stats *stats);
uint64_t stats_epoch_age_ns(const struct stats *stats);

/* Operations that could not be counted because memory was out; a reset does not clear it. */
uint64_t stats_lost(const struct stats *stats);

/* The sum over all threads of one operation in the current epoch, consistent for each thread. */
void stats_read(struct stats *stats, enum tally_op op, struct tally_op_counters *ret_counters);

/* The same of background work: its time is lower + codec + wait, without extremes and without a histogram. */
void stats_read_background(struct stats *stats, enum tally_background work,
                           struct tally_op_counters *ret_counters);

/*
 * Renders the counter attribute `name` (without the prefix "user.tallyfs."): stats, stats.json, stats.openmetrics,
 * stats.prometheus, op.NAME,
 * op.NAME.FIELD, op.NAME.histogram, op.read.sizes, op.write.sizes, background.NAME, epoch, uptime_ns. `head` is the mount's description in the first
 * three. All of one value are of one epoch, and every operation whose reply was sent before the call is in it. 0;
 * -ENODATA for a name that is not a counter's; -ENOMEM.
 */
struct stats_head {
    const char *version;
    const char *lower;
    const char *options;
    void (*read_gauges)(void *user, uint64_t ret_gauges[static TALLY_GAUGE_COUNT]); /* NULL: they are not known */
    void *user;
};
int stats_render(struct stats *stats, const struct stats_head *head, const char *name,
                 struct strbuf *out);

/* Calls `add` with each name that stats_render knows and that is to be listed. */
void stats_names(void (*add)(void *user, const char *name), void *user);

#endif
