/* The plots of a workload. Each adds one <figure>, or nothing when there is nothing to show. 0; -ENOMEM. */
#ifndef TALLY_BENCH_PLOT_H
#define TALLY_BENCH_PLOT_H

#include "report.h"
#include "report_sections.h"

struct plot {
    const struct report_input *input;
    const struct section *section;
    size_t *serial; /* makes ids unique in the page */
};

/* File system x codec: each cell's figure and what it is over the best; a table whose cells are coloured. */
int plot_heat(const struct plot *plot, enum metric metric, const char *title, struct strbuf *to);

/* Each trial of a time as a dot, the mean and its interval. */
int plot_dots(const struct plot *plot, enum metric metric, const char *title, struct strbuf *to);

/* Write rate against what remains of the original. */
int plot_speed(const struct plot *plot, struct strbuf *to);

/* Percentiles of the operations that took most of the time in the phase. */
int plot_latency(const struct plot *plot, const char *phase, struct strbuf *to);

/* All trials in the order in which they ran, each over its row's median: a drift shows. */
int plot_timeline(const struct plot *plot, struct strbuf *to);

/* -- shared by the plots -- */

/* Begins a figure with its caption and makes `id` for svg_begin. */
#define PLOT_ID_BYTES 24
void plot_open(const struct plot *plot, const char *caption, char id[static PLOT_ID_BYTES],
               struct strbuf *to);
void plot_close(struct strbuf *to);

/* Numbers for colour (of the row's target) and shape (of its codec), by their first appearance in the workload. */
size_t plot_colour(const struct section *section, const struct row *row);
size_t plot_shape(const struct section *section, const struct row *row);

/* "native", "none", "lz4" … */
const char *plot_codec(const struct row *row);

#define PLOT_COLOURS 8

/* A key to colours and shapes, as a list. */
void plot_legend(const struct section *section, struct strbuf *to);

#endif
