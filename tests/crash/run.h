/*
 * A store file over a medium that fails, beside a model of what it may hold: its contents at the last sync, and at every
 * change since. Whatever happened, every byte must have one of the values that it had then.
 */
#ifndef TALLY_TESTS_RUN_H
#define TALLY_TESTS_RUN_H

#include "fault.h"
#include "store/internal.h"
#include "store_model.h"

#define SPAN (12u * FORMAT_CHUNK_MIN)
#define STATES 40

struct state {
    uint8_t *bytes; /* SPAN, zero beyond size */
    size_t size;
};

struct run {
    struct store *store;
    struct medium *medium;
    struct backend *(*open_lower)(struct run *run);
    struct backend *file; /* NULL while it is not open */
    const char *codec;
    uint64_t seed;
    uint64_t random;
    struct state states[STATES];
    size_t count;
    uint8_t *scratch;
    unsigned boots;
    unsigned errors;   /* reported by write, truncate, fsync, flush or close since the last look */
};

/* What the test is at, beside the seed. */
extern char run_place[100];

#define RUN_FAIL(run, ...)                                                                         \
    do {                                                                                           \
        fprintf(stderr, "seed %" PRIu64 " codec %s %s: ", (run)->seed, (run)->codec, run_place);   \
        FAIL(__VA_ARGS__);                                                                         \
    } while (0)

/* Memory is kept from run to run: fresh ones would cost more than the runs. */
void run_begin(struct run *run, uint64_t seed);

/* The same over another lower file than the medium. */
void run_begin_on(struct run *run, uint64_t seed, struct backend *(*open_lower)(struct run *run));

void run_end(struct run *run);

/* Opens the file; 0 or -errno. */
int run_open(struct run *run);

/* Opens it after a crash, where nothing but an empty file since the last sync may stand in the way. */
void run_reopen(struct run *run);

/* Closes it, if it is open. 0 or -errno. */
int run_close(struct run *run);

struct state *run_newest(struct run *run);

/* The newest state is what is there; older ones count no more. */
void run_synced(struct run *run);

/* Writes some bytes somewhere. */
int run_write(struct run *run);

/* One random change, which may fail: a reported error is counted. 0 or -errno. */
int run_change(struct run *run);

/* Compares what is there with what may be there; from then on it is the state that must stay. */
void run_check(struct run *run, const char *when);

/* The same, but a chunk may fail to be read; its number of those. */
unsigned run_check_damaged(struct run *run, const char *when);

/* The power fails, and the kernel boots anew. */
void run_cut_power(struct run *run);

/* The seeds to run: 1 to `usual`, more in a long test, or the one that TALLY_TEST_SEED in the environment gives. */
struct seeds {
    uint64_t first, last;
};

struct seeds run_seeds(unsigned usual);

#endif
