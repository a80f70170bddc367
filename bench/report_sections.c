#include "report_sections.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "util/cleanup.h"

#define LABEL_BYTES 32

/* Below this a rate says more about the clock and the starting of programs than about the disk. */
#define RATE_MIN_SECONDS 0.01

void section_label(const struct row *row, char *label, size_t size)
{
    char name[LABEL_BYTES];
    bool star = row->failed || row->cold_unavailable || row->unsettled || row->never_free;

    row_label(row, name, sizeof(name));
    snprintf(label, size, "%s%s", name, star ? "*" : "");
}

bool section_has(const struct section *section, const struct row *row)
{
    return strcmp(row->workload, section->workload->name) == 0;
}

static double mean_of(const struct row *row, enum metric metric)
{
    return row->metrics[metric].n ? row->metrics[metric].summary.mean : NAN;
}

static double sd_of(const struct row *row, enum metric metric)
{
    const struct sample *sample = &row->metrics[metric];

    return sample->n && sample->summary.has_spread ? sample->summary.sd : NAN;
}

static void begin_row(struct table *table, const struct row *row)
{
    char label[LABEL_BYTES + 2];

    section_label(row, label, sizeof(label));
    table_row(table, label);
}

/* True, with the cell written, when there is nothing but failed trials. */
static bool put_failed(struct table *table, const struct row *row)
{
    if (row->ok || !row->failed)
        return false;
    table_text(table, "failed");
    return true;
}

static void put_rate(struct table *table, double bytes, double seconds)
{
    if (isnan(seconds))
        table_number(table, NAN);
    else if (seconds < RATE_MIN_SECONDS)
        table_text(table, "+++++");
    else
        table_text(table, "%.1f", bytes / seconds / 1e6);
}

static void put_ratio(struct table *table, const struct comparison *comparison)
{
    if (!comparison->known) {
        table_number(table, NAN);
        return;
    }
    table_text(table, "%s%.2f", comparison->verdict == STATS_SAME ? "~" : "", comparison->ratio);
}

/* The two columns "× best" and "±". */
static void put_comparison(struct table *table, const struct comparison *comparison, bool is_best)
{
    if (is_best) {
        table_text(table, "1.00");
        return;
    }
    put_ratio(table, comparison);
    if (comparison->known && !isnan(comparison->half_width))
        table_text(table, "%.2f", comparison->half_width);
}

struct race {
    size_t best;
    size_t *base;
    struct comparison *comparisons;
};

static void race_free(struct race *race)
{
    free(race->base);
    free(race->comparisons);
}

/* Everything against the best. */
static int race_run(const struct section *section, enum metric metric, struct race *race)
{
    const struct summary *summary = section->summary;

    race->best = summary_best(summary, section->workload->name, metric);
    race->base = calloc(summary->count + 1, sizeof(*race->base));
    race->comparisons = calloc(summary->count + 1, sizeof(*race->comparisons));
    if (!race->base || !race->comparisons)
        return -ENOMEM;
    for (size_t i = 0; i < summary->count; i++)
        race->base[i] = race->best;
    return summary_compare(summary, section->workload->name, metric, race->base, race->comparisons);
}

