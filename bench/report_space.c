#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report_cells.h"

/* Space hardly varies, but others who write to the target disturb single trials. */
static double row_median(const struct row *row, enum metric metric)
{
    return row->metrics[metric].n ? row->metrics[metric].summary.median : NAN;
}

static void put_space(struct table *table, const struct sample *sample, double original)
{
    if (sample->n == 0) {
        table_number(table, NAN);
        table_number(table, NAN);
        return;
    }
    table_text(table, "%.0f", sample->summary.median / 1024);
    table_text(table, "%.1f", 100 * sample->summary.median / original);
}

/* The sets in the order of the first row that has any. */
static const struct row *row_with_sets(const struct section *section)
{
    for (size_t i = 0; i < section->summary->count; i++) {
        const struct row *row = &section->summary->rows[i];

        if (section_has(section, row) && row->set_count)
            return row;
    }
    return NULL;
}

int section_space(const struct section *section, struct strbuf *to)
{
    const struct summary *summary = section->summary;
    const struct row *sets = row_with_sets(section);
    const char *headings[TABLE_MAX_COLUMNS + 1] = {"SPACE by df"};
    char names[SUMMARY_MAX_SETS][LABEL_BYTES];
    struct table table;
    size_t column = 1;

    if (!sets)
        return 0;
    for (size_t i = 0; i < sets->set_count; i++) {
        snprintf(names[i], sizeof(names[i]), "%s KiB", sets->sets[i].name);
        headings[column++] = names[i];
        headings[column++] = "%";
    }
    headings[column++] = "by du KiB";
    headings[column++] = "%";
    headings[column++] = "x";
    table_begin(&table, headings);
    table_row(&table, "original");
    for (size_t i = 0; i < sets->set_count; i++) {
        table_text(&table, "%.0f", sets->sets[i].original_bytes / 1024);
        table_text(&table, "100.0");
    }
    table_text(&table, "%.0f", section->bytes / 1024);
    table_text(&table, "100.0");
    table_text(&table, "1.00");
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];
        double stored = row_median(row, METRIC_SPACE_DF);

        if (!row_competes(row, section->workload->name))
            continue;
        put_row(&table, row);
        if (put_failed(&table, row))
            continue;
        for (size_t s = 0; s < row->set_count; s++)
            put_space(&table, &row->sets[s].df, row->sets[s].original_bytes);
        put_space(&table, &row->metrics[METRIC_SPACE_ALLOCATED], section->bytes);
        if (stored > 0)
            table_text(&table, "%.2f", section->bytes / stored);
    }
    return table_finish(&table, section->format, to);
}

/* Time until on disk and space, by those of the same target without compression and with lz4. */
int section_relative(const struct section *section, struct strbuf *to)
{
    static const char *const headings[] = {"RELATIVE TO", "none: time", "±",     "space",
                                           "lz4: time",   "±",          "space", NULL};
    static const char *const codecs[] = {"none", "lz4"};
    const struct summary *summary = section->summary;
    struct race races[2] = {{0}, {0}};
    struct table table;
    bool any = false;
    int r = 0;

    for (size_t c = 0; r == 0 && c < 2; c++) {
        struct race *race = &races[c];

        race->base = calloc(summary->count + 1, sizeof(*race->base));
        race->comparisons = calloc(summary->count + 1, sizeof(*race->comparisons));
        if (!race->base || !race->comparisons)
            r = -ENOMEM;
        for (size_t i = 0; r == 0 && i < summary->count; i++) {
            race->base[i] = summary_with_codec(summary, &summary->rows[i], codecs[c]);
            any = any || (section_has(section, &summary->rows[i]) &&
                          race->base[i] < summary->count && race->base[i] != i);
        }
        if (r == 0)
            r = summary_compare(summary, section->workload->name, METRIC_WRITE_TOTAL, race->base,
                                race->comparisons);
    }
    table_begin(&table, headings);
    for (size_t i = 0; r == 0 && any && i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!row_competes(row, section->workload->name))
            continue;
        put_row(&table, row);
        if (put_failed(&table, row))
            continue;
        for (size_t c = 0; c < 2; c++) {
            size_t base = races[c].base[i];
            double space = NAN;

            if (base < summary->count)
                space = row_mean(row, METRIC_SPACE_DF) /
                        row_mean(&summary->rows[base], METRIC_SPACE_DF);
            put_ratio(&table, &races[c].comparisons[i], base == i);
            put_half_width(&table, &races[c].comparisons[i], base == i);
            if (isfinite(space))
                table_text(&table, "%.2f", space);
            else
                table_number(&table, NAN);
        }
    }
    race_free(&races[0]);
    race_free(&races[1]);
    if (r < 0) {
        free(table.rows);
        return r;
    }
    return table_finish(&table, section->format, to);
}
