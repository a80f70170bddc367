/* What a thread counts into. Inside fuse/stats only. */
#ifndef TALLY_STATS_BLOCK_H
#define TALLY_STATS_BLOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "stats/set.h"
#include "stats/stats.h"

/* The places of the counters in a row. */
enum {
    STATS_COUNT,
    STATS_ERRORS,
    STATS_BYTES,
    STATS_TOTAL_NS,
    STATS_MIN_NS,
    STATS_MAX_NS,
    STATS_LOWER_NS,
    STATS_CODEC_NS,
    STATS_WAIT_NS,
    STATS_BY_ERRNO,
    STATS_BUCKETS = STATS_BY_ERRNO + TALLY_ERRNO_SLOTS,
    STATS_REQUESTED_BYTES = STATS_BUCKETS + TALLY_HIST_BUCKETS,
    STATS_SIZES,
    STATS_ROW_WORDS = STATS_SIZES + TALLY_SIZE_BUCKETS
};

/* One operation of one thread: a sequence lock, odd while its one writer writes. */
struct stats_row {
    _Alignas(64) _Atomic uint64_t sequence;
    _Atomic uint64_t epoch;
    _Atomic uint64_t words[STATS_ROW_WORDS];
};

struct stats_thread {
    struct stats_row rows[TALLY_OP_COUNT];
    struct stats_row background[TALLY_BACKGROUND_COUNT];
    struct stats_set sets[STATS_SETS];
    /* Announced before a reply is sent, counted after; equal when no reply is on its way. */
    _Alignas(64) _Atomic uint64_t replies_announced;
    _Atomic uint64_t replies_counted;
    struct stats *stats;
    struct stats_thread *next;      /* in the list of all */
    struct stats_thread *next_idle; /* in the list of those whose thread has ended */
};

struct stats {
    _Atomic uint64_t epoch; /* read on every operation, written by a reset only */
    _Atomic uint64_t epoch_began_ns;
    pthread_key_t key;
    uint64_t began_ns;
    /* Of both lists, not of what is in the blocks. Apart from the line that every operation reads. */
    _Alignas(64) pthread_mutex_t lock;
    struct stats_thread *threads; /* grows at its head only */
    struct stats_thread *idle;
    _Atomic uint64_t lost;
};

/* The first of all threads' blocks; follow `next`, which never changes, as no block is freed while the mount lives. */
struct stats_thread *stats_first_thread(struct stats *stats);

/* Waits until all operations whose reply has been sent are counted. */
void stats_settle(struct stats *stats);

#endif
