/* The tables of a workload's report. Each adds one, or nothing where nothing is known. 0; -ENOMEM. */
#ifndef TALLY_BENCH_REPORT_SECTIONS_H
#define TALLY_BENCH_REPORT_SECTIONS_H

#include "summary.h"
#include "table.h"
#include "util/strbuf.h"
#include "workload.h"

/* What a table is about, and how it is written. */
struct section {
    const struct summary *summary;
    const struct workload *workload;
    double bytes; /* of the workload's files */
    enum table_format format;
};

/* All tables of the workload, in the order of the published ones. */
int sections_write(const struct section *section, struct strbuf *to);

int section_space(const struct section *section, struct strbuf *to);
int section_relative(const struct section *section, struct strbuf *to);

/* The label of a row, with a star where notes below have something to say about it. */
void section_label(const struct row *row, char *label, size_t size);

/* Of the workload: a target's row, or that of the source; not a twin. */
bool section_has(const struct section *section, const struct row *row);

#endif
