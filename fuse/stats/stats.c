#include "stats/stats.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "stats/block.h"

/*
 * Stores to a row are releases, so that none becomes visible before the odd sequence number; read.c has the other
 * half. (Fences would do the same, but the thread sanitizer does not know them; on x86 all are plain moves.)
 */
static void set(_Atomic uint64_t *counter, uint64_t value)
{
    atomic_store_explicit(counter, value, memory_order_release);
}

static uint64_t get(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Adds to a counter that only this thread writes. */
static void bump(_Atomic uint64_t *counter, uint64_t by)
{
    set(counter, get(counter) + by);
}

/* Runs when a thread ends: its block waits, with its counts, for the next thread. */
static void retire(void *pointer)
{
    struct stats_thread *thread = pointer;
    struct stats *stats = thread->stats;

    pthread_mutex_lock(&stats->lock);
    set(&thread->replies_counted, get(&thread->replies_announced));
    thread->next_idle = stats->idle;
    stats->idle = thread;
    pthread_mutex_unlock(&stats->lock);
}

int stats_create(struct stats **ret_stats)
{
    struct stats *stats = aligned_alloc(_Alignof(struct stats), sizeof(*stats));

    if (!stats)
        return -ENOMEM;
    *stats = (struct stats){.began_ns = clock_ns()};
    if (pthread_key_create(&stats->key, retire) != 0) {
        free(stats);
        return -ENOMEM;
    }
    pthread_mutex_init(&stats->lock, NULL);
    atomic_init(&stats->epoch, 1);
    atomic_init(&stats->epoch_began_ns, stats->began_ns);
    *ret_stats = stats;
    return 0;
}

void stats_destroy(struct stats *stats)
{
    struct stats_thread *thread = stats->threads;

    pthread_key_delete(stats->key);
    while (thread) {
        struct stats_thread *next = thread->next;

        munmap(thread, sizeof(*thread));
        thread = next;
    }
    pthread_mutex_destroy(&stats->lock);
    free(stats);
}

/* Zero pages: a block takes memory only for the operations that its threads ever did. */
static struct stats_thread *make_block(struct stats *stats)
{
    struct stats_thread *thread =
        mmap(NULL, sizeof(*thread), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (thread == MAP_FAILED)
        return NULL;
    madvise(thread, sizeof(*thread), MADV_NOHUGEPAGE);
    thread->stats = stats;
    thread->next = stats->threads;
    stats->threads = thread;
    return thread;
}

/* The slow path of stats_thread: takes over an idle block, or makes one. */
static struct stats_thread *adopt_block(struct stats *stats)
{
    struct stats_thread *thread;

    pthread_mutex_lock(&stats->lock);
    thread = stats->idle;
    if (thread) {
        stats->idle = thread->next_idle;
    } else {
        thread = make_block(stats);
    }
    pthread_mutex_unlock(&stats->lock);
    if (thread && pthread_setspecific(stats->key, thread) != 0) {
        retire(thread);
        thread = NULL;
    }
    if (!thread)
        atomic_fetch_add_explicit(&stats->lost, 1, memory_order_relaxed);
    return thread;
}

struct stats_thread *stats_thread(struct stats *stats)
{
    struct stats_thread *thread = pthread_getspecific(stats->key);

    return thread ? thread : adopt_block(stats);
}

void stats_replying(struct stats_thread *thread)
{
    bump(&thread->replies_announced, 1);
}

/* Opens a row for writing; a row of an older epoch starts at zero. */
static void row_begin(struct stats_row *row, uint64_t epoch)
{
    bump(&row->sequence, 1);
    if (get(&row->epoch) == epoch)
        return;
    for (size_t i = 0; i < STATS_ROW_WORDS; i++)
        set(&row->words[i], 0);
    set(&row->epoch, epoch);
}

static void row_end(struct stats_row *row)
{
    bump(&row->sequence, 1);
}

void stats_record(struct stats_thread *thread, const struct stats_sample *sample)
{
    struct stats_row *row = &thread->rows[sample->op];
    uint64_t epoch = atomic_load_explicit(&thread->stats->epoch, memory_order_acquire);
    uint64_t count;

    row_begin(row, epoch);
    count = get(&row->words[STATS_COUNT]);
    set(&row->words[STATS_COUNT], count + 1);
    if (sample->error) {
        unsigned slot = (unsigned)sample->error < TALLY_ERRNO_SLOTS ? (unsigned)sample->error : 0;

        bump(&row->words[STATS_ERRORS], 1);
        bump(&row->words[STATS_BY_ERRNO + slot], 1);
    }
    bump(&row->words[STATS_BYTES], sample->bytes);
    bump(&row->words[STATS_TOTAL_NS], sample->total_ns);
    bump(&row->words[STATS_LOWER_NS], sample->split.lower_ns);
    bump(&row->words[STATS_CODEC_NS], sample->split.codec_ns);
    bump(&row->words[STATS_WAIT_NS], sample->split.wait_ns);
    if (count == 0 || sample->total_ns < get(&row->words[STATS_MIN_NS]))
        set(&row->words[STATS_MIN_NS], sample->total_ns);
    if (sample->total_ns > get(&row->words[STATS_MAX_NS]))
        set(&row->words[STATS_MAX_NS], sample->total_ns);
    bump(&row->words[STATS_BUCKETS + tally_hist_index(sample->total_ns)], 1);
    if (tally_op_has_sizes(sample->op)) {
        bump(&row->words[STATS_REQUESTED_BYTES], sample->requested_bytes);
        bump(&row->words[STATS_SIZES + tally_size_index(sample->requested_bytes)], 1);
    }
    row_end(row);
    stats_record_shares(thread->sets, epoch, sample);
    set(&thread->replies_counted, get(&thread->replies_announced));
}

void stats_record_background(struct stats_thread *thread, enum tally_background work, int error,
                             uint64_t bytes, const struct split *split)
{
    struct stats_row *row = &thread->background[work];

    row_begin(row, atomic_load_explicit(&thread->stats->epoch, memory_order_acquire));
    bump(&row->words[STATS_COUNT], 1);
    bump(&row->words[STATS_ERRORS], error ? 1 : 0);
    bump(&row->words[STATS_BYTES], bytes);
    bump(&row->words[STATS_LOWER_NS], split->lower_ns);
    bump(&row->words[STATS_CODEC_NS], split->codec_ns);
    bump(&row->words[STATS_WAIT_NS], split->wait_ns);
    bump(&row->words[STATS_TOTAL_NS], split->lower_ns + split->codec_ns + split->wait_ns);
    row_end(row);
}

void stats_reset(struct stats *stats)
{
    /* What has been answered before the reset was asked for belongs to the old epoch. */
    stats_settle(stats);
    set(&stats->epoch_began_ns, clock_ns());
    atomic_fetch_add_explicit(&stats->epoch, 1, memory_order_acq_rel);
}

uint64_t stats_epoch(const struct stats *stats)
{
    return atomic_load_explicit(&stats->epoch, memory_order_acquire);
}

uint64_t stats_uptime_ns(const struct stats *stats)
{
    return clock_ns() - stats->began_ns;
}

uint64_t stats_epoch_age_ns(const struct stats *stats)
{
    return clock_ns() - atomic_load_explicit(&stats->epoch_began_ns, memory_order_acquire);
}

uint64_t stats_lost(const struct stats *stats)
{
    return get(&stats->lost);
}
