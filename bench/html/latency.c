#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "html/plot.h"
#include "html/svg.h"
#include "util/cleanup.h"

#define LEFT 8
#define RIGHT (SVG_WIDTH - 20)
#define ROW_HEIGHT 30
#define TITLE_HEIGHT 24
#define AXIS_HEIGHT 22
#define SHOWN_OPERATIONS 4
#define MAX_OPERATIONS 64

/* What a trial's counters say about one operation, each as the median over the trials. */
enum point { POINT_MIN, POINT_P50, POINT_P99, POINT_P999, POINT_MAX, POINT_COUNT };

static const char *const point_keys[POINT_COUNT] = {"min_ns", "p50_ns", "p99_ns", "p999_ns",
                                                    "max_ns"};

struct operation {
    const char *name; /* borrowed from the result */
    double total_ns;  /* over all trials and rows */
};

struct operations {
    struct operation list[MAX_OPERATIONS];
    size_t count;
};

struct reach {
    double low, high;
};

static bool phase_is(const json_t *phase, const char *name)
{
    const char *is = json_string_value(json_object_get(phase, "name"));

    return is && strcmp(is, name) == 0;
}

static json_t *operations_of(const json_t *phase)
{
    return json_object_get(json_object_get(phase, "counters"), "operations");
}

static void add_operation(struct operations *operations, const char *name, double total_ns)
{
    size_t i = 0;

    while (i < operations->count && strcmp(operations->list[i].name, name) != 0)
        i++;
    if (i == MAX_OPERATIONS)
        return;
    if (i == operations->count)
        operations->list[operations->count++] = (struct operation){.name = name};
    operations->list[i].total_ns += total_ns;
}

static int compare_operations(const void *a, const void *b)
{
    const struct operation *x = a, *y = b;

    if (x->total_ns < y->total_ns || x->total_ns > y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->name, y->name);
}

static bool is_of_row(const json_t *trial, size_t row)
{
    const char *status = json_string_value(json_object_get(trial, "status"));

    return status && strcmp(status, "ok") == 0 &&
           (size_t)json_integer_value(json_object_get(trial, "configuration")) == row;
}

static void find_operations(const struct plot *plot, const char *phase_name,
                            struct operations *operations)
{
    const struct summary *summary = plot->section->summary;
    json_t *trial, *phase, *operation;
    const char *name;
    size_t t, p;

    json_array_foreach(json_object_get(summary->result, "trials"), t, trial) {
        size_t row = (size_t)json_integer_value(json_object_get(trial, "configuration"));

        if (row >= summary->count ||
            !row_competes(&summary->rows[row], plot->section->workload->name))
            continue;
        json_array_foreach(json_object_get(trial, "phases"), p, phase) {
            if (!phase_is(phase, phase_name))
                continue;
            json_object_foreach(operations_of(phase), name, operation) {
                if (json_is_integer(json_object_get(operation, "p50_ns")))
                    add_operation(operations, name,
                                  json_number_value(json_object_get(operation, "total_ns")));
            }
        }
    }
    qsort(operations->list, operations->count, sizeof(operations->list[0]), compare_operations);
    if (operations->count > SHOWN_OPERATIONS)
        operations->count = SHOWN_OPERATIONS;
}

/* The median over all phases of that name in the row's trials. False when there is none. */
static bool find_point(const struct plot *plot, size_t row, const char *phase_name,
                       const char *operation, enum point point, double *ret_ns)
{
    const json_t *trials = json_object_get(plot->section->summary->result, "trials"), *trial,
                 *phase;
    double *values AUTO_FREE = NULL;
    struct stats_summary summary;
    size_t count = 0, t, p;

    json_array_foreach(trials, t, trial) {
        if (!is_of_row(trial, row))
            continue;
        json_array_foreach(json_object_get(trial, "phases"), p, phase) {
            const json_t *value = json_object_get(json_object_get(operations_of(phase), operation),
                                                  point_keys[point]);
            double *grown;

            if (!phase_is(phase, phase_name) || !json_is_number(value))
                continue;
            grown = reallocarray(values, count + 1, sizeof(*values));
            if (!grown)
                return false;
            values = grown;
            values[count++] = json_number_value(value);
        }
    }
    if (count == 0 || stats_summarize(values, count, &summary) < 0)
        return false;
    *ret_ns = summary.median;
    return true;
}

