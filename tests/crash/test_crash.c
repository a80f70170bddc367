/*
 * Power failures and failing writes under the store. After each: the file opens, no read fails, every byte has a value
 * that it had at or after the last sync, and one that did not change since has just that.
 */
#include <errno.h>

#include "fault.h"
#include "store/internal.h"
#include "store_model.h"

#define SPAN (12u * FORMAT_CHUNK_MIN)
#define STATES 40

struct state {
    uint8_t *bytes; /* SPAN, zero beyond size */
    size_t size;
};

/* What the file may hold: its state at the last sync, and every state since. */
struct run {
    struct store *store;
    struct medium *medium;
    struct backend *file;
    const char *codec;
    uint64_t seed;
    uint64_t random;
    struct state states[STATES];
    size_t count;
    uint8_t *scratch;
    unsigned boots;
};

static struct state *newest(struct run *run)
{
    return &run->states[run->count - 1];
}

/* A copy of the newest state, to be changed. */
static struct state *next_state(struct run *run)
{
    struct state *next = &run->states[run->count];

    memcpy(next->bytes, newest(run)->bytes, SPAN);
    next->size = newest(run)->size;
    run->count++;
    return next;
}

static void synced(struct run *run)
{
    struct state only = *newest(run);

    run->states[run->count - 1] = run->states[0];
    run->states[0] = only;
    run->count = 1;
}

#define RUN_FAIL(run, ...)                                                                         \
    do {                                                                                           \
        fprintf(stderr, "seed %" PRIu64 " codec %s: ", (run)->seed, (run)->codec);                 \
        FAIL(__VA_ARGS__);                                                                         \
    } while (0)

static int run_open(struct run *run)
{
    const struct tally_codec_choice choice = choose(run->codec);
    struct backend *lower = medium_open(run->medium);
    int r = store_file_open(run->store, NULL, lower, &choice, false, &run->file);

    if (r < 0)
        backend_close(lower, NULL);
    return r;
}

static bool byte_is_allowed(const struct run *run, size_t at, uint8_t value)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->states[i].bytes[at] == value)
            return true;
    return false;
}

static bool was_empty(const struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->states[i].size == 0)
            return true;
    return false;
}

/*
 * A file of one frame, written to an empty file and not synced: when that frame is torn, nothing tells that it is not
 * damage of something that was synced, so reading fails.
 */
static bool may_be_lost(const struct run *run)
{
    return was_empty(run) && medium_frames(run->medium) == 1;
}

/* What a program does with such a file: empty it. */
static ssize_t forget_contents(struct run *run)
{
    off_t size;

    CHECK_EQ(backend_size(run->file, NULL, &size), 0);
    CHECK_EQ(backend_truncate(run->file, NULL, 0), 0);
    CHECK_EQ(backend_truncate(run->file, NULL, size), 0);
    CHECK_EQ(backend_sync(run->file, NULL, true), 0);
    return size;
}

/* Compares what is there with what may be there; from then on it is the state that must stay. */
static void check_allowed(struct run *run, const char *when)
{
    size_t smallest = SPAN, largest = 0, size;
    struct state *found = &run->states[0];
    off_t file_size;
    ssize_t got;

    for (size_t i = 0; i < run->count; i++) {
        smallest = run->states[i].size < smallest ? run->states[i].size : smallest;
        largest = run->states[i].size > largest ? run->states[i].size : largest;
    }
    CHECK_EQ(backend_size(run->file, NULL, &file_size), 0);
    size = (size_t)file_size;
    if (size < smallest || size > largest)
        RUN_FAIL(run, "%s: the size is %zu, not between %zu and %zu", when, size, smallest, largest);
    memset(run->scratch, 0, SPAN);
    got = backend_pread(run->file, NULL, run->scratch, SPAN, 0);
    if (got == -EIO && may_be_lost(run))
        got = forget_contents(run);
    if (got != (ssize_t)size)
        RUN_FAIL(run, "%s: reading gives %zd, not %zu; %u frames in %" PRIu64 " bytes%s", when, got, size,
                 medium_frames(run->medium), medium_size(run->medium), was_empty(run) ? ", was empty" : "");
    for (size_t at = 0; at < size; at++)
        if (!byte_is_allowed(run, at, run->scratch[at]))
            RUN_FAIL(run, "%s: byte %zu of %zu is %02x, which it never was since the last sync (%02x)", when, at, size,
                     run->scratch[at], run->states[0].bytes[at]);
    memcpy(found->bytes, run->scratch, SPAN);
    found->size = size;
    run->count = 1;
}

