#include "report_cells.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return row->twin_of == SUMMARY_NO_TWIN && strcmp(row->workload, section->workload->name) == 0;
}

double row_mean(const struct row *row, enum metric metric)
{
    return row->metrics[metric].n ? row->metrics[metric].summary.mean : NAN;
}

double row_sd(const struct row *row, enum metric metric)
{
    const struct sample *sample = &row->metrics[metric];

    return sample->n && sample->summary.has_spread ? sample->summary.sd : NAN;
}

void put_row(struct table *table, const struct row *row)
{
    char label[LABEL_BYTES + 2];

    section_label(row, label, sizeof(label));
    table_row(table, label);
}

bool put_failed(struct table *table, const struct row *row)
{
    if (row->ok || !row->failed)
        return false;
    table_text(table, "failed");
    return true;
}

void put_rate(struct table *table, double bytes, double seconds)
{
    if (isnan(seconds))
        table_number(table, NAN);
    else if (seconds < RATE_MIN_SECONDS)
        table_text(table, "+++++");
    else
        table_text(table, "%.1f", bytes / seconds / 1e6);
}

void put_ratio(struct table *table, const struct comparison *comparison, bool is_base)
{
    if (is_base)
        table_text(table, "1.00");
    else if (!comparison->known)
        table_number(table, NAN);
    else
        table_text(table, "%s%.2f", comparison->verdict == STATS_SAME ? "~" : "",
                   comparison->ratio);
}

void put_half_width(struct table *table, const struct comparison *comparison, bool is_base)
{
    if (!is_base && comparison->known && !isnan(comparison->half_width))
        table_text(table, "%.2f", comparison->half_width);
    else
        table_number(table, NAN);
}

void race_free(struct race *race)
{
    free(race->base);
    free(race->comparisons);
}

int race_against_best(const struct section *section, enum metric metric, struct race *race)
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
