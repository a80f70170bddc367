/* Counting: exact under many threads, whatever readers and resets do meanwhile. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "harness.h"
#include "stats/stats.h"

#define THREADS 64
#define SAMPLES 2000

static struct stats *create(void)
{
    struct stats *stats;

    CHECK_EQ(stats_create(&stats), 0);
    return stats;
}

/* A sample whose every number follows from `i`, so that sums can be checked. */
static struct stats_sample sample_of(uint64_t i)
{
    return (struct stats_sample){
        .op = i % 2 ? TALLY_OP_write : TALLY_OP_read,
        .error = i % 10 == 0 ? ENOSPC : 0,
        .total_ns = 1000 + i,
        .bytes = 4096,
        .split = {.lower_ns = 500, .codec_ns = 300, .wait_ns = 100},
    };
}

static uint64_t total_of_buckets(const struct tally_op_counters *counters)
{
    uint64_t total = 0;

    for (size_t i = 0; i < TALLY_HIST_BUCKETS; i++)
        total += counters->buckets[i];
    return total;
}

/* What must hold of any consistent copy of rows that sample_of filled. */
static bool is_consistent(const struct tally_op_counters *counters)
{
    uint64_t n = counters->count;

    return counters->bytes == n * 4096 && counters->lower_ns == n * 500 &&
           counters->codec_ns == n * 300 && counters->wait_ns == n * 100 &&
           total_of_buckets(counters) == n &&
           counters->errors_by_errno[ENOSPC] == counters->errors &&
           counters->total_ns >= n * 1000 &&
           (n == 0 || (counters->min_ns >= 1000 && counters->max_ns < 1000 + SAMPLES));
}

static void counts_all_when_one_thread_records(void)
{
    struct stats *stats = create();
    struct stats_thread *thread = stats_thread(stats);
    static struct tally_op_counters counters;
    static const struct stats_sample samples[] = {
        {.op = TALLY_OP_lookup, .error = ENOENT, .total_ns = 70},
        {.op = TALLY_OP_lookup, .error = ENOENT, .total_ns = 50},
        {.op = TALLY_OP_lookup, .error = 1000, .total_ns = UINT64_C(1) << 41},
        {.op = TALLY_OP_lookup, .total_ns = 90, .bytes = 7, .split = {.lower_ns = 10, .codec_ns = 20, .wait_ns = 30}},
    };

    CHECK(thread && stats_thread(stats) == thread);
    stats_read(stats, TALLY_OP_lookup, &counters);
    CHECK_EQ(counters.count, 0);
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        stats_record(thread, &samples[i]);
    stats_read(stats, TALLY_OP_lookup, &counters);
    CHECK_EQ(counters.count, 4);
    CHECK_EQ(counters.errors, 3);
    CHECK_EQ(counters.errors_by_errno[ENOENT], 2);
    CHECK_EQ(counters.errors_by_errno[0], 1);
    CHECK_EQ(counters.bytes, 7);
    CHECK_EQ(counters.min_ns, 50);
    CHECK_EQ(counters.max_ns, INT64_C(1) << 41);
    CHECK_EQ(counters.total_ns, 210 + (INT64_C(1) << 41));
    CHECK_EQ(counters.lower_ns, 10);
    CHECK_EQ(counters.codec_ns, 20);
    CHECK_EQ(counters.wait_ns, 30);
    CHECK_EQ(counters.buckets[TALLY_HIST_OVERFLOW], 1);
    CHECK_EQ(total_of_buckets(&counters), 4);
    stats_read(stats, TALLY_OP_statx, &counters);
    CHECK_EQ(counters.count, 0);
    stats_destroy(stats);
}

