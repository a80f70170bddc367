/*
 * The smallest harness that still says what failed: a test program is a list of cases; a failed check prints file,
 * line and values, ends the case and fails the program.
 */
#ifndef TALLY_TESTS_HARNESS_H
#define TALLY_TESTS_HARNESS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST_SKIP 77

struct test_case {
    const char *name; /* <does>_when_<condition> */
    void (*run)(void);
};

__attribute__((weak)) jmp_buf test_failed; /* one for all sources of a program */

#define CASE(function) {#function, function}

/* A failed check ends its case from any depth; what the case held is leaked, the program fails anyway. */
#define FAIL(...)                                                                                  \
    do {                                                                                           \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                            \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fputc('\n', stderr);                                                                       \
        longjmp(test_failed, 1);                                                                   \
    } while (0)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            FAIL("check failed: %s", #condition);                                                  \
    } while (0)

#define CHECK_EQ(actual, expected)                                                                 \
    do {                                                                                           \
        intmax_t actual_ = (intmax_t)(actual), expected_ = (intmax_t)(expected);                   \
        if (actual_ != expected_)                                                                  \
            FAIL("%s is %" PRIdMAX ", not %" PRIdMAX, #actual, actual_, expected_);                \
    } while (0)

#define CHECK_STR(actual, expected)                                                                \
    do {                                                                                           \
        const char *actual_ = (actual), *expected_ = (expected);                                   \
        if (strcmp(actual_, expected_) != 0)                                                       \
            FAIL("%s is \"%s\", not \"%s\"", #actual, actual_, expected_);                         \
    } while (0)

/* Apart from its caller, whose variables a longjmp might clobber. */
__attribute__((noinline)) static int run_case(const struct test_case *test)
{
    if (setjmp(test_failed) != 0)
        return 1;
    test->run();
    return 0;
}

static inline int run_cases(const struct test_case *cases, size_t count)
{
    int failures = 0;

    for (size_t i = 0; i < count; i++) {
        int failed = run_case(&cases[i]);

        printf("%s %s\n", failed ? "FAIL" : "ok  ", cases[i].name);
        fflush(stdout);
        failures += failed;
    }
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define RUN_CASES(cases) run_cases(cases, sizeof(cases) / sizeof((cases)[0]))

#endif
