#include "stats/field.h"

#include <string.h>

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
#define SUM(name)                                                                                  \
    {                                                                                              \
#name, get_##name, false                                                                   \
    }
#define DISTRIBUTION(name)                                                                         \
    {                                                                                              \
#name, get_##name, true                                                                    \
    }
    static const struct stats_field fields[] = {
        SUM(count),           SUM(errors),           SUM(bytes),           SUM(total_ns),
        DISTRIBUTION(min_ns), DISTRIBUTION(max_ns),  SUM(lower_ns),        SUM(codec_ns),
        SUM(wait_ns),         SUM(self_ns),          DISTRIBUTION(p50_ns), DISTRIBUTION(p90_ns),
        DISTRIBUTION(p99_ns), DISTRIBUTION(p999_ns),
    };
#undef SUM
#undef DISTRIBUTION

    return index < sizeof(fields) / sizeof(fields[0]) ? &fields[index] : NULL;
}

const struct stats_field *stats_field_by_name(const char *name)
{
    const struct stats_field *field;

    for (size_t i = 0; (field = stats_field_at(i)); i++)
        if (strcmp(field->name, name) == 0)
            break;
    return field;
}
