#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html/plot.h"
#include "report_cells.h"
#include "util/cleanup.h"

#define SHADES 9
/* A row that takes this many times the best one's time has the darkest shade. */
#define DARKEST_RATIO 8.0

static int shade(double ratio)
{
    double part = log(ratio) / log(DARKEST_RATIO);

    return (int)lrint(fmin(fmax(part, 0), 1) * (SHADES - 1));
}

static const struct row *find_cell(const struct section *section, const char *target,
                                   const char *codec)
{
    for (size_t i = 0; i < section->summary->count; i++) {
        const struct row *row = &section->summary->rows[i];

        if (row_competes(row, section->workload->name) && strcmp(row->target, target) == 0 &&
            strcmp(plot_codec(row), codec) == 0)
            return row;
    }
    return NULL;
}

static void put_cell(const struct section *section, const struct row *row, enum metric metric,
                     const struct race *race, struct strbuf *to)
{
    size_t index = row ? (size_t)(row - section->summary->rows) : 0;
    const struct sample *sample = row ? &row->metrics[metric] : NULL;
    bool is_space = metric == METRIC_SPACE_DF;
    double best, mean;

    if (!row || sample->n == 0) {
        strbuf_puts(to, row && row->failed ? "<td class=\"none\">failed</td>"
                                           : "<td class=\"none\">–</td>");
        return;
    }
    mean = sample->summary.mean;
    best = section->summary->rows[race->best].metrics[metric].summary.mean;
    strbuf_printf(to, "<td class=\"h%d\">", best > 0 && mean > 0 ? shade(mean / best) : 0);
    if (is_space)
        strbuf_printf(to, "%.1f %%", 100 * mean / section->bytes);
    else
        strbuf_printf(to, "%.3g s", mean);
    if (index == race->best)
        strbuf_puts(to, "<small>best</small></td>");
    else if (race->comparisons[index].known)
        strbuf_printf(to, "<small>%s%.2f ×</small></td>",
                      race->comparisons[index].verdict == STATS_SAME && !is_space ? "~" : "",
                      race->comparisons[index].ratio);
    else
        strbuf_puts(to, "</td>");
}

/* The rows that are the first of their target, or of their codec. */
static bool is_first(const struct section *section, size_t index, bool of_codec)
{
    const struct row *rows = section->summary->rows;

    if (!row_competes(&rows[index], section->workload->name))
        return false;
    for (size_t i = 0; i < index; i++) {
        if (row_competes(&rows[i], section->workload->name) &&
            (of_codec ? strcmp(plot_codec(&rows[i]), plot_codec(&rows[index])) == 0
                      : strcmp(rows[i].target, rows[index].target) == 0))
            return false;
    }
    return true;
}

int plot_heat(const struct plot *plot, enum metric metric, const char *title, struct strbuf *to)
{
    const struct section *section = plot->section;
    const struct summary *summary = section->summary;
    struct race race CLEANUP(race_free) = {0};
    int r = race_against_best(section, metric, &race);

    if (r < 0 || race.best == summary->count)
        return r;
    strbuf_puts(to, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    escape_html(to, title);
    strbuf_puts(to, "\"><table class=\"heat\"><caption>");
    escape_html(to, title);
    strbuf_puts(to, "</caption>\n<thead><tr><td></td>");
    for (size_t c = 0; c < summary->count; c++) {
        if (!is_first(section, c, true))
            continue;
        strbuf_puts(to, "<th scope=\"col\">");
        escape_html(to, plot_codec(&summary->rows[c]));
        strbuf_puts(to, "</th>");
    }
    strbuf_puts(to, "</tr></thead>\n<tbody>\n");
    for (size_t t = 0; t < summary->count; t++) {
        if (!is_first(section, t, false))
            continue;
        strbuf_puts(to, "<tr><th scope=\"row\">");
        escape_html(to, summary->rows[t].target);
        strbuf_puts(to, "</th>");
        for (size_t c = 0; c < summary->count; c++) {
            if (is_first(section, c, true))
                put_cell(section,
                         find_cell(section, summary->rows[t].target, plot_codec(&summary->rows[c])),
                         metric, &race, to);
        }
        strbuf_puts(to, "</tr>\n");
    }
    strbuf_puts(to, "</tbody></table></div>\n");
    return 0;
}
