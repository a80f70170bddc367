/* Counters by inode, process and user: bounded, and their sum is always that of the operations. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "harness.h"
#include "stats/set.h"
#include "util/cleanup.h"

#define THREADS 16
#define SAMPLES 5000

static struct stats *create(void)
{
    struct stats *stats;

    CHECK_EQ(stats_create(&stats), 0);
    return stats;
}

static struct stats_sample sample_of(uint64_t subject, uint64_t total_ns)
{
    return (struct stats_sample){
        .op = TALLY_OP_read,
        .error = subject % 3 == 0 ? 5 : 0,
        .total_ns = total_ns,
        .bytes = 10,
        .split = {.lower_ns = 3, .codec_ns = 2, .wait_ns = 1},
        .subject = subject,
        .ino = subject + 1000,
        .uid = (uint32_t)(subject % 100),
    };
}

/* All entries and the rest; returns how many entries there are. */
static size_t sum_of(struct stats *stats, enum stats_by by, struct stats_share *ret_sum)
{
    AUTO_FREE struct stats_entry *entries = NULL;
    struct stats_share sum;
    size_t count;

    CHECK_EQ(stats_read_shares(stats, by, &entries, &count, &sum), 0);
    for (size_t i = 0; i < count; i++)
        stats_share_add(&sum, &entries[i].share);
    *ret_sum = sum;
    return count;
}

static void check_sum(struct stats *stats, enum stats_by by)
{
    static struct tally_op_counters all;
    struct stats_share sum;

    stats_read(stats, TALLY_OP_read, &all);
    sum_of(stats, by, &sum);
    CHECK_EQ(sum.count, (int64_t)all.count);
    CHECK_EQ(sum.errors, (int64_t)all.errors);
    CHECK_EQ(sum.bytes, (int64_t)all.bytes);
    CHECK_EQ(sum.total_ns, (int64_t)all.total_ns);
    CHECK_EQ(sum.lower_ns, (int64_t)all.lower_ns);
    CHECK_EQ(sum.codec_ns, (int64_t)all.codec_ns);
    CHECK_EQ(sum.wait_ns, (int64_t)all.wait_ns);
}

static void keeps_the_busiest_when_there_are_too_many(void)
{
    struct stats *stats = create();
    struct stats_thread *thread = stats_thread(stats);
    AUTO_FREE struct stats_entry *entries = NULL;
    struct stats_share other;
    size_t count;

    for (uint64_t i = 1; i <= 100000; i++) {
        const struct stats_sample once = sample_of(i + 10, 100);
        const struct stats_sample busy = sample_of(1 + i % 5, 1000);

        stats_record(thread, &once);
        stats_record(thread, &busy);
    }
    CHECK_EQ(stats_read_shares(stats, STATS_BY_INODE, &entries, &count, &other), 0);
    CHECK(count >= 5 && count <= STATS_INODE_SETS * STATS_WAYS);
    for (size_t i = 0; i < 5; i++) {
        CHECK(entries[i].subject >= 1 && entries[i].subject <= 5);
        CHECK_EQ(entries[i].ino, (int64_t)entries[i].subject + 1000);
        CHECK_EQ(entries[i].share.count, 20000);
        CHECK_EQ(entries[i].share.total_ns, 20000000);
    }
    CHECK_EQ(other.count, (int64_t)(100000 - (count - 5)));
    check_sum(stats, STATS_BY_INODE);
    check_sum(stats, STATS_BY_UID);
    check_sum(stats, STATS_BY_PID);
    stats_destroy(stats);
}

static void is_zero_when_reset(void)
{
    struct stats *stats = create();
    const struct stats_sample sample = sample_of(7, 70);
    struct stats_share sum;

    stats_record(stats_thread(stats), &sample);
    CHECK_EQ(sum_of(stats, STATS_BY_INODE, &sum), 1);
    CHECK_EQ(sum.count, 1);
    stats_reset(stats);
    for (enum stats_by by = 0; by < STATS_BY_COUNT; by++) {
        CHECK_EQ(sum_of(stats, by, &sum), 0);
        CHECK_EQ(sum.count, 0);
    }
    stats_record(stats_thread(stats), &sample);
    for (enum stats_by by = 0; by < STATS_BY_TREE; by++)
        check_sum(stats, by);
    stats_destroy(stats);
}

