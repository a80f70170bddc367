#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "html/plot.h"
#include "html/svg.h"
#include "util/cleanup.h"

#define LEFT 8
#define RIGHT (SVG_WIDTH - 14)
#define ROW_HEIGHT 36
#define AXIS_HEIGHT 22

/* A row's words above its dots, so that long names have room on a phone. */
static int put_row(const struct section *section, const struct row *row, enum metric metric,
                   const struct scale *scale, double y, struct strbuf *to)
{
    const struct sample *sample = &row->metrics[metric];
    bool *outliers AUTO_FREE = calloc(sample->n, sizeof(*outliers));
    char text[96], class[32];
    size_t count;

    if (!outliers)
        return -ENOMEM;
    row_label(row, text, sizeof(text));
    svg_text(to, LEFT, y + 12, "label", text);
    if (sample->summary.has_spread)
        snprintf(text, sizeof(text), "%.4g ± %.2g", sample->summary.mean,
                 sample->summary.ci_high - sample->summary.mean);
    else
        snprintf(text, sizeof(text), "%.4g", sample->summary.mean);
    svg_text(to, RIGHT, y + 12, "value", text);
    y += 23;
    svg_line(to, LEFT, y, RIGHT, y, "strip");
    snprintf(class, sizeof(class), "s%zu", plot_colour(section, row));
    if (sample->summary.has_spread) {
        char bar[48];

        snprintf(bar, sizeof(bar), "interval %s", class);
        svg_line(to, scale_place(scale, sample->summary.ci_low), y,
                 scale_place(scale, sample->summary.ci_high), y, bar);
    }
    if (stats_flag_outliers(sample->values, sample->n, outliers, &count) < 0)
        count = 0;
    for (size_t i = 0; i < sample->n; i++) {
        snprintf(class, sizeof(class), "c%zu dot%s", plot_colour(section, row),
                 outliers[i] ? " outlier" : "");
        snprintf(text, sizeof(text), "%.4g s%s", sample->values[i],
                 outliers[i] ? ", an outlier" : "");
        svg_mark(to, 0, scale_place(scale, sample->values[i]), y, class, text);
    }
    svg_line(to, scale_place(scale, sample->summary.mean), y - 7,
             scale_place(scale, sample->summary.mean), y + 7, "mean");
    return 0;
}

int plot_dots(const struct plot *plot, enum metric metric, const char *title, struct strbuf *to)
{
    const struct section *section = plot->section;
    const struct summary *summary = section->summary;
    size_t count = 0;
    double largest = 0, y = 4;
    struct scale scale;
    char id[PLOT_ID_BYTES];
    int r = 0;

    for (size_t i = 0; i < summary->count; i++) {
        const struct sample *sample = &summary->rows[i].metrics[metric];

        if (!row_competes(&summary->rows[i], section->workload->name) || sample->n == 0)
            continue;
        count++;
        if (sample->summary.max > largest)
            largest = sample->summary.max;
    }
    if (count == 0)
        return 0;
    scale = scale_linear(0, largest, LEFT, RIGHT);
    plot_open(plot, title, id, to);
    svg_begin(
        to, id, 8 + (double)count * ROW_HEIGHT + AXIS_HEIGHT, title,
        "One row for each configuration: a dot for each trial, a line for the mean, a bar for "
        "its 95 % interval. The tables have the same figures.");
    svg_axis(to, &scale, 4, 8 + (double)count * ROW_HEIGHT, svg_format_number);
    for (size_t i = 0; r == 0 && i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!row_competes(row, section->workload->name) || row->metrics[metric].n == 0)
            continue;
        r = put_row(section, row, metric, &scale, y, to);
        y += ROW_HEIGHT;
    }
    svg_end(to);
    plot_close(to);
    return r;
}
