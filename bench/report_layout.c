#include "report_layout.h"

#include <math.h>
#include <stdio.h>

#include "util/cleanup.h"

static bool is_shown(const struct layout *layout, const struct section *section,
                     const struct row *row)
{
    if (!section_has(section, row) || (!row->target && !layout->with_source))
        return false;
    return layout->needed == LAYOUT_NOTHING || row->metrics[layout->needed].n > 0;
}

static void put_figure(struct table *table, const struct layout_column *column,
                       const struct section *section, const struct row *row,
                       const struct race *race)
{
    size_t index = (size_t)(row - section->summary->rows);
    const struct comparison *comparison = race->comparisons ? &race->comparisons[index] : NULL;
    enum metric metric = row->target ? column->metric : column->of_source;

    if (metric == LAYOUT_NOTHING) {
        table_number(table, NAN);
        return;
    }
    switch (column->figure) {
    case FIGURE_MEAN:
        table_number(table, row_mean(row, metric));
        break;
    case FIGURE_SD:
        table_number(table, row_sd(row, metric));
        break;
    case FIGURE_COUNT:
        if (row->metrics[metric].n)
            table_text(table, "%.0f", row_mean(row, metric));
        else
            table_number(table, NAN);
        break;
    case FIGURE_RATE:
        put_rate(table, section->bytes, row_mean(row, metric));
        break;
    case FIGURE_RATIO:
        put_ratio(table, comparison, index == race->best);
        break;
    case FIGURE_HALF_WIDTH:
        put_half_width(table, comparison, index == race->best);
        break;
    case FIGURE_END:
        break;
    }
}

/* A table ranks by one metric at most. */
static int start_race(const struct layout *layout, const struct section *section, struct race *race)
{
    for (const struct layout_column *column = layout->columns; column->figure; column++) {
        if (column->figure == FIGURE_RATIO)
            return race_against_best(section, column->metric, race);
    }
    return 0;
}

int layout_write(const struct layout *layout, const char *suffix, const struct section *section,
                 struct strbuf *to)
{
    const char *headings[TABLE_MAX_COLUMNS + 1];
    struct race race CLEANUP(race_free) = {0};
    char title[2 * LABEL_BYTES];
    struct table table;
    size_t count = 0;
    int r = start_race(layout, section, &race);

    if (r < 0)
        return r;
    snprintf(title, sizeof(title), "%s%s", layout->title, suffix);
    headings[count++] = title;
    for (const struct layout_column *column = layout->columns; column->figure; column++)
        headings[count++] = column->heading;
    headings[count] = NULL;
    table_begin(&table, headings);
    for (size_t i = 0; i < section->summary->count; i++) {
        const struct row *row = &section->summary->rows[i];

        if (!is_shown(layout, section, row))
            continue;
        put_row(&table, row);
        if (put_failed(&table, row))
            continue;
        for (const struct layout_column *column = layout->columns; column->figure; column++)
            put_figure(&table, column, section, row, &race);
    }
    return table_finish(&table, section->format, to);
}