static void starts_at_zero_when_reset(void)
{
    struct stats *stats = create();
    struct stats_thread *thread = stats_thread(stats);
    const struct stats_sample slow = {.op = TALLY_OP_open, .error = EPERM, .total_ns = 5000};
    const struct stats_sample slower = {.op = TALLY_OP_open, .total_ns = 6000};
    const struct split split = {.lower_ns = 1, .codec_ns = 2, .wait_ns = 3};
    static struct tally_op_counters counters;

    stats_record(thread, &slow);
    stats_record_background(thread, TALLY_BACKGROUND_COMPRESS, EIO, 10, &split);
    CHECK_EQ(stats_epoch(stats), 1);
    stats_reset(stats);
    CHECK_EQ(stats_epoch(stats), 2);
    stats_read(stats, TALLY_OP_open, &counters);
    CHECK_EQ(counters.count, 0);
    CHECK_EQ(counters.max_ns, 0);
    stats_read_background(stats, TALLY_BACKGROUND_COMPRESS, &counters);
    CHECK_EQ(counters.count, 0);
    stats_record(thread, &slower);
    stats_record_background(thread, TALLY_BACKGROUND_COMPRESS, 0, 10, &split);
    stats_read(stats, TALLY_OP_open, &counters);
    CHECK_EQ(counters.count, 1);
    CHECK_EQ(counters.errors, 0);
    CHECK_EQ(counters.min_ns, 6000);
    CHECK_EQ(total_of_buckets(&counters), 1);
    stats_read_background(stats, TALLY_BACKGROUND_COMPRESS, &counters);
    CHECK_EQ(counters.count, 1);
    CHECK_EQ(counters.errors, 0);
    CHECK_EQ(counters.total_ns, 6);
    CHECK(stats_epoch_age_ns(stats) <= stats_uptime_ns(stats));
    stats_destroy(stats);
}

struct crowd {
    struct stats *stats;
    _Atomic bool done;
    _Atomic bool inconsistent;
    pthread_barrier_t barrier;
};

static void *record_samples(void *pointer)
{
    struct crowd *crowd = pointer;

    for (uint64_t i = 0; i < SAMPLES; i++) {
        const struct stats_sample sample = sample_of(i);
        struct stats_thread *thread = stats_thread(crowd->stats);

        stats_replying(thread);
        stats_record(thread, &sample);
    }
    return NULL;
}

static void *read_all_the_time(void *pointer)
{
    struct crowd *crowd = pointer;
    struct tally_op_counters *counters = calloc(1, sizeof(*counters));
    uint64_t before = 0;

    while (counters && !atomic_load(&crowd->done)) {
        stats_read(crowd->stats, TALLY_OP_read, counters);
        if (!is_consistent(counters) || counters->count < before)
            atomic_store(&crowd->inconsistent, true);
        before = counters->count;
        sched_yield();
    }
    free(counters);
    return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *user)
{
    CHECK_EQ(pthread_create(thread, NULL, run, user), 0);
}

