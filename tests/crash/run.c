#include "run.h"

#include <errno.h>

char run_place[100];

struct state *run_newest(struct run *run)
{
    return &run->states[run->count - 1];
}

/* A copy of the newest state, to be changed. */
static struct state *next_state(struct run *run)
{
    struct state *next = &run->states[run->count];

    memcpy(next->bytes, run_newest(run)->bytes, SPAN);
    next->size = run_newest(run)->size;
    run->count++;
    return next;
}

void run_synced(struct run *run)
{
    struct state only = *run_newest(run);

    run->states[run->count - 1] = run->states[0];
    run->states[0] = only;
    run->count = 1;
}

int run_open(struct run *run)
{
    const struct tally_codec_choice choice = choose(run->codec);
    bool read_first = random_below(&run->random, 4) == 0;
    struct backend *lower = run->open_lower(run);
    int r = store_file_open(run->store, NULL, lower, &choice, read_first, &run->file);

    if (r < 0) {
        backend_close(lower, NULL);
        run->file = NULL;
        return r;
    }
    if (read_first)
        r = store_file_begin_writing(run->file, NULL, &choice);
    if (r < 0)
        run_close(run);
    return r;
}

int run_close(struct run *run)
{
    int r = run->file ? backend_close(run->file, NULL) : 0;

    run->file = NULL;
    return r;
}

static bool was_empty(const struct run *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->states[i].size == 0)
            return true;
    return false;
}

void run_reopen(struct run *run)
{
    struct backend *lower;
    int r = run_open(run);

    if (r == 0)
        return;
    if (r != -EIO || !was_empty(run))
        RUN_FAIL(run, "cannot be opened: %d", r);
    lower = run->open_lower(run);
    CHECK_EQ(backend_truncate(lower, NULL, 0), 0);
    CHECK_EQ(backend_sync(lower, NULL, false), 0);
    CHECK_EQ(backend_close(lower, NULL), 0);
    CHECK_EQ(run_open(run), 0);
}

void run_cut_power(struct run *run)
{
    medium_cut_power(run->medium);
    memset(run->store->boot_id, (int)++run->boots, sizeof(run->store->boot_id));
}

static bool byte_is_allowed(const struct run *run, size_t at, uint8_t value)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->states[i].bytes[at] == value)
            return true;
    return false;
}

static size_t check_size(struct run *run, const char *when)
{
    size_t smallest = SPAN, largest = 0;
    off_t size;

    for (size_t i = 0; i < run->count; i++) {
        smallest = run->states[i].size < smallest ? run->states[i].size : smallest;
        largest = run->states[i].size > largest ? run->states[i].size : largest;
    }
    CHECK_EQ(backend_size(run->file, NULL, &size), 0);
    if ((size_t)size < smallest || (size_t)size > largest)
        RUN_FAIL(run, "%s: the size is %jd, not between %zu and %zu", when, (intmax_t)size, smallest, largest);
    return (size_t)size;
}

static void check_bytes(struct run *run, const char *when, size_t from, size_t to)
{
    for (size_t at = from; at < to; at++)
        if (run->scratch[at] != run->states[0].bytes[at] && !byte_is_allowed(run, at, run->scratch[at]))
            RUN_FAIL(run, "%s: byte %zu is %02x, which it never was since the last sync (%02x)", when, at,
                     run->scratch[at], run->states[0].bytes[at]);
}

/*
 * A file of one frame, written to an empty file and not synced: when that frame is torn, nothing tells that it is not
 * damage of something that was synced, so reading fails. A program would empty it.
 */
static bool forget_contents(struct run *run, size_t size)
{
    if (!was_empty(run) || medium_frames(run->medium) != 1)
        return false;
    CHECK_EQ(backend_truncate(run->file, NULL, 0), 0);
    CHECK_EQ(backend_truncate(run->file, NULL, (off_t)size), 0);
    CHECK_EQ(backend_sync(run->file, NULL, true), 0);
    memset(run->scratch, 0, SPAN);
    return true;
}

