#include <string.h>

#include "tally/stats.h"

static const struct {
    const char *name;
    const char *doc;
} operations[TALLY_OP_COUNT] = {
#define TALLY_OP(name, since, reply, doc, parameters, arguments) {#name, doc},
#include "tally/ops.def"
#undef TALLY_OP
};

const char *tally_op_name(enum tally_op op)
{
    return operations[op].name;
}

const char *tally_op_doc(enum tally_op op)
{
    return operations[op].doc;
}

bool tally_op_has_sizes(enum tally_op op)
{
    return op == TALLY_OP_read || op == TALLY_OP_write;
}

int tally_op_by_name(const char *name)
{
    for (int op = 0; op < TALLY_OP_COUNT; op++)
        if (strcmp(operations[op].name, name) == 0)
            return op;
    return -1;
}

const char *tally_background_name(enum tally_background work)
{
    static const char *const names[TALLY_BACKGROUND_COUNT] = {"compress", "reclaim", "decode"};

    return names[work];
}

enum { GAUGE, COUNTER };

static const struct {
    const char *name;
    const char *unit;
    const char *doc;
    bool is_counter;
} gauges[TALLY_GAUGE_COUNT] = {
#define TALLY_GAUGE(name, kind, unit, doc) {#name, unit, doc, (kind) == COUNTER},
#include "tally/gauges.def"
#undef TALLY_GAUGE
};

const char *tally_gauge_name(enum tally_gauge gauge)
{
    return gauges[gauge].name;
}

const char *tally_gauge_doc(enum tally_gauge gauge)
{
    return gauges[gauge].doc;
}

const char *tally_gauge_unit(enum tally_gauge gauge)
{
    return gauges[gauge].unit;
}

bool tally_gauge_is_counter(enum tally_gauge gauge)
{
    return gauges[gauge].is_counter;
}

void tally_op_counters_add(struct tally_op_counters *to, const struct tally_op_counters *from)
{
    if (from->count && (!to->count || from->min_ns < to->min_ns))
        to->min_ns = from->min_ns;
    if (from->max_ns > to->max_ns)
        to->max_ns = from->max_ns;
    to->count += from->count;
    to->errors += from->errors;
    to->bytes += from->bytes;
    to->total_ns += from->total_ns;
    to->lower_ns += from->lower_ns;
    to->codec_ns += from->codec_ns;
    to->wait_ns += from->wait_ns;
    for (size_t i = 0; i < TALLY_ERRNO_SLOTS; i++)
        to->errors_by_errno[i] += from->errors_by_errno[i];
    for (size_t i = 0; i < TALLY_HIST_BUCKETS; i++)
        to->buckets[i] += from->buckets[i];
    to->requested_bytes += from->requested_bytes;
    for (size_t i = 0; i < TALLY_SIZE_BUCKETS; i++)
        to->sizes[i] += from->sizes[i];
}
