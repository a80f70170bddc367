#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "ctl/snapshot.h"

#define COUNTER(name)                                                                              \
    {                                                                                              \
#name, offsetof(struct tally_op_counters, name)                                            \
    }

struct counter {
    const char *name;
    size_t offset;
};

static const struct counter background_counters[] = {
    COUNTER(count),    COUNTER(errors),   COUNTER(bytes),   COUNTER(total_ns),
    COUNTER(lower_ns), COUNTER(codec_ns), COUNTER(wait_ns), {0},
};

static const struct counter operation_counters[] = {
    COUNTER(count),    COUNTER(errors),  COUNTER(bytes),  COUNTER(total_ns), COUNTER(lower_ns),
    COUNTER(codec_ns), COUNTER(wait_ns), COUNTER(min_ns), COUNTER(max_ns),   {0},
};

/* 0 or -EINVAL; null is 0: not known. */
static int parse_number(const json_t *value, uint64_t *ret_number)
{
    if (json_is_null(value)) {
        *ret_number = 0;
        return 0;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return -EINVAL;
    *ret_number = (uint64_t)json_integer_value(value);
    return 0;
}

static int parse_counters(const json_t *object, const struct counter *table,
                          struct tally_op_counters *counters)
{
    for (; table->name; table++) {
        int r = parse_number(json_object_get(object, table->name),
                             (uint64_t *)((char *)counters + table->offset));

        if (r < 0)
            return r;
    }
    return 0;
}

static int errno_by_name(const char *name)
{
    for (int number = 1; number < TALLY_ERRNO_SLOTS; number++) {
        const char *known = strerrorname_np(number);

        if (known && strcmp(known, name) == 0)
            return number;
    }
    return 0;
}

static int parse_errors(json_t *object, struct tally_op_counters *counters)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object))
        return -EINVAL;
    json_object_foreach(object, name, value) {
        uint64_t count;
        int r = parse_number(value, &count);

        if (r < 0)
            return r;
        counters->errors_by_errno[errno_by_name(name)] += count;
    }
    return 0;
}

static int parse_histogram(const json_t *pairs, struct tally_op_counters *counters)
{
    const json_t *pair;
    size_t index;
    uint64_t sum = 0;

    json_array_foreach(pairs, index, pair) {
        uint64_t low, count;
        unsigned bucket;

        if (json_array_size(pair) != 2 || parse_number(json_array_get(pair, 0), &low) < 0 ||
            parse_number(json_array_get(pair, 1), &count) < 0)
            return -EINVAL;
        bucket = tally_hist_index(low);
        if (tally_hist_low(bucket) != low)
            return -EINVAL;
        counters->buckets[bucket] += count;
        sum += count;
    }
    return sum == counters->count ? 0 : -EINVAL;
}

static int parse_operation(json_t *object, bool *ret_has_histogram,
                           struct tally_op_counters *counters)
{
    const json_t *histogram = json_object_get(object, "histogram_ns");
    int r;

    memset(counters, 0, sizeof(*counters));
    r = parse_counters(object, operation_counters, counters);
    if (r == 0)
        r = parse_errors(json_object_get(object, "errors_by_errno"), counters);
    *ret_has_histogram = json_is_array(histogram);
    return r == 0 && *ret_has_histogram ? parse_histogram(histogram, counters) : r;
}

int snapshot_parse_operation(const char *text, struct tally_op_counters *ret_counters)
{
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    bool has_histogram;
    int r = json ? parse_operation(json, &has_histogram, ret_counters) : -EINVAL;

    json_decref(json);
    return r == 0 && !has_histogram ? -EINVAL : r;
}

/* Operations that a newer tallyfs has and we do not know would be missing from all sums, so they are an error. */
static int parse_operations(json_t *object, char reason[static SNAPSHOT_REASON_BYTES],
                            struct stats_snapshot *counters)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value) {
        int op = tally_op_by_name(name);
        bool has_histogram = false;

        if (op < 0 || parse_operation(value, &has_histogram, &counters->operations[op]) < 0) {
            snprintf(reason, SNAPSHOT_REASON_BYTES, "operation %.40s: %s", name,
                     op < 0 ? "unknown here" : "not what was expected");
            return -EINVAL;
        }
        counters->sums_only |= !has_histogram;
    }
    return 0;
}

static int parse_background(json_t *object, struct stats_snapshot *counters)
{
    for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++) {
        json_t *value = json_object_get(object, tally_background_name(work));
        int r = value ? parse_counters(value, background_counters, &counters->background[work]) : 0;

        if (r < 0)
            return r;
    }
    return 0;
}

static int parse_text(const json_t *json, const char *name, char **ret_text)
{
    const char *text = json_string_value(json_object_get(json, name));
    char *copy = strdup(text ? text : "");

    if (!copy)
        return -ENOMEM;
    *ret_text = copy;
    return text ? 0 : -EINVAL;
}

static int parse_head(const json_t *json, struct snapshot *snapshot)
{
    struct stats_snapshot *counters = &snapshot->counters;
    int r = parse_text(json, "version", &snapshot->version);

    if (r == 0)
        r = parse_text(json, "lower", &snapshot->lower);
    if (r == 0)
        r = parse_text(json, "options", &snapshot->options);
    if (r == 0)
        r = parse_number(json_object_get(json, "epoch"), &counters->epoch);
    if (r == 0)
        r = parse_number(json_object_get(json, "interval_ns"), &counters->interval_ns);
    if (r == 0)
        r = parse_number(json_object_get(json, "uptime_ns"), &counters->uptime_ns);
    if (r == 0)
        r = parse_number(json_object_get(json, "lost"), &counters->lost);
    counters->version = snapshot->version;
    counters->lower = snapshot->lower;
    counters->options = snapshot->options;
    return r;
}

static int parse_all(const json_t *json, char reason[static SNAPSHOT_REASON_BYTES],
                     struct snapshot *snapshot)
{
    json_t *operations = json_object_get(json, "operations");
    const json_t *schema = json_object_get(json, "schema");
    int r;

    if (!json_is_integer(schema) || !json_is_object(operations)) {
        snprintf(reason, SNAPSHOT_REASON_BYTES, "not a snapshot of tallyfs counters");
        return -EINVAL;
    }
    if (json_integer_value(schema) != TALLY_STATS_SCHEMA) {
        snprintf(reason, SNAPSHOT_REASON_BYTES,
                 "schema %" JSON_INTEGER_FORMAT ", this tallyctl reads schema %d",
                 json_integer_value(schema), TALLY_STATS_SCHEMA);
        return -EINVAL;
    }
    r = parse_head(json, snapshot);
    if (r == 0)
        r = parse_background(json_object_get(json, "background"), &snapshot->counters);
    if (r == -EINVAL)
        snprintf(reason, SNAPSHOT_REASON_BYTES, "a member is missing or of the wrong kind");
    return r == 0 ? parse_operations(operations, reason, &snapshot->counters) : r;
}

int snapshot_parse(const char *text, char ret_reason[static SNAPSHOT_REASON_BYTES],
                   struct snapshot **ret_snapshot)
{
    AUTO_SNAPSHOT struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
    json_error_t error;
    json_t *json;
    int r;

    if (!snapshot)
        return -ENOMEM;
    json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!json) {
        snprintf(ret_reason, SNAPSHOT_REASON_BYTES, "not JSON: line %d: %s", error.line,
                 error.text);
        return -EINVAL;
    }
    r = parse_all(json, ret_reason, snapshot);
    json_decref(json);
    if (r < 0)
        return r;
    *ret_snapshot = snapshot;
    snapshot = NULL;
    return 0;
}
