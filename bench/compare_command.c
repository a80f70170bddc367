#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "reason.h"
#include "report.h"
#include "report_input.h"
#include "table.h"
#include "util/cleanup.h"

struct compared_metric {
    const char *name;
    enum metric metric;
    const char *unit;
    double divisor; /* from the metric's unit to that one */
};

/* Of all of them less is better. */
static const struct compared_metric compared_metrics[] = {
    {"write", METRIC_WRITE_TOTAL, "s", 1},
    {"read", METRIC_READ_WALL, "s", 1},
    {"delete", METRIC_DELETE_TOTAL, "s", 1},
    {"space", METRIC_SPACE_ALLOCATED, "MB", 1e6},
};

#define COMPARED_COUNT (sizeof(compared_metrics) / sizeof(compared_metrics[0]))

enum outcome { OUTCOME_UNKNOWN, OUTCOME_SMALL, OUTCOME_BETTER, OUTCOME_REGRESSION };

static const char *const outcome_names[] = {"~", "small", "better", "REGRESSION"};

/* One figure of one configuration in both results. */
struct pair {
    const struct row *base, *new;
    const struct compared_metric *metric;
    struct comparison comparison;
    double p; /* adjusted over the whole table; NaN when nothing can be said */
    enum outcome outcome;
};

struct pairs {
    struct pair *list; /* owned */
    size_t count;
    size_t regressions;
    size_t broken; /* configurations that gave figures in BASE, and in NEW only failed */
};

static const struct row *find_row(const struct summary *summary, const struct row *like)
{
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (row_competes(row, like->workload) && strcmp(row->target, like->target) == 0 &&
            strcmp(row->codec, like->codec) == 0 && strcmp(row->path, like->path) == 0)
            return row;
    }
    return NULL;
}

/*
 * What no trial of either side differs in, as space often is, has no chance in it: there any difference is one. That
 * takes two trials each to know.
 */
static double p_of(const struct comparison *comparison, const struct sample *base,
                   const struct sample *new)
{
    if (comparison->has_welch)
        return comparison->welch.p;
    return comparison->known && base->n > 1 && new->n > 1 ? fabs(comparison->ratio - 1) > 0 ? 0 : 1
                                                          : NAN;
}

static int add_pairs(const struct row *base, const struct row *new, struct pairs *pairs)
{
    for (size_t m = 0; m < COMPARED_COUNT; m++) {
        enum metric metric = compared_metrics[m].metric;
        const struct sample *a = &new->metrics[metric], *b = &base->metrics[metric];
        struct pair *pair = &pairs->list[pairs->count];
        int r;

        *pair = (struct pair){.base = base, .new = new, .metric = &compared_metrics[m]};
        r = comparison_make(a, b, &pair->comparison);
        if (r < 0)
            return r;
        if (!pair->comparison.known)
            continue;
        pair->p = p_of(&pair->comparison, b, a);
        pairs->count++;
    }
    return 0;
}

static enum outcome judge(const struct pair *pair, const struct summary *base,
                          const struct summary *new, double threshold)
{
    double floor_base, floor_new, change = pair->comparison.ratio - 1;

    summary_noise(base, pair->base->workload, pair->metric->metric, &floor_base);
    summary_noise(new, pair->new->workload, pair->metric->metric, &floor_new);
    if (stats_judge(&pair->new->metrics[pair->metric->metric].summary,
                    &pair->base->metrics[pair->metric->metric].summary, pair->p,
                    fmax(floor_base, floor_new)) == STATS_SAME)
        return OUTCOME_UNKNOWN;
    if (fabs(change) <= threshold)
        return OUTCOME_SMALL;
    return change > 0 ? OUTCOME_REGRESSION : OUTCOME_BETTER;
}

static int find_pairs(const struct summary *base, const struct summary *new, double threshold,
                      struct pairs *pairs)
{
    double *p AUTO_FREE = NULL;
    int r = 0;

