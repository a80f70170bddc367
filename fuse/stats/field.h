/* The fields of one operation: one list for attributes, JSON and the manual. For whoever shows counters. */
#ifndef TALLY_STATS_FIELD_H
#define TALLY_STATS_FIELD_H

#include <stdbool.h>
#include <stddef.h>

#include "tally/stats.h"

struct stats_field {
    const char *name; /* with its unit */
    uint64_t (*value)(const struct tally_op_counters *counters);
    bool of_distribution; /* no sum: the difference of two is not that of the difference */
};

/* The field at `index`, NULL past the last. */
const struct stats_field *stats_field_at(size_t index);

/* NULL for an unknown name. */
const struct stats_field *stats_field_by_name(const char *name);

#endif
