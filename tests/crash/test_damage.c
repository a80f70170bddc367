/*
 * Bytes of the lower file change after they were on the medium, in files that were closed, and in files that were not:
 * whatever was hit, no byte may ever have another value than one that it had since the last sync. Reading may fail, but
 * where it was one byte, for one chunk only.
 */
#include <errno.h>

#include "run.h"

/* So much is written that the last sync is known of, in frames after it. */
static void make_file(struct run *run, bool closed)
{
    for (uint64_t n = random_below(&run->random, STATES - 6) + 1; n && run->count < STATES - 5; n--)
        run_change(run);
    CHECK_EQ(backend_sync(run->file, NULL, true), 0);
    run_synced(run);
    for (unsigned n = 0; n < 3; n++) {
        run_write(run);
        CHECK_EQ(backend_flush(run->file, NULL), 0);
    }
    if (!closed) /* the daemon dies here: closing changes nothing any more */
        medium_freeze_after(run->medium, 0);
    run_close(run);
    medium_thaw(run->medium);
}

static unsigned look(struct run *run)
{
    int r = run_open(run);
    unsigned bad;

    if (r == -EIO)
        return UINT32_MAX;
    CHECK_EQ(r, 0);
    bad = run_check_damaged(run, "after damage");
    medium_freeze_after(run->medium, 0);
    run_close(run);
    medium_thaw(run->medium);
    return bad;
}

static void damage(uint64_t seed, bool closed, size_t bytes)
{
    struct run run;
    uint64_t at;
    unsigned bad;

    run_begin(&run, seed);
    make_file(&run, closed);
    at = random_below(&run.random, medium_size(run.medium));
    snprintf(run_place, sizeof(run_place), "%zu bytes at %" PRIu64 " of a %s file", bytes, at, closed ? "closed" : "live");
    medium_damage(run.medium, at, bytes);
    bad = look(&run);
    if (bytes == 1 && bad > 1)
        RUN_FAIL(&run, "%u chunks cannot be read", bad);
    run_end(&run);
}

static void shows_nothing_wrong_when_a_byte_changes(void)
{
    const struct seeds seeds = run_seeds(700);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
        damage(seed, seed % 2, 1);
}

static void shows_nothing_wrong_when_a_sector_changes(void)
{
    const struct seeds seeds = run_seeds(700);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
        damage(seed, seed % 2, 8u << seed % 7);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(shows_nothing_wrong_when_a_byte_changes),
        CASE(shows_nothing_wrong_when_a_sector_changes),
    };

    return RUN_CASES(cases);
}
