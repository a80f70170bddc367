#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report.h"
#include "util/cleanup.h"

#define REPORT_SCHEMA 1

/* JSON knows no NaN: what is not known is null. */
static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *sample_json(const struct sample *sample)
{
    const struct stats_summary *summary = &sample->summary;
    json_t *values = json_array();

    for (size_t i = 0; i < sample->n; i++)
        json_array_append_new(values, json_real(sample->values[i]));
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:I, s:o}", "n",
                     (json_int_t)sample->n, "mean", summary->mean, "median", summary->median, "min",
                     summary->min, "max", summary->max, "sd", number_or_null(summary->sd),
                     "ci95_low", number_or_null(summary->ci_low), "ci95_high",
                     number_or_null(summary->ci_high), "outliers", (json_int_t)sample->outliers,
                     "values", values);
}

static json_t *sample_or_null(const struct sample *sample)
{
    return sample->n ? sample_json(sample) : json_null();
}

static json_t *metrics_json(const struct row *row)
{
    json_t *metrics = json_object();

    for (size_t i = 0; i < METRIC_COUNT; i++)
        json_object_set_new(metrics, metric_key((enum metric)i), sample_or_null(&row->metrics[i]));
    return metrics;
}

static json_t *spaces_json(const struct row *row)
{
    json_t *spaces = json_array();

    for (size_t i = 0; i < row->set_count; i++)
        json_array_append_new(spaces,
                              json_pack("{s:s, s:f, s:o, s:o}", "set", row->sets[i].name,
                                        "original_bytes", row->sets[i].original_bytes, "df_bytes",
                                        sample_or_null(&row->sets[i].df), "allocated_bytes",
                                        sample_or_null(&row->sets[i].allocated)));
    return spaces;
}

static json_t *failures_json(const struct report_input *input, size_t index)
{
    json_t *failures = json_array(), *trial;
    size_t i;

    json_array_foreach(json_object_get(input->result, "trials"), i, trial) {
        json_t *reason = json_object_get(trial, "reason");

        if (json_is_string(reason) &&
            (size_t)json_integer_value(json_object_get(trial, "configuration")) == index)
            json_array_append_new(failures,
                                  json_pack("{s:O, s:O}", "block", json_object_get(trial, "block"),
                                            "reason", reason));
    }
    return failures;
}

static json_t *comparison_json(const struct comparison *comparison, size_t base)
{
    json_t *welch = json_null();

    if (comparison->has_welch)
        welch =
            json_pack("{s:f, s:f, s:f, s:o}", "t", comparison->welch.t, "df", comparison->welch.df,
                      "p", comparison->welch.p, "p_holm", number_or_null(comparison->adjusted_p));
    return json_pack("{s:I, s:f, s:o, s:o, s:{s:f, s:f, s:b}, s:f, s:b}", "base_row",
                     (json_int_t)base, "ratio", comparison->ratio, "ci95_half_width",
                     number_or_null(comparison->half_width), "welch", welch, "mann_whitney", "u",
                     comparison->mann_whitney.u, "p", comparison->mann_whitney.p, "exact",
                     comparison->mann_whitney.exact, "noise_floor", comparison->noise_floor,
                     "significant", comparison->verdict != STATS_SAME);
}

/* For the metrics that the tables rank by: each row's comparison with the best of its workload. */
static int add_comparisons(const struct summary *summary, json_t *rows)
{
    static const enum metric ranked[] = {METRIC_WRITE_TOTAL, METRIC_READ_WALL, METRIC_DELETE_TOTAL};
    struct comparison *comparisons AUTO_FREE = calloc(summary->count + 1, sizeof(*comparisons));
    size_t *base AUTO_FREE = calloc(summary->count + 1, sizeof(*base));

    if (!comparisons || !base)
        return -ENOMEM;
    for (size_t m = 0; m < sizeof(ranked) / sizeof(ranked[0]); m++) {
        for (size_t i = 0; i < summary->count; i++) {
            const char *workload = summary->rows[i].workload;
            size_t best = summary_best(summary, workload, ranked[m]);
            int r;

            if (!row_competes(&summary->rows[i], workload))
                continue;
            for (size_t j = 0; j < summary->count; j++)
                base[j] = best;
            r = summary_compare(summary, workload, ranked[m], base, comparisons);
            if (r < 0)
                return r;
            if (comparisons[i].known)
                json_object_set_new(json_object_get(json_array_get(rows, i), "relative_to_best"),
                                    metric_key(ranked[m]), comparison_json(&comparisons[i], best));
        }
    }
    return 0;
}

static json_t *input_json(const struct report_input *input, int *ret_error)
{
    static const char *const kept[] = {"program",     "started", "seed",   "arguments",
                                       "environment", "targets", "corpora"};
    json_t *rows = json_array(), *object;

    for (size_t i = 0; i < input->summary.count; i++) {
        const struct row *row = &input->summary.rows[i];

        json_array_append_new(
            rows,
            json_pack("{s:s, s:s?, s:s, s:s, s:o, s:I, s:I, s:o, s:o, s:o, s:{}}", "workload",
                      row->workload, "target", row->target, "codec", row->codec, "path", row->path,
                      "twin_of",
                      row->twin_of == SUMMARY_NO_TWIN ? json_null()
                                                      : json_integer((json_int_t)row->twin_of),
                      "trials_ok", (json_int_t)row->ok, "trials_failed", (json_int_t)row->failed,
                      "failures", failures_json(input, i), "metrics", metrics_json(row), "space",
                      spaces_json(row), "relative_to_best"));
    }
    *ret_error = add_comparisons(&input->summary, rows);
    object = json_pack("{s:s, s:o}", "file", input->file, "rows", rows);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        json_object_set(object, kept[i], json_object_get(input->result, kept[i]));
    return object;
}

int report_json(const struct report_input *inputs, size_t count, struct strbuf *to)
{
    json_t *results = json_array(), *document;
    char *text AUTO_FREE = NULL;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++)
        json_array_append_new(results, input_json(&inputs[i], &r));
    document = json_pack("{s:i, s:o}", "schema", REPORT_SCHEMA, "results", results);
    text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(document);
    if (r == 0 && !text)
        r = -ENOMEM;
    if (r == 0) {
        strbuf_puts(to, text);
        strbuf_puts(to, "\n");
    }
    return r;
}
