#include "report_cells.h"

int section_cpu(const struct section *section, struct strbuf *to)
{
    static const char *const headings[] = {"CPU s",      "write: jobs", "tallyfs", "machine",
                                           "read: jobs", "tallyfs",     "machine", NULL};
    const struct summary *summary = section->summary;
    struct table table;

    table_begin(&table, headings);
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!row_competes(row, section->workload->name))
            continue;
        put_row(&table, row);
        if (put_failed(&table, row))
            continue;
        table_number(&table, row_mean(row, METRIC_WRITE_USER) + row_mean(row, METRIC_WRITE_SYSTEM));
        table_number(&table, row_mean(row, METRIC_WRITE_DAEMON));
        table_number(&table, row_mean(row, METRIC_WRITE_MACHINE));
        table_number(&table, row_mean(row, METRIC_READ_USER) + row_mean(row, METRIC_READ_SYSTEM));
        table_number(&table, row_mean(row, METRIC_READ_DAEMON));
        table_number(&table, row_mean(row, METRIC_READ_MACHINE));
    }
    strbuf_puts(to, "\n");
    return table_finish(&table, to);
}

static int put_counters(const struct section *section, const char *title, enum metric first,
                        struct strbuf *to)
{
    const char *const headings[] = {title, "calls", "lower s", "codec s", "wait s", "own s", NULL};
    const struct summary *summary = section->summary;
    struct table table;
    bool any = false;

    table_begin(&table, headings);
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!row_competes(row, section->workload->name) || row->metrics[first].n == 0)
            continue;
        any = true;
        put_row(&table, row);
        table_text(&table, "%.0f", row_mean(row, first));
        for (unsigned int part = 1; part < 5; part++)
            table_number(&table, row_mean(row, (enum metric)(first + part)));
    }
    if (!any)
        return 0;
    strbuf_puts(to, "\n");
    return table_finish(&table, to);
}

int section_tallyfs(const struct section *section, struct strbuf *to)
{
    int r = put_counters(section, "IN TALLYFS, writing", METRIC_WRITE_CALLS, to);

    return r < 0 ? r : put_counters(section, "IN TALLYFS, reading", METRIC_READ_CALLS, to);
}