void run_check(struct run *run, const char *when)
{
    size_t size = check_size(run, when);
    ssize_t got;

    memset(run->scratch, 0, SPAN);
    got = backend_pread(run->file, NULL, run->scratch, SPAN, 0);
    if (got == -EIO && forget_contents(run, size))
        got = (ssize_t)size;
    if (got != (ssize_t)size)
        RUN_FAIL(run, "%s: reading gives %zd, not %zu; %u frames in %" PRIu64 " bytes%s", when, got, size,
                 medium_frames(run->medium), medium_size(run->medium), was_empty(run) ? ", was empty" : "");
    check_bytes(run, when, 0, size);
    memcpy(run->states[0].bytes, run->scratch, SPAN);
    run->states[0].size = size;
    run->count = 1;
}

unsigned run_check_damaged(struct run *run, const char *when)
{
    size_t size = check_size(run, when);
    unsigned bad = 0;

    memset(run->scratch, 0, SPAN);
    for (size_t at = 0; at < size; at += FORMAT_CHUNK_MIN) {
        size_t length = size - at < FORMAT_CHUNK_MIN ? size - at : FORMAT_CHUNK_MIN;
        ssize_t got = backend_pread(run->file, NULL, run->scratch + at, FORMAT_CHUNK_MIN, (off_t)at);

        if (got == -EIO) {
            bad++;
            continue;
        }
        CHECK_EQ(got, length);
        check_bytes(run, when, at, at + length);
    }
    return bad;
}

static size_t pick_length(struct run *run, size_t offset)
{
    uint64_t *random = &run->random;
    size_t length = random_below(random, 3) ? random_below(random, 3000) : random_below(random, 4 * FORMAT_CHUNK_MIN);

    return length + 1 < SPAN - offset ? length + 1 : SPAN - offset;
}

static int change_by_writing(struct run *run, bool append)
{
    uint64_t *random = &run->random;
    size_t size = run_newest(run)->size, offset, length;
    struct state *next;
    ssize_t written;

    if (append && (size == SPAN || run->errors)) /* after an error its end may be elsewhere */
        return 0;
    offset = append ? size : random_below(random, 3) ? random_below(random, size + 1) : random_below(random, SPAN - 1);
    if (offset == SPAN)
        offset--;
    length = pick_length(run, offset);
    next = next_state(run);
    fill(run->scratch, length, random);
    memcpy(next->bytes + offset, run->scratch, length);
    next->size = offset + length > size ? offset + length : size;
    written = backend_pwrite(run->file, NULL, run->scratch, length, append ? 0 : (off_t)offset, append);
    if (written >= 0 && (size_t)written < length) { /* the next write will tell why */
        size_t end = offset + (size_t)written;

        memcpy(next->bytes + end, run->states[run->count - 2].bytes + end, SPAN - end);
        next->size = end > size ? end : size;
    }
    return written < 0 ? (int)written : 0;
}

int run_write(struct run *run)
{
    return change_by_writing(run, false);
}

static int change_size(struct run *run)
{
    size_t size = run_newest(run)->size, offset = random_below(&run->random, 4) ? random_below(&run->random, SPAN) : 0;
    struct state *next = next_state(run);

    if (offset < size)
        memset(next->bytes + offset, 0, size - offset);
    next->size = offset;
    return backend_truncate(run->file, NULL, (off_t)offset);
}

static int change_by_zeroing(struct run *run)
{
    static const int modes[] = {FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
                                FALLOC_FL_ZERO_RANGE, 0, FALLOC_FL_KEEP_SIZE};
    int mode = modes[random_below(&run->random, sizeof(modes) / sizeof(modes[0]))];
    size_t size = run_newest(run)->size, offset = random_below(&run->random, SPAN - 1);
    size_t length = random_below(&run->random, SPAN - offset) + 1, end = offset + length;
    struct state *next = next_state(run);

    if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) && offset < size)
        memset(next->bytes + offset, 0, (end < size ? end : size) - offset);
    if (!(mode & FALLOC_FL_KEEP_SIZE) && end > size)
        next->size = end;
    return backend_allocate(run->file, NULL, mode, (off_t)offset, (off_t)length);
}

