/*
 * check_report RESULT.json REPORT.json ROWS TRIALS FAILED [counters]: whether the report's figures follow from the raw
 * values of the result. Reckoned here anew, straight from the definitions.
 */
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TRIALS 1000

static _Noreturn void __attribute__((format(printf, 1, 2))) fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *document = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (!document)
        fail("%s:%d: %s", path, error.line, error.text);
    return document;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_number(value))
        fail("%s is not a number", key);
    return json_number_value(value);
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));

    if (!value)
        fail("%s is not a string", key);
    return value;
}

static double sum_of(const json_t *trial, const char *list, const char *name, const char *field)
{
    const json_t *entry;
    double sum = 0;
    size_t i;

    json_array_foreach(json_object_get(trial, list), i, entry) {
        if (!name || strcmp(text(entry, "name"), name) == 0)
            sum += number(entry, field);
    }
    return sum;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void check_near(const json_t *figures, const char *key, double expected, const char *what)
{
    double is = number(figures, key);

    if (fabs(is - expected) > 1e-9 * fmax(1, fabs(expected)))
        fail("%s: %s is %.15g, not %.15g", what, key, is, expected);
}

static void check_figures(const json_t *figures, double *values, size_t n, const char *what)
{
    double sum = 0, squares = 0, mean;

    if (n == 0) {
        if (!json_is_null(figures))
            fail("%s: figures of nothing", what);
        return;
    }
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    qsort(values, n, sizeof(*values), compare);
    check_near(figures, "n", (double)n, what);
    check_near(figures, "mean", mean, what);
    check_near(figures, "min", values[0], what);
    check_near(figures, "max", values[n - 1], what);
    check_near(figures, "median", (values[(n - 1) / 2] + values[n / 2]) / 2, what);
    if (n > 1)
        check_near(figures, "sd", sqrt(squares / (double)(n - 1)), what);
    else if (!json_is_null(json_object_get(figures, "sd")) ||
             !json_is_null(json_object_get(figures, "ci95_low")))
        fail("%s: one trial has a deviation", what);
}

struct raw {
    double write_wall[MAX_TRIALS], write_total[MAX_TRIALS], read_wall[MAX_TRIALS];
    double delete_total[MAX_TRIALS], df[MAX_TRIALS], allocated[MAX_TRIALS];
    size_t ok, failed;
};

static void check_trial(const json_t *trial, bool target, bool counters, struct raw *raw)
{
    const json_t *phase;
    size_t i = raw->ok, p;

    if (strcmp(text(trial, "status"), "ok") != 0) {
        if (strcmp(text(trial, "status"), "failed") != 0 || !*text(trial, "reason"))
            fail("a trial failed without a reason");
        raw->failed++;
        return;
    }
    if (sum_of(trial, "phases", "read", "wall_s") <= 0)
        fail("a trial that read nothing");
    json_array_foreach(json_object_get(trial, "phases"), p, phase) {
        if (json_is_object(json_object_get(phase, "counters")) != counters)
            fail("%s: counters where there is no tallyfs, or none where there is",
                 text(phase, "name"));
        if (counters)
            number(
                json_object_get(json_object_get(json_object_get(phase, "counters"), "operations"),
                                strcmp(text(phase, "name"), "delete") == 0 ? "unlink"
                                : strcmp(text(phase, "name"), "read") == 0 ? "read"
                                                                           : "write"),
                "count");
    }
    raw->ok++;
    raw->read_wall[i] = sum_of(trial, "phases", "read", "wall_s");
    if (!target)
        return;
    raw->write_wall[i] = sum_of(trial, "phases", "write", "wall_s");
    raw->write_total[i] = raw->write_wall[i] + sum_of(trial, "phases", "write", "sync_s");
    raw->delete_total[i] =
        sum_of(trial, "phases", "delete", "wall_s") + sum_of(trial, "phases", "delete", "sync_s");
    raw->df[i] = sum_of(trial, "space", NULL, "df_bytes");
    raw->allocated[i] = sum_of(trial, "space", NULL, "allocated_bytes");
    if (raw->write_wall[i] <= 0 || raw->allocated[i] <= 0)
        fail("a trial that wrote nothing");
}

static size_t check_row(const json_t *result, const json_t *row, size_t index, size_t trials,
                        bool counters)
{
    const json_t *metrics = json_object_get(row, "metrics"), *trial;
    bool target = !json_is_null(json_object_get(row, "target"));
    static struct raw raw;
    size_t i;

    raw.ok = raw.failed = 0;
    json_array_foreach(json_object_get(result, "trials"), i, trial) {
        if ((size_t)number(trial, "configuration") == index)
            check_trial(trial, target, counters && strcmp(text(row, "path"), "tallyfs") == 0, &raw);
    }
    if (raw.ok + raw.failed != trials)
        fail("row %zu has %zu trials, not %zu", index, raw.ok + raw.failed, trials);
    check_near(row, "trials_ok", (double)raw.ok, "row");
    check_near(row, "trials_failed", (double)raw.failed, "row");
    if (json_array_size(json_object_get(row, "failures")) != raw.failed)
        fail("row %zu does not list its failures", index);
    check_figures(json_object_get(metrics, "read_wall_s"), raw.read_wall, raw.ok, "read");
    check_figures(json_object_get(metrics, "write_wall_s"), raw.write_wall, target ? raw.ok : 0,
                  "write");
    check_figures(json_object_get(metrics, "write_total_s"), raw.write_total, target ? raw.ok : 0,
                  "write until synced");
    check_figures(json_object_get(metrics, "delete_total_s"), raw.delete_total, target ? raw.ok : 0,
                  "delete");
    check_figures(json_object_get(metrics, "space_df_bytes"), raw.df, target ? raw.ok : 0, "df");
    check_figures(json_object_get(metrics, "space_allocated_bytes"), raw.allocated,
                  target ? raw.ok : 0, "du");
    return raw.failed;
}

static void check_order(const json_t *result, size_t rows)
{
    const json_t *block, *index;
    size_t b, i;

    json_array_foreach(json_object_get(result, "block_order"), b, block) {
        bool seen[MAX_TRIALS] = {false};

        if (json_array_size(block) != rows)
            fail("block %zu is not complete", b);
        json_array_foreach(block, i, index) {
            size_t value = (size_t)json_integer_value(index);

            if (value >= rows || seen[value])
                fail("block %zu has a configuration twice", b);
            seen[value] = true;
        }
    }
}

int main(int argc, char **argv)
{
    size_t rows, trials, wanted, failed = 0, i;
    const json_t *report_rows, *row;
    json_t *result, *report;

    if (argc < 6)
        fail("usage: check_report RESULT.json REPORT.json ROWS TRIALS FAILED [counters]");
    result = load(argv[1]);
    report = load(argv[2]);
    rows = strtoul(argv[3], NULL, 10);
    trials = strtoul(argv[4], NULL, 10);
    wanted = strtoul(argv[5], NULL, 10);
    report_rows = json_object_get(json_array_get(json_object_get(report, "results"), 0), "rows");
    if (json_array_size(report_rows) != rows)
        fail("%zu rows, not %zu", json_array_size(report_rows), rows);
    check_order(result, rows);
    json_array_foreach(report_rows, i, row)
        failed += check_row(result, row, i, trials, argc > 6);
    if (failed != wanted)
        fail("%zu trials failed, not %zu", failed, wanted);
    json_decref(result);
    json_decref(report);
    return 0;
}