int section_write(const struct section *section, struct strbuf *to)
{
    const struct summary *summary = section->summary;
    char title[LABEL_BYTES];
    const char *const headings[] = {title,  "wall s", "sd", "system s", "sync s",
                                    "MB/s", "× best", "±",  NULL};
    struct race race CLEANUP(race_free) = {0};
    struct table table;
    int r = race_run(section, METRIC_WRITE_TOTAL, &race);

    if (r < 0)
        return r;
    snprintf(title, sizeof(title), "WRITE %s", section->workload->write_name);
    table_begin(&table, headings);
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!section_has(section, row))
            continue;
        begin_row(&table, row);
        if (put_failed(&table, row))
            continue;
        if (!row->target) {
            table_number(&table, mean_of(row, METRIC_READ_WALL));
            table_number(&table, sd_of(row, METRIC_READ_WALL));
            table_number(&table, mean_of(row, METRIC_READ_SYSTEM));
            table_number(&table, NAN);
            put_rate(&table, section->bytes, mean_of(row, METRIC_READ_WALL));
            continue;
        }
        table_number(&table, mean_of(row, METRIC_WRITE_WALL));
        table_number(&table, sd_of(row, METRIC_WRITE_WALL));
        table_number(&table, mean_of(row, METRIC_WRITE_SYSTEM));
        table_number(&table, mean_of(row, METRIC_WRITE_SYNC));
        put_rate(&table, section->bytes, mean_of(row, METRIC_WRITE_TOTAL));
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
    int r = race_run(section, METRIC_READ_WALL, &race);

    if (r < 0)
        return r;
    snprintf(title, sizeof(title), "READ %s", section->workload->read_name);
    table_begin(&table, headings);
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!section_has(section, row))
            continue;
        begin_row(&table, row);
        if (put_failed(&table, row))
            continue;
        table_number(&table, mean_of(row, METRIC_READ_WALL));
        table_number(&table, sd_of(row, METRIC_READ_WALL));
        table_number(&table, mean_of(row, METRIC_READ_USER));
        table_number(&table, mean_of(row, METRIC_READ_SYSTEM));
        put_rate(&table, section->bytes, mean_of(row, METRIC_READ_WALL));
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
    int r = race_run(section, METRIC_DELETE_TOTAL, &race);

    if (r < 0)
        return r;
    snprintf(title, sizeof(title), "DELETE %s", section->workload->delete_name);
    table_begin(&table, headings);
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!row_competes(row, section->workload->name))
            continue;
        begin_row(&table, row);
        if (put_failed(&table, row))
            continue;
        table_number(&table, mean_of(row, METRIC_DELETE_WALL));
        table_number(&table, sd_of(row, METRIC_DELETE_WALL));
        table_number(&table, mean_of(row, METRIC_DELETE_SYSTEM));
        table_number(&table, mean_of(row, METRIC_DELETE_SYNC));
        table_number(&table, mean_of(row, METRIC_UNTIL_FREE));
        put_comparison(&table, &race.comparisons[i], i == race.best);
    }
    strbuf_puts(to, "\n");
    return table_finish(&table, to);
}

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
        begin_row(&table, row);
        if (put_failed(&table, row))
            continue;
        table_number(&table, mean_of(row, METRIC_WRITE_USER) + mean_of(row, METRIC_WRITE_SYSTEM));
        table_number(&table, mean_of(row, METRIC_WRITE_DAEMON));
        table_number(&table, mean_of(row, METRIC_WRITE_MACHINE));
        table_number(&table, mean_of(row, METRIC_READ_USER) + mean_of(row, METRIC_READ_SYSTEM));
        table_number(&table, mean_of(row, METRIC_READ_DAEMON));
        table_number(&table, mean_of(row, METRIC_READ_MACHINE));
    }
    strbuf_puts(to, "\n");
    return table_finish(&table, to);
}

static void put_space(struct table *table, const struct sample *sample, double original)
{
    if (sample->n == 0) {
        table_number(table, NAN);
        table_number(table, NAN);
        return;
    }
    table_text(table, "%.0f", sample->summary.mean / 1024);
    table_text(table, "%.1f", 100 * sample->summary.mean / original);
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
        double stored = mean_of(row, METRIC_SPACE_DF);

        if (!row_competes(row, section->workload->name))
            continue;
        begin_row(&table, row);
        if (put_failed(&table, row))
            continue;
        for (size_t s = 0; s < row->set_count; s++)
            put_space(&table, &row->sets[s].df, row->sets[s].original_bytes);
        put_space(&table, &row->metrics[METRIC_SPACE_ALLOCATED], section->bytes);
        if (stored > 0)
            table_text(&table, "%.2f", section->bytes / stored);
    }
    strbuf_puts(to, "\n");
    return table_finish(&table, to);
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
        begin_row(&table, row);
        if (put_failed(&table, row))
            continue;
        for (size_t c = 0; c < 2; c++) {
            size_t base = races[c].base[i];
            double space = NAN;

            if (base < summary->count)
                space =
                    mean_of(row, METRIC_SPACE_DF) / mean_of(&summary->rows[base], METRIC_SPACE_DF);
            put_comparison(&table, &races[c].comparisons[i], base == i);
            if (base == i || !races[c].comparisons[i].known ||
                isnan(races[c].comparisons[i].half_width))
                table_number(&table, NAN);
            if (isfinite(space))
                table_text(&table, "%.2f", space);
            else
                table_number(&table, NAN);
        }
    }
    race_free(&races[0]);
    race_free(&races[1]);
    if (r == 0 && any) {
        strbuf_puts(to, "\n");
        return table_finish(&table, to);
    }
    free(table.rows);
    return r;
}