/* 64 threads in two waves: the second takes over the blocks of the first. */
static void is_exact_when_threads_come_and_go_and_others_read(void)
{
    struct crowd crowd = {.stats = create()};
    static struct tally_op_counters reads, writes;
    pthread_t readers[2], threads[THREADS];

    for (size_t i = 0; i < 2; i++)
        start(&readers[i], read_all_the_time, &crowd);
    for (unsigned wave = 0; wave < 2; wave++) {
        for (size_t i = 0; i < THREADS; i++)
            start(&threads[i], record_samples, &crowd);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    atomic_store(&crowd.done, true);
    for (size_t i = 0; i < 2; i++)
        pthread_join(readers[i], NULL);
    CHECK(!atomic_load(&crowd.inconsistent));

    stats_read(crowd.stats, TALLY_OP_read, &reads);
    stats_read(crowd.stats, TALLY_OP_write, &writes);
    CHECK(is_consistent(&reads) && is_consistent(&writes));
    CHECK_EQ(reads.count, 2 * THREADS * SAMPLES / 2);
    CHECK_EQ(writes.count, 2 * THREADS * SAMPLES / 2);
    CHECK_EQ(reads.errors, 2 * THREADS * SAMPLES / 10);
    CHECK_EQ(writes.errors, 0);
    CHECK_EQ(reads.total_ns + writes.total_ns,
             2 * THREADS * (1000 * SAMPLES + SAMPLES * (SAMPLES - 1) / 2));
    CHECK_EQ(reads.min_ns, 1000);
    CHECK_EQ(writes.max_ns, 1000 + SAMPLES - 1);
    CHECK_EQ(stats_lost(crowd.stats), 0);
    stats_destroy(crowd.stats);
}

#define PHASES 40
#define RESETTED_THREADS 16
#define SAMPLES_A_PHASE 200

/* Between two barriers there is no reset: everything recorded there is in the epoch that holds there. */
static void *record_in_phases(void *pointer)
{
    struct crowd *crowd = pointer;

    for (unsigned phase = 0; phase < PHASES; phase++) {
        pthread_barrier_wait(&crowd->barrier);
        for (uint64_t i = 0; i < SAMPLES_A_PHASE; i++) {
            const struct stats_sample sample = sample_of(2 * i);

            stats_record(stats_thread(crowd->stats), &sample);
        }
        pthread_barrier_wait(&crowd->barrier);
    }
    return NULL;
}

static void loses_nothing_when_reset_between_operations(void)
{
    struct crowd crowd = {.stats = create()};
    static struct tally_op_counters counters;
    pthread_t threads[RESETTED_THREADS];
    uint64_t sum = 0;

    CHECK_EQ(pthread_barrier_init(&crowd.barrier, NULL, RESETTED_THREADS + 1), 0);
    for (size_t i = 0; i < RESETTED_THREADS; i++)
        start(&threads[i], record_in_phases, &crowd);
    for (unsigned phase = 0; phase < PHASES; phase++) {
        pthread_barrier_wait(&crowd.barrier);
        pthread_barrier_wait(&crowd.barrier);
        stats_read(crowd.stats, TALLY_OP_read, &counters);
        CHECK(is_consistent(&counters));
        CHECK_EQ(counters.count, RESETTED_THREADS * SAMPLES_A_PHASE);
        sum += counters.count;
        stats_reset(crowd.stats);
    }
    for (size_t i = 0; i < RESETTED_THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(sum, PHASES * RESETTED_THREADS * SAMPLES_A_PHASE);
    pthread_barrier_destroy(&crowd.barrier);
    stats_destroy(crowd.stats);
}

#define EPOCHS_MAX 100000

struct epoch_range {
    struct crowd *crowd;
    uint32_t *surely;   /* by epoch: operations that cannot have been counted in another */
    uint32_t *possibly; /* those that may have been counted in it */
};

/* An operation is counted in an epoch between the one seen before it and the one seen after it. */
static void *record_and_note_epoch(void *pointer)
{
    struct epoch_range *range = pointer;
    struct crowd *crowd = range->crowd;
    struct stats_thread *thread = stats_thread(crowd->stats);

    for (uint64_t i = 0; i < 20 * SAMPLES; i++) {
        const struct stats_sample sample = sample_of(i % SAMPLES / 2 * 2);
        uint64_t before = stats_epoch(crowd->stats), after;

        stats_record(thread, &sample);
        after = stats_epoch(crowd->stats);
        if (before == after)
            range->surely[before]++;
        for (uint64_t epoch = before; epoch <= after; epoch++)
            range->possibly[epoch]++;
    }
    return NULL;
}

#define RACERS 8

static void counts_each_in_one_epoch_when_resets_race(void)
{
    struct crowd crowd = {.stats = create()};
    static struct tally_op_counters counters;
    struct epoch_range ranges[RACERS];
    pthread_t threads[RACERS];
    uint64_t surely = 0, possibly = 0, last;

    for (size_t i = 0; i < RACERS; i++) {
        ranges[i] = (struct epoch_range){
            .crowd = &crowd,
            .surely = calloc(EPOCHS_MAX, sizeof(uint32_t)),
            .possibly = calloc(EPOCHS_MAX, sizeof(uint32_t)),
        };
        CHECK(ranges[i].surely && ranges[i].possibly);
        start(&threads[i], record_and_note_epoch, &ranges[i]);
    }
    for (unsigned i = 0; i < 2000; i++) {
        stats_read(crowd.stats, TALLY_OP_read, &counters);
        CHECK(is_consistent(&counters));
        stats_reset(crowd.stats);
    }
    for (size_t i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    last = stats_epoch(crowd.stats);
    CHECK(last < EPOCHS_MAX);
    stats_read(crowd.stats, TALLY_OP_read, &counters);
    CHECK(is_consistent(&counters));
    for (size_t i = 0; i < RACERS; i++) {
        surely += ranges[i].surely[last];
        possibly += ranges[i].possibly[last];
        free(ranges[i].surely);
        free(ranges[i].possibly);
    }
    CHECK(surely <= counters.count && counters.count <= possibly);
    stats_destroy(crowd.stats);
}

#define TIMED_THREADS 8
#define TIMES_A_THREAD 3000

struct timed {
    struct stats *stats;
    uint64_t seed;
    uint64_t times_ns[TIMES_A_THREAD];
};

/* Times of all magnitudes (xorshift64, G. Marsaglia). */
static void *record_random_times(void *pointer)
{
    struct timed *timed = pointer;

    for (size_t i = 0; i < TIMES_A_THREAD; i++) {
        struct stats_sample sample = {.op = TALLY_OP_fsync};

        timed->seed ^= timed->seed << 13;
        timed->seed ^= timed->seed >> 7;
        timed->seed ^= timed->seed << 17;
        sample.total_ns = timed->times_ns[i] = (timed->seed >> 24) >> (timed->seed & 31);
        stats_record(stats_thread(timed->stats), &sample);
    }
    return NULL;
}

static int compare_times(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static void agrees_with_sorted_times_when_many_threads_record(void)
{
    static struct timed timed[TIMED_THREADS];
    static uint64_t sorted[TIMED_THREADS * TIMES_A_THREAD];
    static struct tally_op_counters counters;
    const size_t count = TIMED_THREADS * TIMES_A_THREAD;
    struct stats *stats = create();
    pthread_t threads[TIMED_THREADS];
    uint64_t sum_ns = 0;

    for (size_t i = 0; i < TIMED_THREADS; i++) {
        timed[i] = (struct timed){.stats = stats, .seed = 88172645463325252 + i};
        start(&threads[i], record_random_times, &timed[i]);
    }
    for (size_t i = 0; i < TIMED_THREADS; i++) {
        pthread_join(threads[i], NULL);
        memcpy(sorted + i * TIMES_A_THREAD, timed[i].times_ns, sizeof(timed[i].times_ns));
    }
    qsort(sorted, count, sizeof(*sorted), compare_times);
    for (size_t i = 0; i < count; i++)
        sum_ns += sorted[i];
    stats_read(stats, TALLY_OP_fsync, &counters);
    CHECK_EQ(counters.count, (int64_t)count);
    CHECK_EQ(counters.total_ns, (int64_t)sum_ns);
    CHECK_EQ(counters.min_ns, (int64_t)sorted[0]);
    CHECK_EQ(counters.max_ns, (int64_t)sorted[count - 1]);
    for (unsigned permille = 0; permille <= 1000; permille++) {
        size_t rank = (count * permille + 999) / 1000;
        uint64_t exact = sorted[rank ? rank - 1 : 0];
        uint64_t found = tally_hist_percentile(counters.buckets, counters.count, permille, counters.min_ns,
                                               counters.max_ns);

        if (found < exact || found > exact + exact / 32)
            FAIL("at %u thousandths: %llu, sorted %llu", permille, (unsigned long long)found,
                 (unsigned long long)exact);
    }
    stats_destroy(stats);
}

struct slow_reply {
    struct crowd crowd;
    _Atomic bool announced;
};

static void *reply_slowly(void *pointer)
{
    struct slow_reply *reply = pointer;
    struct stats_thread *thread = stats_thread(reply->crowd.stats);
    const struct stats_sample sample = sample_of(1);
    const struct timespec pause = {.tv_nsec = 20000000};

    stats_replying(thread);
    atomic_store(&reply->announced, true);
    nanosleep(&pause, NULL);
    stats_record(thread, &sample);
    return NULL;
}

static void finds_an_operation_when_its_reply_is_on_its_way(void)
{
    struct slow_reply reply = {.crowd = {.stats = create()}};
    const struct stats_head head = {.version = "", .lower = "", .options = ""};
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    pthread_t thread;

    start(&thread, reply_slowly, &reply);
    while (!atomic_load(&reply.announced))
        sched_yield();
    CHECK_EQ(stats_render(reply.crowd.stats, &head, "op.write.count", &value), 0);
    CHECK_STR(value.data, "1");
    pthread_join(thread, NULL);
    stats_destroy(reply.crowd.stats);
}

static void does_not_wait_when_the_reader_itself_replies(void)
{
    struct stats *stats = create();
    const struct stats_head head = {.version = "", .lower = "", .options = ""};
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    uint64_t began_ns = clock_ns();

    stats_replying(stats_thread(stats));
    CHECK_EQ(stats_render(stats, &head, "op.write.count", &value), 0);
    CHECK_STR(value.data, "0");
    CHECK(clock_ns() - began_ns < 90000000);
    stats_destroy(stats);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(counts_all_when_one_thread_records),
        CASE(starts_at_zero_when_reset),
        CASE(is_exact_when_threads_come_and_go_and_others_read),
        CASE(loses_nothing_when_reset_between_operations),
        CASE(counts_each_in_one_epoch_when_resets_race),
        CASE(agrees_with_sorted_times_when_many_threads_record),
        CASE(finds_an_operation_when_its_reply_is_on_its_way),
        CASE(does_not_wait_when_the_reader_itself_replies),
    };

    return RUN_CASES(cases);
}
