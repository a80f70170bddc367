#include <stdio.h>
#include <string.h>

#include "html/plot.h"
#include "html/svg.h"
#include "result.h"

#define LEFT 40
#define RIGHT (SVG_WIDTH - 10)
#define TOP 10
#define BOTTOM 170
#define HEIGHT 200

/* Over this many times the median a trial is put at the edge. */
#define MOST 3.0

static bool competes(const struct plot *plot, size_t index)
{
    return index < plot->section->summary->count &&
           row_competes(&plot->section->summary->rows[index], plot->section->workload->name);
}

static size_t index_of(const json_t *index)
{
    return (size_t)json_integer_value(index);
}

/* The largest ratio to a median. */
static double find_most(const struct plot *plot)
{
    double most = 1.5;

    for (size_t i = 0; i < plot->section->summary->count; i++) {
        const struct sample *sample = &plot->section->summary->rows[i].metrics[METRIC_WRITE_TOTAL];

        if (competes(plot, i) && sample->n && sample->summary.median > 0 &&
            sample->summary.max / sample->summary.median > most)
            most = sample->summary.max / sample->summary.median;
    }
    return most > MOST ? MOST : most;
}

static void put_trial(const struct plot *plot, size_t index, const json_t *trial, double x,
                      const struct scale *y, struct strbuf *to)
{
    const struct row *row = &plot->section->summary->rows[index];
    const char *status = json_string_value(json_object_get(trial, "status"));
    double value, median = row->metrics[METRIC_WRITE_TOTAL].n
                               ? row->metrics[METRIC_WRITE_TOTAL].summary.median
                               : 0;
    char label[64], title[128], class[32];

    row_label(row, label, sizeof(label));
    if (!status || strcmp(status, "ok") != 0) {
        snprintf(title, sizeof(title), "%s: failed", label);
        svg_text(to, x, BOTTOM - 4, "failed", "✕");
        return;
    }
    if (!(median > 0) || !metric_value(trial, METRIC_WRITE_TOTAL, &value))
        return;
    snprintf(title, sizeof(title), "%s: %.4g s, %.2f of its median", label, value, value / median);
    snprintf(class, sizeof(class), "c%zu", plot_colour(plot->section, row));
    svg_mark(to, plot_shape(plot->section, row), x, scale_place(y, value / median), class, title);
}

static void put_heights(const struct scale *y, struct strbuf *to)
{
    double ticks[SCALE_MAX_TICKS];
    size_t count = scale_ticks(y, ticks);

    for (size_t i = 0; i < count; i++) {
        double place = scale_place(y, ticks[i]);
        char text[32];

        snprintf(text, sizeof(text), "%.3g ×", ticks[i]);
        svg_line(to, LEFT, place, RIGHT, place, ticks[i] == 1 ? "grid median" : "grid");
        svg_text(to, LEFT - 5, place + 4, "value", text);
    }
}

int plot_timeline(const struct plot *plot, struct strbuf *to)
{
    static const char title[] = "Time line: each trial's time to write over its row's median";
    const json_t *blocks = json_object_get(plot->input->result, "block_order"), *block, *index;
    struct scale y = scale_linear(0, find_most(plot), BOTTOM, TOP);
    size_t total = 0, place = 0, b, i;
    char id[PLOT_ID_BYTES];

    json_array_foreach(blocks, b, block) {
        json_array_foreach(block, i, index)
            total += competes(plot, index_of(index));
    }
    if (total == 0)
        return 0;
    plot_open(plot, title, id, to);
    svg_begin(
        to, id, HEIGHT, title,
        "Trials from left to right in the order in which they ran, with a line between blocks. "
        "Points that rise or fall together show a machine that grew slower or faster.");
    put_heights(&y, to);
    json_array_foreach(blocks, b, block) {
        double x = LEFT + (RIGHT - LEFT) * (double)place / (double)total;
        char text[24];

        svg_line(to, x, TOP, x, BOTTOM, "block");
        snprintf(text, sizeof(text), "%zu", b + 1);
        if (json_array_size(blocks) <= 12 || b % (json_array_size(blocks) / 6) == 0)
            svg_text(to, x + 2, BOTTOM + 14, "tick first", text);
        json_array_foreach(block, i, index) {
            const json_t *trial;

            if (!competes(plot, index_of(index)))
                continue;
            trial = result_find_trial(plot->input->result, index_of(index), (unsigned int)b);
            x = LEFT + (RIGHT - LEFT) * ((double)place++ + 0.5) / (double)total;
            if (trial)
                put_trial(plot, index_of(index), trial, x, &y, to);
        }
    }
    svg_text(to, RIGHT, HEIGHT - 2, "value", "block");
    svg_end(to);
    plot_legend(plot->section, to);
    plot_close(to);
    return 0;
}
