/*
 * What counting costs: for 1, 2 and more threads the time of one operation's share of it, as the wrapper in fuse/fs has
 * it (find the thread's block, read the clock, count on the inode, announce the reply, read
 * the clock, record), of the record alone, of a record to an inode that has no place in the thread's table yet, and of two
 * clock readings alone. Each is the best of several rounds, which is what the code costs when nothing else runs. In no column
 * do threads share a cache line, so that none grows with their number while each has a processor.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fs/node_ops.h"
#include "stats/stats.h"
#include "util/parse.h"

#define OPERATIONS 100000
#define ROUNDS 25
#define THREADS_MAX 256

typedef void work_on(struct stats *stats);

/* A program that works on a few files. */
static struct stats_sample sample_of(unsigned i)
{
    return (struct stats_sample){
        .op = i % 4 ? TALLY_OP_read : TALLY_OP_write,
        .bytes = 4096,
        .requested_bytes = 4096,
        .subject = 1 + i % 7,
        .ino = 100 + i % 7,
        .uid = 1000,
        .pid = 1, /* init is always there to be asked for its name */
    };
}

static void count_on_file(struct node_ops *ops)
{
    node_ops_add(&ops->count, 1);
    node_ops_add(&ops->bytes, 4096);
    node_ops_add(&ops->total_ns, 500);
    node_ops_add(&ops->lower_ns, 100);
}

static void count_whole(struct stats *stats)
{
    _Alignas(64) struct node_ops ops = {0};

    for (unsigned i = 0; i < OPERATIONS; i++) {
        struct stats_thread *thread = stats_thread(stats);
        struct stats_sample sample = sample_of(i);
        uint64_t began_ns = clock_ns();

        count_on_file(&ops);
        stats_replying(thread);
        sample.total_ns = clock_ns() - began_ns;
        stats_record(thread, &sample);
    }
}

static void record_only(struct stats *stats)
{
    struct stats_thread *thread = stats_thread(stats);

    for (unsigned i = 0; i < OPERATIONS; i++) {
        struct stats_sample sample = sample_of(i);

        sample.total_ns = 1000 + i % 4096;
        stats_record(thread, &sample);
    }
}

/* A program that goes through a million files. */
static void record_new_files(struct stats *stats)
{
    struct stats_thread *thread = stats_thread(stats);

    for (unsigned i = 0; i < OPERATIONS; i++) {
        struct stats_sample sample = sample_of(i);

        sample.subject = i + 1;
        sample.total_ns = 1000 + i % 4096;
        stats_record(thread, &sample);
    }
}

static void read_clock_only(struct stats *stats)
{
    uint64_t sum_ns = 0;

    (void)stats;
    for (unsigned i = 0; i < OPERATIONS; i++) {
        uint64_t began_ns = clock_ns();

        sum_ns += clock_ns() - began_ns;
        atomic_signal_fence(memory_order_seq_cst);
    }
    if (sum_ns == 0)
        fputs("the clock stands still\n", stderr);
}

struct job {
    struct stats *stats;
    work_on *work;
    pthread_barrier_t *start;
    uint64_t took_ns;
};

/* What the thread has had of a processor: what else runs on the machine is not our cost. Waiting for a cache line is. */
static uint64_t cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void *run(void *pointer)
{
    struct job *job = pointer;
    uint64_t began_ns;

    pthread_barrier_wait(job->start);
    began_ns = cpu_ns();
    job->work(job->stats);
    job->took_ns = cpu_ns() - began_ns;
    return NULL;
}

/* The slowest thread's CPU time for an operation in one round, in ns. */
static double run_round(struct stats *stats, work_on *work, unsigned count)
{
    static struct job jobs[THREADS_MAX];
    static pthread_t threads[THREADS_MAX];
    pthread_barrier_t start;
    uint64_t slowest_ns = 0;

    pthread_barrier_init(&start, NULL, count);
    for (unsigned i = 0; i < count; i++) {
        jobs[i] = (struct job){.stats = stats, .work = work, .start = &start};
        if (pthread_create(&threads[i], NULL, run, &jobs[i]) != 0)
            exit(EXIT_FAILURE);
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        if (jobs[i].took_ns > slowest_ns)
            slowest_ns = jobs[i].took_ns;
    }
    pthread_barrier_destroy(&start);
    return (double)slowest_ns / OPERATIONS;
}

static double best_of_rounds(struct stats *stats, work_on *work, unsigned count)
{
    double best = 0;

    for (unsigned i = 0; i < ROUNDS; i++) {
        double ns = run_round(stats, work, count);

        if (i == 0 || ns < best)
            best = ns;
    }
    return best;
}

int main(int argc, char **argv)
{
    int64_t most = sysconf(_SC_NPROCESSORS_ONLN);
    struct stats *stats;

    if (argc > 2 || (argc == 2 && parse_integer(argv[1], 1, THREADS_MAX, &most) < 0)) {
        fprintf(stderr, "usage: stats_cost [THREADS]\n");
        return 2;
    }
    if (stats_create(&stats) < 0)
        return EXIT_FAILURE;
    printf("%7s %12s %12s %12s %12s   ns an operation, best of %d rounds\n", "threads", "whole", "record",
           "new inodes", "two clocks", ROUNDS);
    for (unsigned count = 1; count <= most; count *= 2)
        printf("%7u %12.1f %12.1f %12.1f %12.1f\n", count, best_of_rounds(stats, count_whole, count),
               best_of_rounds(stats, record_only, count), best_of_rounds(stats, record_new_files, count),
               best_of_rounds(stats, read_clock_only, count));
    stats_destroy(stats);
    return EXIT_SUCCESS;
}
