#include <string.h>

#include "stats/render.h"

static unsigned count_above(const struct tally_op_counters *counters, uint64_t limit)
{
    unsigned above = 0;

    for (int number = 1; number < TALLY_ERRNO_SLOTS; number++)
        above += counters->errors_by_errno[number] > limit;
    return above;
}

/* The least limit, itself one of the counts or 0, that at most `errnos` counts are above. */
static uint64_t find_limit(const struct tally_op_counters *counters, unsigned errnos)
{
    uint64_t limit = UINT64_MAX;

    if (count_above(counters, 0) <= errnos)
        return 0;
    for (int number = 1; number < TALLY_ERRNO_SLOTS; number++) {
        uint64_t count = counters->errors_by_errno[number];

        if (count < limit && count_above(counters, count) <= errnos)
            limit = count;
    }
    return limit;
}

void stats_errors(const struct tally_op_counters *counters, unsigned errnos,
                  void (*add)(void *user, const char *name, uint64_t count), void *user)
{
    uint64_t limit = find_limit(counters, errnos);
    unsigned ties = errnos - count_above(counters, limit);
    uint64_t other = counters->errors_by_errno[0];

    for (int number = 1; number < TALLY_ERRNO_SLOTS; number++) {
        uint64_t count = counters->errors_by_errno[number];
        const char *name = strerrorname_np(number);

        if (count == 0)
            continue;
        if (name && (count > limit || (count == limit && ties > 0))) {
            ties -= count == limit;
            add(user, name, count);
        } else {
            other += count;
        }
    }
    if (other)
        add(user, "other", other);
}