    pairs->list = calloc(base->count * COMPARED_COUNT + 1, sizeof(*pairs->list));
    p = calloc(base->count * COMPARED_COUNT + 1, sizeof(*p));
    if (!pairs->list || !p)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < base->count; i++) {
        const struct row *row = &base->rows[i], *other;

        if (!row->target || row->twin_of != SUMMARY_NO_TWIN)
            continue;
        other = find_row(new, row);
        if (!other)
            continue;
        pairs->broken += row->ok && !other->ok && other->failed;
        r = add_pairs(row, other, pairs);
    }
    for (size_t i = 0; i < pairs->count; i++)
        p[i] = pairs->list[i].p;
    if (r == 0)
        r = stats_holm(p, pairs->count, p);
    for (size_t i = 0; r == 0 && i < pairs->count; i++) {
        pairs->list[i].p = p[i];
        pairs->list[i].outcome = judge(&pairs->list[i], base, new, threshold);
        pairs->regressions += pairs->list[i].outcome == OUTCOME_REGRESSION;
    }
    return r;
}

static void put_pair(struct table *table, const struct pair *pair)
{
    const struct compared_metric *metric = pair->metric;
    double base = pair->base->metrics[metric->metric].summary.mean / metric->divisor;
    double new = pair->new->metrics[metric->metric].summary.mean / metric->divisor;
    char label[TABLE_CELL_BYTES], name[40];

    row_label(pair->base, name, sizeof(name));
    snprintf(label, sizeof(label), "%s %s", name, metric->name);
    table_row(table, label);
    table_text(table, "%.4g %s", base, metric->unit);
    table_text(table, "%.4g %s", new, metric->unit);
    table_text(table, "%+.1f %%", 100 * (pair->comparison.ratio - 1));
    if (isnan(pair->comparison.half_width) || !pair->comparison.has_welch)
        table_number(table, NAN);
    else
        table_text(table, "%.1f %%", 100 * pair->comparison.half_width);
    if (isnan(pair->p))
        table_number(table, NAN);
    else
        table_text(table, pair->p < 0.001 ? "< 0.001" : "%.3f", pair->p);
    table_text(table, "%s", outcome_names[pair->outcome]);
}

/* Not so when neither has it. */
static bool differs(const struct report_input *inputs, const char *part, const char *key)
{
    const json_t *base = json_object_get(json_object_get(inputs[0].result, part), key);
    const json_t *new = json_object_get(json_object_get(inputs[1].result, part), key);

    return (base || new) && !json_equal(base, new);
}

/* Configurations that cannot be compared, and what else makes the comparison doubtful. */
static void put_notes(const struct report_input *inputs, struct strbuf *to)
{
    static const char *const surroundings[] = {"cpu", "cpus", "kernel", "tallyfs"};
    const struct summary *base = &inputs[0].summary, *new = &inputs[1].summary;

    for (size_t i = 0; i < base->count; i++) {
        const struct row *row = &base->rows[i], *other;
        char label[64];

        if (!row->target || row->twin_of != SUMMARY_NO_TWIN)
            continue;
        other = find_row(new, row);
        row_label(row, label, sizeof(label));
        if (!other)
            strbuf_printf(to, "%s, %s: only in BASE\n", row->workload, label);
        else if (row->ok && !other->ok && other->failed)
            strbuf_printf(to, "%s, %s: FAILED in NEW, every one of %zu trials\n", row->workload,
                          label, other->failed);
    }
    for (size_t i = 0; i < new->count; i++) {
        const struct row *row = &new->rows[i];
        char label[64];

        row_label(row, label, sizeof(label));
        if (row->target && row->twin_of == SUMMARY_NO_TWIN && !find_row(base, row))
            strbuf_printf(to, "%s, %s: only in NEW\n", row->workload, label);
    }
    for (size_t i = 0; i < sizeof(surroundings) / sizeof(surroundings[0]); i++) {
        if (differs(inputs, "environment", surroundings[i]))
            strbuf_printf(to, "Not the same %s.\n", surroundings[i]);
    }
    if (differs(inputs, "arguments", "size_bytes"))
        strbuf_puts(to, "Not the same size of the corpus: times cannot be compared.\n");
    for (size_t i = 0; i < 2; i++) {
        if (json_is_true(json_object_get(inputs[i].result, "quick")))
            strbuf_printf(to, "%s is a quick look (low n).\n", i == 0 ? "BASE" : "NEW");
    }
}

