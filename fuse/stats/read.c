/* Reading what other threads count, without stopping them. */
#include <sched.h>
#include <string.h>

#include "stats/block.h"
#include "stats/stats.h"

/* How long a reader waits in all for threads that have announced a reply but have not counted it. */
#define REPLY_WAIT_NS UINT64_C(100000000)

struct stats_thread *stats_first_thread(struct stats *stats)
{
    struct stats_thread *first;

    pthread_mutex_lock(&stats->lock);
    first = stats->threads;
    pthread_mutex_unlock(&stats->lock);
    return first;
}

/* Waits until what the thread had announced when we came has been counted. */
static void await_replies(struct stats_thread *thread, uint64_t began_ns)
{
    uint64_t announced = atomic_load_explicit(&thread->replies_announced, memory_order_acquire);

    while (atomic_load_explicit(&thread->replies_counted, memory_order_acquire) < announced) {
        if (clock_ns() - began_ns > REPLY_WAIT_NS)
            return;
        sched_yield();
    }
}

void stats_settle(struct stats *stats)
{
    struct stats_thread *self = pthread_getspecific(stats->key);
    uint64_t began_ns = clock_ns();

    for (struct stats_thread *thread = stats_first_thread(stats); thread; thread = thread->next)
        if (thread != self)
            await_replies(thread, began_ns);
}

/*
 * Copies a row of the given epoch as it was at one moment; false when it holds nothing of that epoch. The loads are
 * acquires, so that none happens after the second look at the sequence number, which is the one that decides.
 */
static bool row_copy(struct stats_row *row, uint64_t epoch, uint64_t words[static STATS_ROW_WORDS])
{
    for (;;) {
        uint64_t before = atomic_load_explicit(&row->sequence, memory_order_acquire);
        bool current;

        if (before & 1) {
            sched_yield();
            continue;
        }
        current = atomic_load_explicit(&row->epoch, memory_order_acquire) == epoch;
        for (size_t i = 0; current && i < STATS_ROW_WORDS; i++)
            words[i] = atomic_load_explicit(&row->words[i], memory_order_acquire);
        if (atomic_load_explicit(&row->sequence, memory_order_relaxed) == before)
            return current;
    }
}

static void words_to_counters(const uint64_t words[static STATS_ROW_WORDS],
                              struct tally_op_counters *counters)
{
    *counters = (struct tally_op_counters){
        .count = words[STATS_COUNT],
        .errors = words[STATS_ERRORS],
        .bytes = words[STATS_BYTES],
        .total_ns = words[STATS_TOTAL_NS],
        .min_ns = words[STATS_MIN_NS],
        .max_ns = words[STATS_MAX_NS],
        .lower_ns = words[STATS_LOWER_NS],
        .codec_ns = words[STATS_CODEC_NS],
        .wait_ns = words[STATS_WAIT_NS],
    };
    memcpy(counters->errors_by_errno, words + STATS_BY_ERRNO, sizeof(counters->errors_by_errno));
    memcpy(counters->buckets, words + STATS_BUCKETS, sizeof(counters->buckets));
    counters->requested_bytes = words[STATS_REQUESTED_BYTES];
    memcpy(counters->sizes, words + STATS_SIZES, sizeof(counters->sizes));
}

/* Sums one row of every block; the row is the one at `row_offset` bytes in a block. */
static void read_rows(struct stats *stats, size_t row_offset,
                      struct tally_op_counters *ret_counters)
{
    uint64_t words[STATS_ROW_WORDS];
    uint64_t epoch;

    do {
        epoch = stats_epoch(stats);
        *ret_counters = (struct tally_op_counters){0};
        for (struct stats_thread *thread = stats_first_thread(stats); thread; thread = thread->next) {
            struct tally_op_counters counters;

            if (!row_copy((struct stats_row *)((char *)thread + row_offset), epoch, words))
                continue;
            words_to_counters(words, &counters);
            tally_op_counters_add(ret_counters, &counters);
        }
    } while (epoch != stats_epoch(stats));
}

void stats_read(struct stats *stats, enum tally_op op, struct tally_op_counters *ret_counters)
{
    read_rows(stats, offsetof(struct stats_thread, rows) + (size_t)op * sizeof(struct stats_row),
              ret_counters);
}

void stats_read_background(struct stats *stats, enum tally_background work,
                           struct tally_op_counters *ret_counters)
{
    read_rows(stats,
              offsetof(struct stats_thread, background) + (size_t)work * sizeof(struct stats_row),
              ret_counters);
}
