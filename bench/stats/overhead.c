/*
 * What counting costs a mount: the same calls on a mount with stats=on and on one with stats=off, in one run. A block has
 * each job on both mounts by turns, in slices of some hundred calls, whose order is random; the fastest slice of each mount
 * counts, which is what the code costs when nothing else runs. The result is the geometric mean over blocks of the ratio
 * of speeds, with its 95 % t-interval in logarithms.
 *
 * Usage: stats_overhead [--check RATIO] BLOCKS DIR-ON DIR-OFF; both in a mount without caches and timeouts. With --check the
 * status is 3 when the whole interval is below RATIO. A/A: give two directories of one mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "statistics/random.h"
#include "statistics/statistics.h"
#include "util/clock.h"
#include "util/parse.h"

#define CALLS 200
#define SLICES 12
#define BLOCKS_MAX 10000
#define BYTES 4096

static char data[BYTES];

static void die(const char *what)
{
    fprintf(stderr, "stats_overhead: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

struct place {
    int directory;
    int file;
};

static struct place open_place(const char *path)
{
    struct place place = {.directory = open(path, O_RDONLY | O_DIRECTORY)};

    if (place.directory < 0)
        die(path);
    place.file = openat(place.directory, "file", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (place.file < 0 || pwrite(place.file, data, BYTES, 0) != BYTES)
        die("file");
    return place;
}

static void read_small(const struct place *place)
{
    if (pread(place->file, data, BYTES, 0) != BYTES)
        die("read");
}

static void write_small(const struct place *place)
{
    if (pwrite(place->file, data, BYTES, 0) != BYTES)
        die("write");
}

static void stat_one(const struct place *place)
{
    struct stat attributes;

    if (fstatat(place->directory, "file", &attributes, 0) < 0)
        die("stat");
}

static void create_one(const struct place *place)
{
    int fd = openat(place->directory, "new", O_RDWR | O_CREAT | O_EXCL, 0644);

    if (fd < 0 || close(fd) < 0 || unlinkat(place->directory, "new", 0) < 0)
        die("create");
}

static const struct job {
    const char *name;
    void (*call)(const struct place *place);
} jobs[] = {
    {"small-read", read_small},
    {"small-write", write_small},
    {"stat", stat_one},
    {"create", create_one},
};

#define JOB_COUNT (sizeof(jobs) / sizeof(jobs[0]))

static double time_slice(const struct job *job, const struct place *place)
{
    uint64_t began_ns = clock_ns();

    for (unsigned i = 0; i < CALLS; i++)
        job->call(place);
    return (double)(clock_ns() - began_ns);
}

/* The logarithm of how many times as fast the first place is. */
static double compare(const struct job *job, const struct place places[static 2], struct random_stream *random,
                      double best_ns[static 2])
{
    double fastest[2] = {INFINITY, INFINITY};

    for (unsigned slice = 0; slice < SLICES; slice++) {
        unsigned first = random_below(random, 2);

        for (unsigned i = 0; i < 2; i++) {
            unsigned which = first ^ i;

            fastest[which] = fmin(fastest[which], time_slice(job, &places[which]));
        }
    }
    for (unsigned i = 0; i < 2; i++)
        best_ns[i] = fmin(best_ns[i], fastest[i] / CALLS);
    return log(fastest[1] / fastest[0]);
}

static struct stats_summary print_row(const char *name, const double *best_ns, const double *logs, size_t count)
{
    struct stats_summary summary;

    if (stats_summarize(logs, count, &summary) < 0)
        exit(EXIT_FAILURE);
    printf("%-12s", name);
    if (best_ns)
        printf(" %10.2f %10.2f", best_ns[0] / 1e3, best_ns[1] / 1e3);
    else
        printf(" %10s %10s", "", "");
    printf(" %8.4f   %.4f to %.4f\n", exp(summary.mean), exp(summary.ci_low), exp(summary.ci_high));
    return summary;
}

int main(int argc, char **argv)
{
    static double logs[JOB_COUNT + 1][BLOCKS_MAX];
    struct random_stream random = random_stream(clock_ns(), 0);
    struct stats_summary all;
    struct place places[2];
    double best_ns[JOB_COUNT][2], wanted = 0;
    int64_t blocks;

    if (argc > 2 && strcmp(argv[1], "--check") == 0) {
        wanted = strtod(argv[2], NULL);
        argv += 2;
        argc -= 2;
    }
    if (argc != 4 || parse_integer(argv[1], 2, BLOCKS_MAX, &blocks) < 0) {
        fprintf(stderr, "usage: stats_overhead [--check RATIO] BLOCKS DIR-ON DIR-OFF\n");
        return 2;
    }
    places[0] = open_place(argv[2]);
    places[1] = open_place(argv[3]);
    for (size_t job = 0; job < JOB_COUNT; job++) {
        best_ns[job][0] = best_ns[job][1] = INFINITY;
        compare(&jobs[job], places, &random, best_ns[job]);
    }
    for (int64_t block = 0; block < blocks; block++) {
        logs[JOB_COUNT][block] = 0;
        for (size_t job = 0; job < JOB_COUNT; job++) {
            logs[job][block] = compare(&jobs[job], places, &random, best_ns[job]);
            logs[JOB_COUNT][block] += logs[job][block] / (double)JOB_COUNT;
        }
    }
    printf("%-12s %10s %10s %8s   %s, %" PRId64 " blocks\n", "job", "us on", "us off", "on/off", "95 % interval", blocks);
    for (size_t job = 0; job < JOB_COUNT; job++)
        print_row(jobs[job].name, best_ns[job], logs[job], (size_t)blocks);
    all = print_row("all", NULL, logs[JOB_COUNT], (size_t)blocks);
    return wanted > 0 && exp(all.ci_high) < wanted ? 3 : EXIT_SUCCESS;
}
