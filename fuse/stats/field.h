/* The fields of one operation: one list for attributes, JSON and the manual. Inside fuse/stats only. */
#ifndef TALLY_STATS_FIELD_H
#define TALLY_STATS_FIELD_H

#include <stddef.h>

#include "tally/stats.h"

struct stats_field {
    const char *name; /* with its unit */
    uint64_t (*value)(const struct tally_op_counters *counters);
};

/* The field at `index`, NULL past the last. */
const struct stats_field *stats_field_at(size_t index);

#endif
