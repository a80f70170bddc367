/*
 * No memory at any allocation of the store: a program that is told nothing finds all it wrote; one that is told finds what
 * was there before or what it wrote, and can write on. Linked so that allocations come by here.
 */
#include <errno.h>

#include "run.h"

#define CHANGES 24

/* Allocations counted while armed; those from `fail_from` on, `fail_count` of them, give nothing. */
static struct {
    bool armed;
    uint64_t count, fail_from, fail_count;
} memory;

static int lower_fd;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
void *__real_reallocarray(void *pointer, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void *__wrap_reallocarray(void *pointer, size_t count, size_t size);

static bool must_fail(void)
{
    if (!memory.armed)
        return false;
    memory.count++;
    return memory.count > memory.fail_from && memory.count <= memory.fail_from + memory.fail_count;
}

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *pointer, size_t size)
{
    return must_fail() ? NULL : __real_realloc(pointer, size);
}

void *__wrap_reallocarray(void *pointer, size_t count, size_t size)
{
    return must_fail() ? NULL : __real_reallocarray(pointer, count, size);
}

/* A real file: the crash machine's own allocations would count. */
static struct backend *open_lower(struct run *run)
{
    bool armed = memory.armed;
    struct backend *raw;

    (void)run;
    memory.armed = false;
    CHECK_EQ(raw_backend_create(dup(lower_fd), NULL, &raw), 0);
    memory.armed = armed;
    return raw;
}

static bool is_over(uint64_t seed, uint64_t fail_from, uint64_t fail_count)
{
    struct run run;
    unsigned errors;

    memory.armed = false;
    lower_fd = memory_file();
    run_begin_on(&run, seed, open_lower);
    for (unsigned n = 0; n < 8; n++)
        run_change(&run);
    CHECK_EQ(backend_sync(run.file, NULL, true), 0);
    run_synced(&run);
    run.errors = 0;
    memory.count = 0;
    memory.fail_from = fail_from;
    memory.fail_count = fail_count;
    memory.armed = true;
    for (unsigned n = 0; n < CHANGES && run.file; n++)
        run_change(&run);
    if (run.file)
        run.errors += backend_flush(run.file, NULL) < 0;
    memory.armed = false;
    errors = run.errors;
    if (!run.file)
        run_reopen(&run);
    if (errors == 0)
        run_synced(&run);
    run_check(&run, errors ? "after an error" : "with no error reported");
    CHECK_EQ(backend_sync(run.file, NULL, true), 0);
    CHECK_EQ(run_close(&run), 0);
    run_reopen(&run);
    run_check(&run, "after a new start");
    run_end(&run);
    close(lower_fd);
    return memory.count <= fail_from;
}

static void tells_or_keeps_everything_when_there_is_no_memory(void)
{
    const struct seeds seeds = run_seeds(5);

    for (uint64_t seed = seeds.first; seed <= seeds.last; seed++) {
        for (uint64_t fail_count = 1; fail_count <= 20; fail_count *= 20) {
            uint64_t from = 0;

            do
                snprintf(run_place, sizeof(run_place), "allocation %" PRIu64 ", %" PRIu64, from, fail_count);
            while (!is_over(seed, from++, fail_count));
        }
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(tells_or_keeps_everything_when_there_is_no_memory),
    };

    return RUN_CASES(cases);
}
