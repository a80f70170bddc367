#include "tally/hist.h"

uint64_t tally_hist_percentile(const uint64_t buckets[static TALLY_HIST_BUCKETS], uint64_t count,
                               unsigned permille, uint64_t min_ns, uint64_t max_ns)
{
    uint64_t rank, seen = 0;

    if (count == 0)
        return 0;
    /* ceil(count * permille / 1000) without overflow. */
    rank = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
    if (rank == 0)
        rank = 1;
    for (unsigned i = 0; i < TALLY_HIST_OVERFLOW; i++) {
        uint64_t high = tally_hist_low(i + 1) - 1;

        seen += buckets[i];
        if (seen < rank)
            continue;
        if (high < min_ns)
            return min_ns;
        return high > max_ns ? max_ns : high;
    }
    return max_ns;
}