static int sync_all(struct run *run)
{
    int r = backend_sync(run->file, NULL, true);

    /* After an error nobody knows which of the changes it was about. */
    if (r == 0 && run->errors == 0 && !medium_is_frozen(run->medium))
        run_synced(run);
    return r;
}

static int close_and_open(struct run *run)
{
    int r = run_close(run), s = run_open(run);

    return r < 0 ? r : s;
}

int run_change(struct run *run)
{
    int r;

    switch (random_below(&run->random, 17)) {
    case 0 ... 5:
        r = change_by_writing(run, false);
        break;
    case 6:
        r = change_by_writing(run, true);
        break;
    case 7:
        r = change_size(run);
        break;
    case 8:
        r = change_by_zeroing(run);
        break;
    case 9 ... 10:
        r = backend_flush(run->file, NULL); /* one of two programs closes the file */
        break;
    case 11 ... 12:
        r = sync_all(run);
        break;
    case 13:
        return reclaim_round(file_of(run->file), NULL); /* nobody is told; what matters is kept for the program */
    case 14:
        r = store_file_compact(run->file, NULL);
        break;
    case 15:
        r = close_and_open(run);
        break;
    default:
        return (int)backend_pread(run->file, NULL, run->scratch, 1 + random_below(&run->random, SPAN), 0) < 0 ? -EIO : 0;
    }
    run->errors += r < 0;
    return r;
}

static uint8_t *state_bytes[STATES];

static struct backend *open_medium(struct run *run)
{
    return medium_open(run->medium);
}

void run_begin(struct run *run, uint64_t seed)
{
    run_begin_on(run, seed, open_medium);
}

void run_begin_on(struct run *run, uint64_t seed, struct backend *(*open_lower)(struct run *run))
{
    static const char *const codecs[] = {"lz4", "zstd:1", "gzip:1", "none"};
    static uint8_t scratch[SPAN];

    *run = (struct run){.store = make_store(FORMAT_CHUNK_MIN, 0), .medium = medium_create(seed),
                        .open_lower = open_lower,
                        .codec = codecs[seed % 4], .seed = seed, .random = seed * 7919, .count = 1, .scratch = scratch};
    for (size_t i = 0; i < STATES; i++) {
        if (!state_bytes[i])
            state_bytes[i] = calloc(1, SPAN);
        run->states[i].bytes = state_bytes[i];
    }
    memset(run->states[0].bytes, 0, SPAN);
    memset(run->store->boot_id, (int)++run->boots, sizeof(run->store->boot_id));
    /* So that what otherwise comes once in megabytes comes all the time. */
    run->store->dead_free_bytes = seed % 3 ? 1u << (14 + seed % 5) : 1u << 20;
    run->store->checkpoint_bytes = 1u << (14 + seed % 7);
    if (seed % 11 == 0)
        medium_forbid_punching(run->medium);
    CHECK_EQ(run_open(run), 0);
}

void run_end(struct run *run)
{
    CHECK_EQ(run_close(run), 0);
    medium_destroy(run->medium);
    store_destroy(run->store);
}

/* Sanitizers make a run ten times as long, and find with few seeds what they find at all. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARE 8
#else
#define SHARE 1
#endif

struct seeds run_seeds(unsigned usual)
{
    const char *seed = getenv("TALLY_TEST_SEED"), *longer = getenv("TALLY_TEST_LONG");

    if (seed)
        return (struct seeds){strtoull(seed, NULL, 10), strtoull(seed, NULL, 10)};
    return (struct seeds){1, longer && strcmp(longer, "1") == 0 ? usual * UINT64_C(30)
                                                                            : (usual + SHARE - 1) / SHARE};
}
