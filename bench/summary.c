#include "summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static bool text_is(const json_t *object, const char *key, const char *wanted)
{
    const char *text = text_of(object, key);

    return text && strcmp(text, wanted) == 0;
}

static int sample_add(struct sample *sample, double value)
{
    double *values = reallocarray(sample->values, sample->n + 1, sizeof(*values));

    if (!values)
        return -ENOMEM;
    values[sample->n++] = value;
    sample->values = values;
    return 0;
}

static int sample_finish(struct sample *sample)
{
    bool *flags AUTO_FREE = calloc(sample->n + 1, sizeof(*flags));
    int r;

    if (sample->n == 0)
        return 0;
    if (!flags)
        return -ENOMEM;
    r = stats_summarize(sample->values, sample->n, &sample->summary);
    return r < 0 ? r : stats_flag_outliers(sample->values, sample->n, flags, &sample->outliers);
}

static struct set_space *find_set(struct row *row, const json_t *space)
{
    const char *name = text_of(space, "set");
    struct set_space *set;

    for (size_t i = 0; name && i < row->set_count; i++) {
        if (strcmp(row->sets[i].name, name) == 0)
            return &row->sets[i];
    }
    if (!name || row->set_count == SUMMARY_MAX_SETS)
        return NULL;
    set = &row->sets[row->set_count++];
    set->name = name;
    set->original_bytes = json_number_value(json_object_get(space, "original_bytes"));
    return set;
}

static int add_spaces(struct row *row, const json_t *trial)
{
    const json_t *space;
    bool unsettled = false;
    size_t i;

    json_array_foreach(json_object_get(trial, "space"), i, space) {
        struct set_space *set = find_set(row, space);
        int r;

        if (!set)
            return -EPROTO;
        r = sample_add(&set->df, json_number_value(json_object_get(space, "df_bytes")));
        if (r == 0)
            r = sample_add(&set->allocated,
                           json_number_value(json_object_get(space, "allocated_bytes")));
        if (r < 0)
            return r;
        unsettled = unsettled || json_is_false(json_object_get(space, "settled"));
    }
    row->unsettled += unsettled;
    return 0;
}

/* A failed trial gives no figure, not even of what it did before: it is not the same work. */
static int add_trial(struct row *row, const json_t *trial)
{
    int r = 0;

    if (!text_is(trial, "status", "ok")) {
        row->failed++;
        return 0;
    }
    row->ok++;
    row->cold_unavailable += text_is(trial, "temperature", "cold-unavailable");
    row->never_free += row->target && json_is_null(json_object_get(trial, "until_free_s"));
    for (size_t i = 0; r == 0 && i < METRIC_COUNT; i++) {
        double value;

        if (metric_value(trial, (enum metric)i, &value))
            r = sample_add(&row->metrics[i], value);
    }
    return r < 0 ? r : add_spaces(row, trial);
}

static int finish_row(struct row *row)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < METRIC_COUNT; i++)
        r = sample_finish(&row->metrics[i]);
    for (size_t i = 0; r == 0 && i < row->set_count; i++) {
        r = sample_finish(&row->sets[i].df);
        if (r == 0)
            r = sample_finish(&row->sets[i].allocated);
    }
    return r;
}

static int fill_rows(struct summary *summary)
{
    const json_t *item;
    size_t i;
    int r = 0;

    json_array_foreach(json_object_get(summary->result, "configurations"), i, item) {
        summary->rows[i] = (struct row){.workload = text_of(item, "workload"),
                                        .target = text_of(item, "target"),
                                        .codec = text_of(item, "codec"),
                                        .path = text_of(item, "path"),
                                        .twin_of = SUMMARY_NO_TWIN};
        if (!summary->rows[i].workload || !summary->rows[i].codec || !summary->rows[i].path)
            return -EPROTO;
        if (json_is_integer(json_object_get(item, "twin_of"))) {
            json_int_t twin = json_integer_value(json_object_get(item, "twin_of"));

            if (twin < 0 || (size_t)twin >= summary->count || (size_t)twin == i)
                return -EPROTO;
            summary->rows[i].twin_of = (size_t)twin;
        }
    }
    json_array_foreach(json_object_get(summary->result, "trials"), i, item) {
        json_int_t row = json_integer_value(json_object_get(item, "configuration"));

        if (row < 0 || (size_t)row >= summary->count)
            return -EPROTO;
        r = add_trial(&summary->rows[row], item);
        if (r < 0)
            return r;
    }
    for (i = 0; r == 0 && i < summary->count; i++)
        r = finish_row(&summary->rows[i]);
    return r;
}

int summary_make(const json_t *result, struct summary *ret_summary)
{
    struct summary summary = {.result = result};
    int r;

    summary.count = json_array_size(json_object_get(result, "configurations"));
    summary.rows = calloc(summary.count + 1, sizeof(*summary.rows));
    r = summary.rows ? fill_rows(&summary) : -ENOMEM;
    if (r < 0)
        summary_free(&summary);
    else
        *ret_summary = summary;
    return r;
}

void summary_free(struct summary *summary)
{
    for (size_t i = 0; summary->rows && i < summary->count; i++) {
        for (size_t m = 0; m < METRIC_COUNT; m++)
            free(summary->rows[i].metrics[m].values);
        for (size_t s = 0; s < summary->rows[i].set_count; s++) {
            free(summary->rows[i].sets[s].df.values);
            free(summary->rows[i].sets[s].allocated.values);
        }
    }
    free(summary->rows);
    *summary = (struct summary){0};
}

void row_label(const struct row *row, char *label, size_t size)
{
    if (!row->target)
        snprintf(label, size, "reading the source");
    else
        snprintf(label, size, "%s %s%s", row->target,
                 strcmp(row->path, "native") == 0 ? "native" : row->codec,
                 row->twin_of == SUMMARY_NO_TWIN ? "" : " again");
}
