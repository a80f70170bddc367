#include <math.h>
#include <stdio.h>

#include "report_cells.h"
#include "util/cleanup.h"

int section_write(const struct section *section, struct strbuf *to)
{
    const struct summary *summary = section->summary;
    char title[LABEL_BYTES];
    const char *const headings[] = {title,  "wall s", "sd", "system s", "sync s",
                                    "MB/s", "× best", "±",  NULL};
    struct race race CLEANUP(race_free) = {0};
    struct table table;
    int r = race_against_best(section, METRIC_WRITE_TOTAL, &race);

    if (r < 0)
        return r;
    snprintf(title, sizeof(title), "WRITE %s", section->workload->write_name);
    table_begin(&table, headings);
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!section_has(section, row))
            continue;
        put_row(&table, row);
        if (put_failed(&table, row))
            continue;
        if (!row->target) {
            table_number(&table, row_mean(row, METRIC_READ_WALL));
            table_number(&table, row_sd(row, METRIC_READ_WALL));
            table_number(&table, row_mean(row, METRIC_READ_SYSTEM));
            table_number(&table, NAN);
            put_rate(&table, section->bytes, row_mean(row, METRIC_READ_WALL));
            continue;
        }
        table_number(&table, row_mean(row, METRIC_WRITE_WALL));
        table_number(&table, row_sd(row, METRIC_WRITE_WALL));
        table_number(&table, row_mean(row, METRIC_WRITE_SYSTEM));
        table_number(&table, row_mean(row, METRIC_WRITE_SYNC));
        put_rate(&table, section->bytes, row_mean(row, METRIC_WRITE_TOTAL));
        put_comparison(&table, &race.comparisons[i], i == race.best);
    }
    strbuf_puts(to, "\n");
    return table_finish(&table, to);
}

int section_read(const struct section *section, struct strbuf *to)
{
    const struct summary *summary = section->summary;
    char title[LABEL_BYTES];
    const char *const headings[] = {title,  "real s", "sd", "user s", "system s",
                                    "MB/s", "× best", "±",  NULL};
    struct race race CLEANUP(race_free) = {0};
    struct table table;
    int r = race_against_best(section, METRIC_READ_WALL, &race);

    if (r < 0)
        return r;
    snprintf(title, sizeof(title), "READ %s", section->workload->read_name);
    table_begin(&table, headings);
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!section_has(section, row))
            continue;
        put_row(&table, row);
        if (put_failed(&table, row))
            continue;
        table_number(&table, row_mean(row, METRIC_READ_WALL));
        table_number(&table, row_sd(row, METRIC_READ_WALL));
        table_number(&table, row_mean(row, METRIC_READ_USER));
        table_number(&table, row_mean(row, METRIC_READ_SYSTEM));
        put_rate(&table, section->bytes, row_mean(row, METRIC_READ_WALL));
        if (row->target)
            put_comparison(&table, &race.comparisons[i], i == race.best);
    }
    strbuf_puts(to, "\n");
    return table_finish(&table, to);
}

int section_delete(const struct section *section, struct strbuf *to)
{
    const struct summary *summary = section->summary;
    char title[LABEL_BYTES];
    const char *const headings[] = {title,          "wall s", "sd", "system s", "sync s",
                                    "free after s", "× best", "±",  NULL};
    struct race race CLEANUP(race_free) = {0};
    struct table table;
    int r = race_against_best(section, METRIC_DELETE_TOTAL, &race);

    if (r < 0)
        return r;
    snprintf(title, sizeof(title), "DELETE %s", section->workload->delete_name);
    table_begin(&table, headings);
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!row_competes(row, section->workload->name))
            continue;
        put_row(&table, row);
        if (put_failed(&table, row))
            continue;
        table_number(&table, row_mean(row, METRIC_DELETE_WALL));
        table_number(&table, row_sd(row, METRIC_DELETE_WALL));
        table_number(&table, row_mean(row, METRIC_DELETE_SYSTEM));
        table_number(&table, row_mean(row, METRIC_DELETE_SYNC));
        table_number(&table, row_mean(row, METRIC_UNTIL_FREE));
        put_comparison(&table, &race.comparisons[i], i == race.best);
    }
    strbuf_puts(to, "\n");
    return table_finish(&table, to);
}
