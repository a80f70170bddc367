/* Writers of reports. Each adds to `to`. 0; -ENOMEM. */
#ifndef TALLY_BENCH_REPORT_H
#define TALLY_BENCH_REPORT_H

#include "summary.h"
#include "util/strbuf.h"

struct report_input {
    const char *file; /* as the user named it */
    json_t *result;
    struct summary summary;
};

/* For people: the published tables' columns, 80 wide. */
int report_table(const struct report_input *inputs, size_t count, struct strbuf *to);

/* The same as Markdown. */
int report_markdown(const struct report_input *inputs, size_t count, struct strbuf *to);

/* Figures of each configuration with the values that they come from. */
int report_json(const struct report_input *inputs, size_t count, struct strbuf *to);

/* One self-contained page with plots. */
int report_html(const struct report_input *inputs, size_t count, struct strbuf *to);

/* A row a trial, RFC 4180. */
int report_csv(const struct report_input *inputs, size_t count, struct strbuf *to);

#endif
