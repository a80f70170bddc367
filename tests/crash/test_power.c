/*
 * The power fails at any change of the lower file. After each: the file opens, no read fails, every byte has a value
 * that it had at or after the last sync, and one that did not change since has just that.
 */
#include "run.h"

static void fail_the_power(uint64_t seed)
{
    struct run run;

    run_begin(&run, seed);
    for (unsigned cuts = 0; cuts < 5; cuts++) {
        if (random_below(&run.random, 4)) /* else at the end, with an index */
            medium_freeze_after(run.medium, (unsigned)random_below(&run.random, 80));
        for (uint64_t n = random_below(&run.random, STATES - 2) + 1;
             n && run.count < STATES - 1 && run.file && !medium_is_frozen(run.medium); n--) {
            int r = run_change(&run);

            if (r < 0 && r != -EOPNOTSUPP && !medium_is_frozen(run.medium))
                RUN_FAIL(&run, "an operation failed: %d", r);
        }
        run_close(&run);
        run_cut_power(&run);
        run_reopen(&run);
        run_check(&run, "after the power failed");
    }
    run_end(&run);
}

static void keeps_what_was_synced_when_the_power_fails(void)
{
    const struct seeds seeds = run_seeds(1500);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++)
        fail_the_power(seed);
}

/* Seeds that only a long run came to. */
static void keeps_what_was_once_lost_when_the_power_failed(void)
{
    /* Zeros of a cut whose frame the power took got a new frame, over what had been written there since. */
    static const uint64_t found[] = {6459};

    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++)
        fail_the_power(found[i]);
}

/* Nothing that was written to the lower file is lost then, but it was not closed, and a frame may be there in part. */
static void keeps_all_that_was_flushed_when_the_daemon_dies(void)
{
    const struct seeds seeds = run_seeds(300);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        struct run run;

        run_begin(&run, seed);
        for (unsigned deaths = 0; deaths < 4; deaths++) {
            for (uint64_t n = random_below(&run.random, STATES - 3) + 1; n && run.count < STATES - 2; n--)
                if (run_change(&run) < 0 && seed % 11)
                    RUN_FAIL(&run, "an operation failed");
            CHECK_EQ(backend_flush(run.file, NULL), 0);
            run_synced(&run);
            medium_freeze_after(run.medium, (unsigned)random_below(&run.random, 4));
            for (unsigned n = 0; n < 3 && run.file && !medium_is_frozen(run.medium); n++)
                run_change(&run);
            run_close(&run);
            medium_thaw(run.medium);
            run_reopen(&run);
            run_check(&run, "after the daemon died");
        }
        run_end(&run);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(keeps_what_was_synced_when_the_power_fails),
        CASE(keeps_what_was_once_lost_when_the_power_failed),
        CASE(keeps_all_that_was_flushed_when_the_daemon_dies),
    };

    return RUN_CASES(cases);
}
