#include "sample.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "statistics/statistics.h"
#include "util/cleanup.h"

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* Whether the configuration is the row "TARGET/CODEC/PATH"; reading the source has no target and is none. */
static bool is_row(const json_t *configuration, const char *workload, const char *row)
{
    char name[256];

    snprintf(name, sizeof(name), "%s/%s/%s", text_of(configuration, "target"),
             text_of(configuration, "codec"), text_of(configuration, "path"));
    return strcmp(text_of(configuration, "workload"), workload) == 0 && strcmp(name, row) == 0;
}

/* The sum of the fields, "a+b", over the entries of that name and set. False when one of them is no number. */
static bool add_up(const json_t *trial, const char *phase, const char *set, const char *fields,
                   double *ret_sum)
{
    bool of_space = strcmp(phase, "space") == 0;
    json_t *entries = json_object_get(trial, of_space ? "space" : "phases"), *entry;
    bool found = false;
    double sum = 0;
    size_t i;

    json_array_foreach(entries, i, entry) {
        char *copy AUTO_FREE = strdup(fields);
        char *rest = copy, *field;

        if ((!of_space && strcmp(text_of(entry, "name"), phase) != 0) ||
            (set && strcmp(text_of(entry, "set"), set) != 0))
            continue;
        while (copy && (field = strsep(&rest, "+"))) {
            const json_t *value = json_object_get(entry, field);

            if (!json_is_number(value))
                return false;
            sum += json_number_value(value);
            found = true;
        }
    }
    *ret_sum = sum;
    return found;
}

static bool trial_value(const json_t *trial, const char *measure, double *ret_value)
{
    char *copy AUTO_FREE = strdup(measure);
    char *divisor = copy, *fields = copy, *phase, *set;
    double value, by = 1;

    if (!copy)
        return false;
    fields = strsep(&divisor, "/");
    set = strsep(&fields, ":");
    phase = strsep(&set, "@");
    if (!fields || !add_up(trial, phase, set, fields, &value) ||
        (divisor && (!add_up(trial, phase, set, divisor, &by) || !(by > 0))))
        return false;
    *ret_value = value / by;
    return true;
}

static int collect(const json_t *result, size_t configuration, const char *measure,
                   struct values *ret_values)
{
    json_t *trials = json_object_get(result, "trials"), *trial;
    struct values values = {calloc(json_array_size(trials) + 1, sizeof(double)), 0};
    size_t i;

    if (!values.list)
        return -ENOMEM;
    json_array_foreach(trials, i, trial) {
        if ((size_t)json_integer_value(json_object_get(trial, "configuration")) == configuration &&
            strcmp(text_of(trial, "status"), "ok") == 0 &&
            trial_value(trial, measure, &values.list[values.count]))
            values.count++;
    }
    *ret_values = values;
    return 0;
}

int sample_values(const json_t *results, const char *workload, const char *row, bool twin,
                  const char *measure, struct values *ret_values)
{
    json_t *result, *configuration;
    size_t i, c;

    json_array_foreach(results, i, result) {
        json_array_foreach(json_object_get(result, "configurations"), c, configuration) {
            if (is_row(configuration, workload, row) &&
                json_is_integer(json_object_get(configuration, "twin_of")) == twin)
                return collect(result, c, measure, ret_values);
        }
    }
    *ret_values = (struct values){0};
    return 0;
}

static double mean_of(const struct values *values)
{
    struct stats_summary summary;

    return stats_summarize(values->list, values->count, &summary) == 0 ? summary.mean : NAN;
}

int sample_noise(const json_t *results, const char *workload, const char *measure,
                 double *ret_floor)
{
    json_t *result, *configuration;
    double floor = 0;
    size_t i, c;

    json_array_foreach(results, i, result) {
        json_array_foreach(json_object_get(result, "configurations"), c, configuration) {
            const json_t *of = json_object_get(configuration, "twin_of");
            struct values once = {0}, again = {0};
            int r;

            if (!json_is_integer(of) || strcmp(text_of(configuration, "workload"), workload) != 0)
                continue;
            r = collect(result, (size_t)json_integer_value(of), measure, &once);
            if (r == 0)
                r = collect(result, c, measure, &again);
            if (r == 0 && once.count && again.count)
                floor =
                    fmax(floor, fabs(mean_of(&again) / mean_of(&once) - 1)); /* fmax ignores NaN */
            values_free(&once);
            values_free(&again);
            if (r < 0)
                return r;
        }
    }
    *ret_floor = floor;
    return 0;
}

void values_free(struct values *values)
{
    free(values->list);
    *values = (struct values){0};
}
