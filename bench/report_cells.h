/* Cells that the tables of a report share. */
#ifndef TALLY_BENCH_REPORT_CELLS_H
#define TALLY_BENCH_REPORT_CELLS_H

#include "report_sections.h"
#include "table.h"

#define LABEL_BYTES 32

/* NaN when it is not known. */
double row_mean(const struct row *row, enum metric metric);
double row_sd(const struct row *row, enum metric metric);

/* Starts the table's row for it. */
void put_row(struct table *table, const struct row *row);

/* True, with the cell written, when there is nothing but failed trials. */
bool put_failed(struct table *table, const struct row *row);

/* In MB/s; "+++++" when the time was too short to tell. */
void put_rate(struct table *table, double bytes, double seconds);

/* The columns "× best" and "±"; the base itself has 1.00 and none. */
void put_ratio(struct table *table, const struct comparison *comparison, bool is_base);
void put_half_width(struct table *table, const struct comparison *comparison, bool is_base);

/* A workload's rows against the best of them. */
struct race {
    size_t best;
    size_t *base; /* owned, as what is next */
    struct comparison *comparisons;
};

/* 0; -ENOMEM. To be freed in both cases. */
int race_against_best(const struct section *section, enum metric metric, struct race *race);
void race_free(struct race *race);

#endif
