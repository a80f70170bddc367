#include <stdio.h>

#include "html/plot.h"
#include "html/svg.h"

#define LEFT 44
#define RIGHT (SVG_WIDTH - 14)
#define TOP 22
#define BOTTOM 250
#define HEIGHT 284

static bool has_both(const struct section *section, const struct row *row)
{
    return row_competes(row, section->workload->name) && row->metrics[METRIC_WRITE_TOTAL].n &&
           row->metrics[METRIC_WRITE_TOTAL].summary.mean > 0 && row->metrics[METRIC_SPACE_DF].n &&
           section->bytes > 0;
}

static double rate(const struct section *section, double seconds)
{
    return section->bytes / seconds / 1e6;
}

static double remaining(const struct section *section, const struct row *row)
{
    return 100 * row->metrics[METRIC_SPACE_DF].summary.median / section->bytes;
}

static void put_heights(const struct scale *scale, struct strbuf *to)
{
    double ticks[SCALE_MAX_TICKS];
    size_t count = scale_ticks(scale, ticks);

    for (size_t i = 0; i < count; i++) {
        double y = scale_place(scale, ticks[i]);
        char text[32];

        svg_format_number(ticks[i], text, sizeof(text));
        svg_line(to, LEFT, y, RIGHT, y, "grid");
        svg_text(to, LEFT - 6, y + 4, "value", text);
    }
}

static void put_row(const struct section *section, const struct row *row, const struct scale *x,
                    const struct scale *y, struct strbuf *to)
{
    const struct stats_summary *time = &row->metrics[METRIC_WRITE_TOTAL].summary;
    double across = scale_place(x, remaining(section, row));
    char label[64], title[128], class[32];

    row_label(row, label, sizeof(label));
    snprintf(title, sizeof(title), "%s: %.4g MB/s, %.1f %% remain", label,
             rate(section, time->mean), remaining(section, row));
    if (time->has_spread && time->ci_low > 0) {
        snprintf(class, sizeof(class), "s%zu", plot_colour(section, row));
        svg_line(to, across, scale_place(y, rate(section, time->ci_high)), across,
                 scale_place(y, rate(section, time->ci_low)), class);
    }
    snprintf(class, sizeof(class), "c%zu", plot_colour(section, row));
    svg_mark(to, plot_shape(section, row), across, scale_place(y, rate(section, time->mean)), class,
             title);
}

int plot_speed(const struct plot *plot, struct strbuf *to)
{
    const struct section *section = plot->section;
    const struct summary *summary = section->summary;
    static const char title[] = "Write rate (MB/s, upwards) against what remains (% of original)";
    double most = 0, fastest = 0;
    struct scale x, y;
    char id[PLOT_ID_BYTES];

    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!has_both(section, row))
            continue;
        if (remaining(section, row) > most)
            most = remaining(section, row);
        if (rate(section, row->metrics[METRIC_WRITE_TOTAL].summary.mean) > fastest)
            fastest = rate(section, row->metrics[METRIC_WRITE_TOTAL].summary.mean);
    }
    if (!(fastest > 0))
        return 0;
    x = scale_linear(0, most, LEFT, RIGHT);
    y = scale_linear(0, 1.15 * fastest, BOTTOM, TOP);
    plot_open(plot, title, id, to);
    svg_begin(
        to, id, HEIGHT, title,
        "A mark for each configuration: colour for the file system, shape for the codec, a line "
        "for the 95 % interval of the rate. Best is far up and to the left.");
    put_heights(&y, to);
    svg_axis(to, &x, TOP, BOTTOM, svg_format_number);
    svg_text(to, LEFT + 4, TOP - 8, "hint", "↖ faster and smaller");
    for (size_t i = 0; i < summary->count; i++) {
        if (has_both(section, &summary->rows[i]))
            put_row(section, &summary->rows[i], &x, &y, to);
    }
    svg_end(to);
    plot_legend(section, to);
    plot_close(to);
    return 0;
}
