/* Tables of which every column is a figure of a metric: described by data, filled by one loop. */
#ifndef TALLY_BENCH_REPORT_LAYOUT_H
#define TALLY_BENCH_REPORT_LAYOUT_H

#include "report_cells.h"

enum figure {
    FIGURE_END, /* of the columns */
    FIGURE_MEAN,
    FIGURE_SD,
    FIGURE_COUNT,      /* the mean, as a whole number */
    FIGURE_RATE,       /* the workload's bytes over the mean, MB/s */
    FIGURE_RATIO,      /* the mean over the best row's */
    FIGURE_HALF_WIDTH, /* of the ratio's interval */
};

#define LAYOUT_NOTHING METRIC_COUNT

struct layout_column {
    const char *heading;
    enum figure figure;
    enum metric metric;
    enum metric of_source; /* what stands there in the source's row; LAYOUT_NOTHING */
};

struct layout {
    const char *title;
    enum metric needed; /* rows without it are left out; LAYOUT_NOTHING: all are shown */
    bool with_source;
    struct layout_column columns[TABLE_MAX_COLUMNS];
};

/* Adds the table; `suffix` follows the title. 0; -ENOMEM. */
int layout_write(const struct layout *layout, const char *suffix, const struct section *section,
                 struct strbuf *to);

#endif
