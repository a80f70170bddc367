#include "stats/field.h"

#define PLAIN(field)                                                                               \
    static uint64_t get_##field(const struct tally_op_counters *counters)                          \
    {                                                                                              \
        return counters->field;                                                                    \
    }

#define PERCENTILE(name, permille)                                                                 \
    static uint64_t get_##name(const struct tally_op_counters *counters)                           \
    {                                                                                              \
        return tally_hist_percentile(counters->buckets, counters->count, permille,                 \
                                     counters->min_ns, counters->max_ns);                          \
    }

PLAIN(count)
PLAIN(errors)
PLAIN(bytes)
PLAIN(total_ns)
PLAIN(min_ns)
PLAIN(max_ns)
PLAIN(lower_ns)
PLAIN(codec_ns)
PLAIN(wait_ns)
PERCENTILE(p50_ns, 500)
PERCENTILE(p90_ns, 900)
PERCENTILE(p99_ns, 990)
PERCENTILE(p999_ns, 999)

/* The parts never overlap, so the rest is what tallyfs did itself. */
static uint64_t get_self_ns(const struct tally_op_counters *counters)
{
    uint64_t parts = counters->lower_ns + counters->codec_ns + counters->wait_ns;

    return counters->total_ns > parts ? counters->total_ns - parts : 0;
}

const struct stats_field *stats_field_at(size_t index)
{
#define FIELD(name) {#name, get_##name}
    static const struct stats_field fields[] = {
        FIELD(count),    FIELD(errors),   FIELD(bytes),   FIELD(total_ns), FIELD(min_ns),
        FIELD(max_ns),   FIELD(lower_ns), FIELD(codec_ns), FIELD(wait_ns), FIELD(self_ns),
        FIELD(p50_ns),   FIELD(p90_ns),   FIELD(p99_ns),  FIELD(p999_ns),
    };
#undef FIELD

    return index < sizeof(fields) / sizeof(fields[0]) ? &fields[index] : NULL;
}
