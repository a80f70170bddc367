#include <inttypes.h>

#include "stats/render.h"

void stats_render_sizes(const struct tally_op_counters *counters, struct strbuf *out)
{
    for (unsigned i = 0; i < TALLY_SIZE_BUCKETS; i++) {
        if (counters->sizes[i])
            strbuf_printf(out, "%" PRIu64 " %" PRIu64 "\n", tally_size_low(i), counters->sizes[i]);
    }
}

void stats_render_histogram(const struct tally_op_counters *counters, struct strbuf *out)
{
    for (unsigned i = 0; i < TALLY_HIST_BUCKETS; i++) {
        if (counters->buckets[i])
            strbuf_printf(out, "%s%" PRIu64 " %" PRIu64 "\n", i == TALLY_HIST_OVERFLOW ? ">" : "",
                          tally_hist_low(i), counters->buckets[i]);
    }
}
