#include <string.h>

#include "stats/render.h"

/* The n-th largest number of errors of one errno, or 0: those at or above it are named. */
static uint64_t nth_largest(const struct tally_op_counters *counters, unsigned n)
{
    uint64_t limit = UINT64_MAX;
    unsigned seen = 0;

    while (seen < n) {
        uint64_t next = 0;
        unsigned ties = 0;

        for (int number = 1; number < TALLY_ERRNO_SLOTS; number++) {
            uint64_t count = counters->errors_by_errno[number];

            if (count >= limit || count < next)
                continue;
            ties = count == next ? ties + 1 : 1;
            next = count;
        }
        if (next == 0)
            return 0;
        limit = next;
        seen += ties;
    }
    return limit;
}

void stats_errors(const struct tally_op_counters *counters, unsigned errnos,
                  void (*add)(void *user, const char *name, uint64_t count), void *user)
{
    uint64_t least = nth_largest(counters, errnos);
    uint64_t other = counters->errors_by_errno[0];
    unsigned named = 0;

    for (int number = 1; number < TALLY_ERRNO_SLOTS; number++) {
        uint64_t count = counters->errors_by_errno[number];
        const char *name = strerrorname_np(number);

        if (count == 0)
            continue;
        if (name && count >= least && named < errnos) {
            add(user, name, count);
            named++;
        } else {
            other += count;
        }
    }
    if (other)
        add(user, "other", other);
}
