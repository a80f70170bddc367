/*
 * Errors from the lower file at every call: a program that is not told of one finds all it wrote; one that is told finds
 * for every byte what was there before or what it wrote, and can write on.
 */
#include <errno.h>

#include "run.h"

#define CHANGES 24

struct outcome {
    unsigned errors;
    bool has_failed; /* the lower call */
};

/* Some changes with a fault, then a look at it all without one. */
static struct outcome run_with_fault(struct run *run, const struct medium_fault *fault)
{
    struct outcome outcome;

    for (unsigned n = 0; n < 8; n++)
        run_change(run);
    CHECK_EQ(backend_sync(run->file, NULL, true), 0);
    run_synced(run);
    run->errors = 0;
    medium_fail(run->medium, fault);
    for (unsigned n = 0; n < CHANGES && run->file; n++)
        run_change(run);
    if (run->file)
        run->errors += backend_flush(run->file, NULL) < 0;
    outcome = (struct outcome){run->errors, medium_calls(run->medium) > fault->after};
    medium_fail(run->medium, &(struct medium_fault){0});
    return outcome;
}

static void look(struct run *run, bool told, const char *when)
{
    if (!told) /* then it must be what was written last */
        run_synced(run);
    run_check(run, when);
}

/* Whatever was reported was reported once; writing works again. */
static void write_on(struct run *run, struct state *state)
{
    int r = backend_sync(run->file, NULL, true);

    if (r < 0)
        RUN_FAIL(run, "an error is reported again: %d", r);
    CHECK_EQ(backend_pwrite(run->file, NULL, "works again", 11, 100, false), 11);
    CHECK_EQ(backend_sync(run->file, NULL, true), 0);
    memcpy(state->bytes + 100, "works again", 11);
    state->size = state->size > 111 ? state->size : 111;
}

static void try_fault(uint64_t seed, const struct medium_fault *fault, bool *ret_has_failed)
{
    struct outcome outcome;
    struct run run;

    run_begin(&run, seed);
    outcome = run_with_fault(&run, fault);
    if (!run.file)
        run_reopen(&run);
    else if (!outcome.errors)
        look(&run, false, "with no error reported");
    if (outcome.errors) {
        run_check(&run, "after an error");
        write_on(&run, &run.states[0]);
    }
    if (run_close(&run) < 0)
        RUN_FAIL(&run, "closing gives an error that was reported before");
    run_reopen(&run);
    run_check(&run, "after an error and a new start");
    run_end(&run);
    *ret_has_failed = outcome.has_failed;
}

static const struct {
    unsigned calls;
    int error;
    bool lasting, is_short;
} kinds[] = {
    {MEDIUM_WRITE | MEDIUM_TRUNCATE, ENOSPC, true, false},
    {MEDIUM_WRITE | MEDIUM_TRUNCATE, EDQUOT, true, true},
    {MEDIUM_WRITE | MEDIUM_PUNCH, ENOSPC, false, true},
    {MEDIUM_WRITE | MEDIUM_TRUNCATE | MEDIUM_SYNC | MEDIUM_PUNCH | MEDIUM_FLUSH | MEDIUM_CLOSE, EIO, false, false},
    {MEDIUM_WRITE | MEDIUM_TRUNCATE | MEDIUM_SYNC | MEDIUM_PUNCH, EIO, true, false},
    {MEDIUM_WRITE, EINTR, false, true},
    {MEDIUM_SYNC, EIO, false, false},
    {MEDIUM_READ, EIO, false, false},
    {MEDIUM_PUNCH, EOPNOTSUPP, true, false},
};

static void tells_or_keeps_everything_when_a_lower_call_fails(void)
{
    const struct seeds seeds = run_seeds(6);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
            bool has_failed = true;

            for (uint64_t after = 0; has_failed; after++) {
                const struct medium_fault fault = {kinds[kind].calls, after, kinds[kind].error, kinds[kind].lasting,
                                                   kinds[kind].is_short};

                snprintf(run_place, sizeof(run_place), "kind %zu, call %" PRIu64, kind, after);
                try_fault(seed, &fault, &has_failed);
            }
        }
    }
}

/* And then the power fails, too. */
static void keeps_what_was_synced_when_a_lower_call_fails_and_the_power(void)
{
    const struct seeds seeds = run_seeds(800);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        size_t kind = seed % 3;
        const struct medium_fault fault = {kinds[kind].calls, random_next(&(uint64_t){seed}) % 30, kinds[kind].error,
                                           kinds[kind].lasting, kinds[kind].is_short};
        struct run run;

        snprintf(run_place, sizeof(run_place), "kind %zu, call %" PRIu64 ", power", kind, fault.after);
        run_begin(&run, seed);
        run_with_fault(&run, &fault);
        run_close(&run);
        run_cut_power(&run);
        run_reopen(&run);
        run_check(&run, "after an error and a power failure");
        run_end(&run);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(tells_or_keeps_everything_when_a_lower_call_fails),
        CASE(keeps_what_was_synced_when_a_lower_call_fails_and_the_power),
    };

    return RUN_CASES(cases);
}
