#include <string.h>

#include "summary.h"

struct metric_row {
    const char *key;
    const char *list;  /* "phases" or "space", whose entries are summed up; NULL: of the trial */
    const char *phase; /* only entries of that name */
    const char *fields[4]; /* added; of counters, those after the first are taken away */
    bool counters;         /* the fields are those of each operation in the entry's counters */
};

#define PHASE_METRICS(PHASE, phase)                                                                \
    [METRIC_##PHASE##_WALL] = {phase "_wall_s", "phases", phase, {"wall_s"}},                      \
    [METRIC_##PHASE##_USER] = {phase "_user_s", "phases", phase, {"user_s"}},                      \
    [METRIC_##PHASE##_SYSTEM] = {phase "_system_s", "phases", phase, {"system_s"}},                \
    [METRIC_##PHASE##_CPU] = {phase "_cpu_s", "phases", phase, {"user_s", "system_s"}},            \
    [METRIC_##PHASE##                                                                              \
        _DAEMON] = {phase "_daemon_cpu_s", "phases", phase, {"daemon_user_s", "daemon_system_s"}}, \
    [METRIC_##PHASE##_MACHINE] = {phase "_machine_busy_s", "phases", phase, {"machine_busy_s"}}

#define SYNC_METRICS(PHASE, phase)                                                                 \
    [METRIC_##PHASE##_SYNC] = {phase "_sync_s", "phases", phase, {"sync_s"}},                      \
    [METRIC_##PHASE##_TOTAL] = {phase "_total_s", "phases", phase, {"wall_s", "sync_s"}}

/* Work in the background has no calls, no bytes of programs and no total that somebody waited for; its parts count like the others. */
#define COUNTER_METRICS(PHASE, phase)                                                              \
    [METRIC_##PHASE##_CALLS] = {phase "_calls", "phases", phase, {"count"}, true},                 \
    [METRIC_##PHASE##_BYTES] = {phase "_bytes", "phases", phase, {"bytes"}, true},                 \
    [METRIC_##PHASE##_LOWER] = {phase "_lower_s", "phases", phase, {"lower_ns"}, true},            \
    [METRIC_##PHASE##_CODEC] = {phase "_codec_s", "phases", phase, {"codec_ns"}, true},            \
    [METRIC_##PHASE##_WAIT] = {phase "_wait_s", "phases", phase, {"wait_ns"}, true},               \
    [METRIC_##PHASE##_OWN] = {                                                                     \
        phase "_own_s", "phases", phase, {"total_ns", "lower_ns", "codec_ns", "wait_ns"}, true}

static const struct metric_row metric_rows[METRIC_COUNT] = {
    PHASE_METRICS(WRITE, "write"),
    SYNC_METRICS(WRITE, "write"),
    PHASE_METRICS(READ, "read"),
    PHASE_METRICS(DELETE, "delete"),
    SYNC_METRICS(DELETE, "delete"),
    [METRIC_UNTIL_FREE] = {"until_free_s", NULL, NULL, {"until_free_s"}},
    [METRIC_SPACE_DF] = {"space_df_bytes", "space", NULL, {"df_bytes"}},
    [METRIC_SPACE_ALLOCATED] = {"space_allocated_bytes", "space", NULL, {"allocated_bytes"}},
    COUNTER_METRICS(WRITE, "write"),
    COUNTER_METRICS(READ, "read"),
};

const char *metric_key(enum metric metric)
{
    return metric_rows[metric].key;
}

/* Adds the row's fields of one object. False when one of them is not a number. */
static bool add_fields(const json_t *object, const struct metric_row *row, double *sum)
{
    for (size_t i = 0; i < 4 && row->fields[i]; i++) {
        const json_t *value = json_object_get(object, row->fields[i]);

        if (!json_is_number(value))
            return false;
        *sum += json_number_value(value);
    }
    return true;
}

/* Sums over all operations of one phase, in seconds, calls or bytes. False without counters. */
static bool add_counters(const json_t *counters, const struct metric_row *row, double *sum)
{
    json_t *operations = json_object_get(counters, "operations"), *operation;
    bool is_time = strstr(row->fields[0], "_ns") != NULL, own = row->fields[1] != NULL;
    const char *name;

    if (!operations)
        return false;
    json_object_foreach(operations, name, operation) {
        for (size_t i = 0; i < 4 && row->fields[i]; i++) {
            double value = json_number_value(json_object_get(operation, row->fields[i]));

            *sum += (i ? -1 : 1) * (is_time ? value * 1e-9 : value);
        }
    }
    json_object_foreach(json_object_get(counters, "background"), name, operation) {
        if (is_time && !own)
            *sum += json_number_value(json_object_get(operation, row->fields[0])) * 1e-9;
    }
    return true;
}

static bool add_entry(const json_t *entry, const struct metric_row *row, double *sum)
{
    return row->counters ? add_counters(json_object_get(entry, "counters"), row, sum)
                         : add_fields(entry, row, sum);
}

bool metric_value(const json_t *trial, enum metric metric, double *ret_value)
{
    const struct metric_row *row = &metric_rows[metric];
    const json_t *entry;
    double sum = 0;
    bool found = false;
    size_t i;

    if (!row->list) {
        found = add_fields(trial, row, &sum);
    } else {
        json_array_foreach(json_object_get(trial, row->list), i, entry) {
            const char *name = json_string_value(json_object_get(entry, "name"));

            if (row->phase && (!name || strcmp(name, row->phase) != 0))
                continue;
            if (!add_entry(entry, row, &sum))
                return false;
            found = true;
        }
    }
    if (found)
        *ret_value = sum;
    return found;
}