/* One random change. False when the store reported an error. */
static bool change(struct run *run)
{
    uint64_t *random = &run->random;
    size_t size = newest(run)->size, offset, length;
    struct state *next;
    int r = 0;

    switch (random_below(random, 12)) {
    case 0 ... 5:
        offset = random_below(random, 3) ? random_below(random, size + 1) : random_below(random, SPAN - 1);
        length = random_below(random, 3) ? random_below(random, 3000) : random_below(random, 4 * FORMAT_CHUNK_MIN);
        length = length + 1 < SPAN - offset ? length + 1 : SPAN - offset;
        next = next_state(run);
        fill(run->scratch, length, random);
        memcpy(next->bytes + offset, run->scratch, length);
        next->size = offset + length > size ? offset + length : size;
        r = (int)backend_pwrite(run->file, NULL, run->scratch, length, (off_t)offset, false);
        return r == (int)length;
    case 6:
        next = next_state(run);
        offset = random_below(random, 4) ? random_below(random, SPAN) : 0;
        if (offset < size)
            memset(next->bytes + offset, 0, size - offset);
        next->size = offset;
        r = backend_truncate(run->file, NULL, (off_t)offset);
        break;
    case 7:
        next = next_state(run);
        offset = random_below(random, SPAN - 1);
        length = random_below(random, SPAN - offset) + 1;
        if (offset < size)
            memset(next->bytes + offset, 0, (offset + length < size ? offset + length : size) - offset);
        r = backend_allocate(run->file, NULL, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                             (off_t)length);
        break;
    case 8:
        r = backend_flush(run->file, NULL);
        break;
    case 9 ... 10:
        r = backend_sync(run->file, NULL, true);
        if (r == 0)
            synced(run);
        break;
    default:
        r = backend_close(run->file, NULL);
        if (run_open(run) != 0)
            RUN_FAIL(run, "cannot be opened after a close that gave %d", r);
    }
    return r == 0;
}

static void new_boot(struct run *run)
{
    memset(run->store->boot_id, (int)++run->boots, sizeof(run->store->boot_id));
}

/* Of a file that was empty since the last sync nothing may be left, its first header included. */
static void reopen(struct run *run)
{
    struct backend *lower;
    int r = run_open(run);

    if (r == 0)
        return;
    if (r != -EIO || !was_empty(run))
        RUN_FAIL(run, "cannot be opened: %d", r);
    lower = medium_open(run->medium);
    CHECK_EQ(backend_truncate(lower, NULL, 0), 0);
    CHECK_EQ(backend_sync(lower, NULL, false), 0);
    CHECK_EQ(backend_close(lower, NULL), 0);
    CHECK_EQ(run_open(run), 0);
}

static void cut_power(struct run *run)
{
    medium_cut_power(run->medium);
    new_boot(run);
}

static void run_begin(struct run *run, const char *codec, uint64_t seed)
{
    *run = (struct run){.store = make_store(FORMAT_CHUNK_MIN, 0), .medium = medium_create(seed), .codec = codec,
                        .seed = seed, .random = seed * 7919, .count = 1, .scratch = malloc(SPAN)};
    for (size_t i = 0; i < STATES; i++)
        run->states[i].bytes = calloc(1, SPAN);
    new_boot(run);
    CHECK_EQ(run_open(run), 0);
}

static void run_end(struct run *run)
{
    for (size_t i = 0; i < STATES; i++)
        free(run->states[i].bytes);
    free(run->scratch);
    CHECK_EQ(backend_close(run->file, NULL), 0);
    medium_destroy(run->medium);
    store_destroy(run->store);
}

static unsigned rounds(unsigned usual)
{
    const char *text = getenv("TALLY_TEST_ROUNDS");

    return text ? (unsigned)strtoul(text, NULL, 10) : usual;
}

static const char *const codecs[] = {"lz4", "zstd:1", "gzip:1", "none"};

static void keeps_what_was_synced_when_the_power_fails(void)
{
    for (uint64_t seed = 1; seed <= rounds(1500); seed++) {
        struct run run;

        run_begin(&run, codecs[seed % 4], seed);
        for (unsigned cuts = 0; cuts < 4; cuts++) {
            for (uint64_t n = random_below(&run.random, STATES - 2) + 1; n && run.count < STATES - 1; n--)
                if (!change(&run))
                    RUN_FAIL(&run, "an operation failed");
            if (random_below(&run.random, 2)) /* else what is still buffered goes out first, with an index */
                medium_freeze(run.medium);
            backend_close(run.file, NULL);
            cut_power(&run);
            reopen(&run);
            check_allowed(&run, "after the power failed");
        }
        run_end(&run);
    }
}

/* The lower file system is full or broken for a while: what was there stays, and writing works again later. */
static void keeps_what_was_there_when_writes_fail(void)
{
    for (uint64_t seed = 1; seed <= rounds(600); seed++) {
        struct run run;
        bool failed = false;

        run_begin(&run, codecs[seed % 4], seed);
        for (unsigned n = 0; n < 10; n++)
            CHECK(change(&run));
        if (backend_sync(run.file, NULL, true) == 0)
            synced(&run);
        medium_fail_after(run.medium, (unsigned)random_below(&run.random, 6), seed % 2 ? ENOSPC : EIO);
        for (unsigned n = 0; n < 15 && !failed; n++)
            failed = !change(&run);
        if (seed % 3 == 0) {
            medium_fail_after(run.medium, 0, 0);
            backend_flush(run.file, NULL); /* reports what went wrong before, if nothing did yet */
            check_allowed(&run, "after a write failed");
            CHECK_EQ(backend_pwrite(run.file, NULL, "works again", 11, 100, false), 11);
            CHECK_EQ(backend_sync(run.file, NULL, true), 0);
            memcpy(run.states[0].bytes + 100, "works again", 11);
            run.states[0].size = run.states[0].size > 111 ? run.states[0].size : 111;
            backend_close(run.file, NULL);
        } else {
            backend_close(run.file, NULL);
            medium_fail_after(run.medium, 0, 0);
        }
        if (seed % 3 == 1)
            cut_power(&run);
        reopen(&run);
        check_allowed(&run, "after a write failed and a new start");
        run_end(&run);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(keeps_what_was_synced_when_the_power_fails),
        CASE(keeps_what_was_there_when_writes_fail),
    };

    return RUN_CASES(cases);
}