static bool find_points(const struct plot *plot, size_t row, const char *phase,
                        const char *operation, double points[static POINT_COUNT])
{
    for (unsigned int i = 0; i < POINT_COUNT; i++) {
        if (!find_point(plot, row, phase, operation, (enum point)i, &points[i]))
            return false;
    }
    return row_competes(&plot->section->summary->rows[row], plot->section->workload->name);
}

static void put_row(const struct plot *plot, const struct row *row, const double *points,
                    const struct scale *scale, double y, struct strbuf *to)
{
    char label[64], p50[24], p99[24], text[192], class[32];

    row_label(row, label, sizeof(label));
    svg_format_ns(points[POINT_P50], p50, sizeof(p50));
    svg_format_ns(points[POINT_P99], p99, sizeof(p99));
    svg_text(to, LEFT, y + 11, "label", label);
    snprintf(text, sizeof(text), "%s, p99 %s", p50, p99);
    svg_text(to, RIGHT, y + 11, "value", text);
    y += 20;
    svg_line(to, scale_place(scale, points[POINT_MIN]), y, scale_place(scale, points[POINT_MAX]), y,
             "whisker");
    snprintf(class, sizeof(class), "interval s%zu", plot_colour(plot->section, row));
    svg_line(to, scale_place(scale, points[POINT_P50]), y, scale_place(scale, points[POINT_P99]), y,
             class);
    svg_line(to, scale_place(scale, points[POINT_P999]), y - 4,
             scale_place(scale, points[POINT_P999]), y + 4, "mean");
    snprintf(class, sizeof(class), "c%zu", plot_colour(plot->section, row));
    snprintf(text, sizeof(text), "%s: median %s, 99th percentile %s", label, p50, p99);
    svg_mark(to, 0, scale_place(scale, points[POINT_P50]), y, class, text);
}

/* Counts the rows of the plot, and finds how far the axis has to reach. */
static size_t find_reach(const struct plot *plot, const char *phase,
                         const struct operations *operations, struct reach *ret_reach)
{
    struct reach reach = {1e12, 1};
    size_t rows = 0;

    for (size_t o = 0; o < operations->count; o++) {
        for (size_t i = 0; i < plot->section->summary->count; i++) {
            double points[POINT_COUNT];

            if (!find_points(plot, i, phase, operations->list[o].name, points))
                continue;
            rows++;
            if (points[POINT_MIN] < reach.low)
                reach.low = points[POINT_MIN];
            if (points[POINT_MAX] > reach.high)
                reach.high = points[POINT_MAX];
        }
    }
    if (reach.low < 1)
        reach.low = 1;
    *ret_reach = reach;
    return rows;
}

int plot_latency(const struct plot *plot, const char *phase, struct strbuf *to)
{
    struct operations operations = {.count = 0};
    double y = 0, bottom;
    char id[PLOT_ID_BYTES], title[96];
    struct reach reach;
    struct scale scale;
    size_t rows;

    find_operations(plot, phase, &operations);
    rows = find_reach(plot, phase, &operations, &reach);
    if (rows == 0)
        return 0;
    bottom = (double)operations.count * TITLE_HEIGHT + (double)rows * ROW_HEIGHT + 4;
    scale = scale_logarithmic(reach.low, reach.high, LEFT, RIGHT);
    snprintf(title, sizeof(title), "Latency in tallyfs, %s: the operations that took most time",
             phase);
    plot_open(plot, title, id, to);
    svg_begin(
        to, id, bottom + AXIS_HEIGHT, title,
        "For each operation and configuration a dot at the median, a bar to the 99th percentile, "
        "a tick at the 99.9th, and a thin line from the shortest to the longest. Each is the "
        "median over the trials; the scale is logarithmic.");
    svg_axis(to, &scale, 4, bottom, svg_format_ns);
    for (size_t o = 0; o < operations.count; o++) {
        svg_text(to, LEFT, y + 17, "group", operations.list[o].name);
        y += TITLE_HEIGHT;
        for (size_t i = 0; i < plot->section->summary->count; i++) {
            double points[POINT_COUNT];

            if (!find_points(plot, i, phase, operations.list[o].name, points))
                continue;
            put_row(plot, &plot->section->summary->rows[i], points, &scale, y, to);
            y += ROW_HEIGHT;
        }
    }
    svg_end(to);
    plot_close(to);
    return 0;
}