static int write_tables(const struct pairs *pairs, enum table_format format, struct strbuf *to)
{
    size_t i = 0;
    int r = 0;

    while (r == 0 && i < pairs->count) {
        const char *workload = pairs->list[i].base->workload;
        const char *const headings[] = {workload, "base", "new", "change", "±", "p", "", NULL};
        struct table table;

        table_begin(&table, headings);
        for (; i < pairs->count && strcmp(pairs->list[i].base->workload, workload) == 0; i++)
            put_pair(&table, &pairs->list[i]);
        r = table_finish(&table, format, to);
    }
    return r;
}

static int write_comparison(const struct report_input *inputs, const struct pairs *pairs,
                            const struct options *options, struct strbuf *to)
{
    bool markdown = options->format == REPORT_MARKDOWN;
    struct strbuf notes AUTO_STRBUF = STRBUF_INIT;
    char *rest, *line;
    int r = write_tables(pairs, markdown ? TABLE_MARKDOWN : TABLE_TEXT, to);

    put_notes(inputs, &notes);
    strbuf_printf(&notes,
                  "%zu regressions beyond %.3g %%: also beyond the noise floor, and p < 0.05 by\n"
                  "Welch's t and Holm over all rows.\n"
                  "~: not told from chance. small: real, but within %.3g %%.\n",
                  pairs->regressions, 100 * options->threshold, 100 * options->threshold);
    strbuf_puts(to, "\n");
    to->failed = to->failed || notes.failed;
    for (rest = notes.data; rest && (line = strsep(&rest, "\n"));) {
        if (!rest)
            break;
        if (markdown) {
            strbuf_puts(to, "- ");
            escape_markdown(to, line);
        } else {
            strbuf_puts(to, line);
        }
        strbuf_puts(to, "\n");
    }
    return r;
}

static int compare(struct report_input *inputs, struct options *options, struct pairs *pairs,
                   struct reason *reason)
{
    struct strbuf text AUTO_STRBUF = STRBUF_INIT;
    int r = report_input_load(options->arguments[0], &inputs[0], reason);

    if (r == 0)
        r = report_input_load(options->arguments[1], &inputs[1], reason);
    if (r == 0)
        r = find_pairs(&inputs[0].summary, &inputs[1].summary, options->threshold, pairs);
    if (r == 0 && pairs->count == 0 && pairs->broken == 0)
        return reason_set(reason, -ENODATA, "%s and %s have nothing in common to compare",
                          options->arguments[0], options->arguments[1]);
    if (r == 0)
        r = write_comparison(inputs, pairs, options, &text);
    if (r == 0)
        r = text.failed ? -ENOMEM : report_write_out(options->output, &text, reason);
    return r;
}

int command_compare(struct options *options, const struct log *log)
{
    struct report_input inputs[2] = {0};
    struct pairs pairs = {0};
    struct reason reason = {""};
    int r;

    if (options->argument_count != 2) {
        log_error(log, "compare: wanted are two result files, BASE and NEW");
        return EXIT_WRONG_USAGE;
    }
    if (options->format != REPORT_TABLE && options->format != REPORT_MARKDOWN) {
        log_error(log, "compare: --format: known are table, markdown");
        return EXIT_WRONG_USAGE;
    }
    r = compare(inputs, options, &pairs, &reason);
    if (r < 0)
        log_error(log, "%s", reason.text[0] ? reason.text : strerror(-r));
    free(pairs.list);
    report_input_free(&inputs[0]);
    report_input_free(&inputs[1]);
    if (r < 0)
        return EXIT_FAILURE;
    return pairs.regressions || pairs.broken ? EXIT_REGRESSION : EXIT_SUCCESS;
}