static void counts_for_other_when_nobody_asked(void)
{
    struct stats *stats = create();
    struct stats_sample sample = sample_of(0, 70);
    AUTO_FREE struct stats_entry *entries = NULL;
    struct stats_share other;
    size_t count;

    sample.nobody = true;
    stats_record(stats_thread(stats), &sample);
    for (enum stats_by by = 0; by < STATS_BY_TREE; by++) {
        free(entries);
        CHECK_EQ(stats_read_shares(stats, by, &entries, &count, &other), 0);
        CHECK_EQ(count, 0);
        CHECK_EQ(other.count, 1);
        CHECK_EQ(other.errors, 1);
    }
    stats_destroy(stats);
}

static void *record_as_this_thread(void *stats)
{
    struct stats_sample sample = sample_of(1, 10);

    sample.pid = (uint32_t)gettid();
    sample.uid = 42;
    stats_record(stats_thread(stats), &sample);
    return NULL;
}

static void adds_threads_up_when_they_are_of_one_process(void)
{
    struct stats *stats = create();
    AUTO_FREE struct stats_entry *entries = NULL;
    struct stats_share other;
    size_t count;

    for (unsigned i = 0; i < 5; i++) {
        pthread_t thread;

        CHECK_EQ(pthread_create(&thread, NULL, record_as_this_thread, stats), 0);
        pthread_join(thread, NULL);
    }
    CHECK_EQ(stats_read_shares(stats, STATS_BY_PID, &entries, &count, &other), 0);
    CHECK_EQ(count, 1);
    CHECK_EQ(entries[0].pid, getpid());
    CHECK_EQ(entries[0].uid, 42);
    CHECK_EQ(entries[0].share.count, 5);
    CHECK(strncmp(entries[0].command, program_invocation_short_name, STATS_COMMAND_BYTES - 1) == 0);
    stats_destroy(stats);
}

struct crowd {
    struct stats *stats;
    _Atomic bool done;
    _Atomic bool wrong;
    bool resets;
};

static void *record_many(void *pointer)
{
    struct crowd *crowd = pointer;

    for (uint64_t i = 0; i < SAMPLES; i++) {
        struct stats_thread *thread = stats_thread(crowd->stats);
        const struct stats_sample sample = sample_of(1 + i * i % 1009, 100 + i);

        stats_replying(thread);
        stats_record(thread, &sample);
    }
    return NULL;
}

/* Whatever moment is caught, an operation is in it wholly or not at all. */
static void *read_sums(void *pointer)
{
    struct crowd *crowd = pointer;
    uint64_t before = 0;

    while (!atomic_load(&crowd->done)) {
        struct stats_share sum;

        sum_of(crowd->stats, STATS_BY_INODE, &sum);
        if (sum.bytes != 10 * sum.count || sum.lower_ns != 3 * sum.count || sum.count < before)
            atomic_store(&crowd->wrong, true);
        before = sum.count;
        if (crowd->resets) {
            stats_reset(crowd->stats);
            before = 0;
        }
        sched_yield();
    }
    return NULL;
}

static void is_exact_when_many_threads_count_and_another_reads(void)
{
    struct crowd crowd = {.stats = create()};
    pthread_t threads[THREADS], reader;
    struct stats_share sum;

    CHECK_EQ(pthread_create(&reader, NULL, read_sums, &crowd), 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, record_many, &crowd), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&crowd.done, true);
    pthread_join(reader, NULL);
    CHECK(!atomic_load(&crowd.wrong));
    sum_of(crowd.stats, STATS_BY_INODE, &sum);
    CHECK_EQ(sum.count, THREADS * SAMPLES);
    for (enum stats_by by = 0; by < STATS_BY_TREE; by++)
        check_sum(crowd.stats, by);
    stats_destroy(crowd.stats);
}

/* Each operation is in one epoch wholly, and in the same one in all tables. */
static void agrees_with_operations_when_resets_race(void)
{
    struct crowd crowd = {.stats = create(), .resets = true};
    pthread_t threads[THREADS], resetter;

    CHECK_EQ(pthread_create(&resetter, NULL, read_sums, &crowd), 0);
    for (size_t i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, record_many, &crowd), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&crowd.done, true);
    pthread_join(resetter, NULL);
    CHECK(!atomic_load(&crowd.wrong));
    for (enum stats_by by = 0; by < STATS_BY_TREE; by++)
        check_sum(crowd.stats, by);
    stats_destroy(crowd.stats);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(keeps_the_busiest_when_there_are_too_many),
        CASE(is_zero_when_reset),
        CASE(counts_for_other_when_nobody_asked),
        CASE(adds_threads_up_when_they_are_of_one_process),
        CASE(is_exact_when_many_threads_count_and_another_reads),
        CASE(agrees_with_operations_when_resets_race),
    };

    return RUN_CASES(cases);
}
