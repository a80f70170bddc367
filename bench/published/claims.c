#include "claims.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "markup.h"
#include "sample.h"
#include "statistics/statistics.h"
#include "util/cleanup.h"

#define MAX_FIELDS 8
#define MAX_COLUMNS 7
#define MAX_CLAIMS 200
/* How far a ratio's whole interval may be from 1 for "the same", and half of it for "no difference". */
#define NARROW 0.10

struct line {
    char *text; /* owned; the fields lie in it */
    char *fields[MAX_FIELDS];
    size_t count;
};

/* A conclusion and what was found out about it. */
struct claim {
    struct line line;
    struct stats_summary a, b;
    bool measured;
    double ratio, half_width; /* NaN without spread */
    double p, noise;
};

struct writer {
    const json_t *results;
    struct markup markup;
    char *workload, *measure;    /* of the table being written; owned */
    double base, base_published; /* its first row's; NaN */
    bool first;
    struct claim *claims;
    size_t claim_count;
};

/* n = 0: nothing was measured. */
static int summarize(struct writer *writer, const char *workload, const char *measure,
                     const char *row, struct values *ret_values, struct stats_summary *ret_summary)
{
    int r = sample_values(writer->results, workload, row, false, measure, ret_values);

    *ret_summary = (struct stats_summary){0};
    if (r == 0 && ret_values->count)
        r = stats_summarize(ret_values->list, ret_values->count, ret_summary);
    return r;
}

static int replace(char **text, const char *with)
{
    free(*text);
    *text = strdup(with);
    return *text ? 0 : -ENOMEM;
}

static int do_table(struct writer *writer, const struct line *line)
{
    const char *const heads[] = {"", "published", "× first", "here", "sd", "n", "× first"};
    char title[256];
    int r = 0;

    markup_end_table(&writer->markup);
    if (replace(&writer->workload, line->fields[2]) < 0 ||
        replace(&writer->measure, line->fields[3]) < 0)
        r = -ENOMEM;
    snprintf(title, sizeof(title), "%s (%s)", line->fields[1], line->fields[4]);
    markup_begin_table(&writer->markup, title, heads, MAX_COLUMNS);
    writer->first = true;
    return r;
}

static double number_of(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    return end == text ? NAN : value;
}

static void print_number(char *cell, size_t size, double value, int decimals)
{
    if (isnan(value))
        snprintf(cell, size, "–");
    else
        snprintf(cell, size, "%.*f", decimals, value);
}

static int do_row(struct writer *writer, const struct line *line)
{
    double published = number_of(line->fields[2]), mean;
    char cells[MAX_COLUMNS - 2][32];
    struct values values;
    struct stats_summary summary;
    int r =
        summarize(writer, writer->workload, writer->measure, line->fields[3], &values, &summary);

    if (r < 0)
        return r;
    mean = summary.n ? summary.mean : NAN;
    if (writer->first) {
        writer->base = mean;
        writer->base_published = published;
    }
    writer->first = false;
    print_number(cells[0], sizeof(cells[0]), published / writer->base_published, 2);
    print_number(cells[1], sizeof(cells[1]), mean, 3);
    print_number(cells[2], sizeof(cells[2]), summary.n > 1 ? summary.sd : NAN, 3);
    snprintf(cells[3], sizeof(cells[3]), "%zu", summary.n);
    print_number(cells[4], sizeof(cells[4]), mean / writer->base, 2);
    values_free(&values);
    markup_row(&writer->markup,
               (const char *const[]){line->fields[1],
                                     strcmp(line->fields[2], "-") ? line->fields[2] : "–", cells[0],
                                     cells[1], cells[2], cells[3], cells[4]},
               MAX_COLUMNS, false);
    return 0;
}

/* Half of the ratio's 95 % interval, by the delta method with Welch's degrees of freedom. */
static double half_width(const struct stats_summary *a, const struct stats_summary *b, double ratio,
                         double df)
{
    double u = a->sd / a->mean, v = b->sd / b->mean;

    return stats_t_quantile(0.975, df) * ratio * sqrt(u * u / (double)a->n + v * v / (double)b->n);
}

static int do_claim(struct writer *writer, struct claim *claim)
{
    char **fields = claim->line.fields;
    struct values a, b = {0};
    struct stats_ratio ratio;
    struct stats_welch welch;
    int r = summarize(writer, fields[2], fields[3], fields[4], &a, &claim->a);

    claim->p = claim->half_width = NAN;
    if (r == 0)
        r = summarize(writer, fields[2], fields[3], fields[5], &b, &claim->b);
    if (r == 0)
        r = sample_noise(writer->results, fields[2], fields[3], &claim->noise);
    if (r == 0 && a.count && b.count && stats_relative(&claim->a, &claim->b, &ratio) == 0) {
        claim->measured = true;
        claim->ratio = ratio.ratio;
        if (stats_welch(a.list, a.count, b.list, b.count, &welch) == 0) {
            claim->p = welch.p;
            claim->half_width = half_width(&claim->a, &claim->b, ratio.ratio, welch.df);
        } else if (a.count > 1 &&
                   b.count >
                       1) { /* no trial of either differs from the next: there is no chance in it */
            claim->p = fabs(ratio.ratio - 1) > 0 ? 0 : 1;
            claim->half_width = 0;
        }
    }
    values_free(&a);
    values_free(&b);
    return r;
}

/* A figure that is NaN makes each of its comparisons false, and the conclusion undecided. */
static const char *outcome(const struct claim *claim, double adjusted_p)
{
    const char *wanted = claim->line.fields[6];
    enum stats_verdict verdict;

    if (!claim->measured)
        return "not measured";
    verdict = stats_judge(&claim->a, &claim->b, adjusted_p, claim->noise);
    if (strcmp(wanted, "same") == 0) {
        if (fabs(claim->ratio - 1) + claim->half_width <= NARROW)
            return "holds";
        return verdict == STATS_SAME     ? "undecided"
               : verdict == STATS_HIGHER ? "does not hold: more"
                                         : "does not hold: less";
    }
    if (verdict == STATS_SAME)
        return claim->half_width <= NARROW * claim->ratio ? "does not hold: no difference"
                                                          : "undecided";
    return (verdict == STATS_HIGHER) == (strcmp(wanted, "more") == 0)
               ? "holds"
               : "does not hold: the opposite";
}

static int write_claims(struct writer *writer)
{
    const char *const heads[] = {
        "conclusion, as published", "published ×", "here ×", "±", "p (Holm)", "n", "here it"};
    double p[MAX_CLAIMS];
    int r;

    markup_end_table(&writer->markup);
    for (size_t i = 0; i < writer->claim_count; i++)
        p[i] = writer->claims[i].p;
    r = stats_holm(p, writer->claim_count, p);
    markup_begin_table(&writer->markup, "Which published conclusions hold here", heads,
                       MAX_COLUMNS);
    for (size_t i = 0; r == 0 && i < writer->claim_count; i++) {
        const struct claim *claim = &writer->claims[i];
        char cells[4][32] = {"–", "–", "–", "–"};

        if (claim->line.count < 8) { /* a gap */
            markup_row(&writer->markup,
                       (const char *const[]){claim->line.fields[1], "–", "–", "–", "–", "–",
                                             claim->line.fields[2]},
                       MAX_COLUMNS, false);
            continue;
        }
        if (claim->measured) {
            print_number(cells[0], sizeof(cells[0]), claim->ratio, 2);
            print_number(cells[1], sizeof(cells[1]), claim->half_width, 2);
            print_number(cells[2], sizeof(cells[2]), p[i], 4);
            snprintf(cells[3], sizeof(cells[3]), "%zu, %zu", claim->a.n, claim->b.n);
        }
        markup_row(&writer->markup,
                   (const char *const[]){claim->line.fields[1], claim->line.fields[7], cells[0],
                                         cells[1], cells[2], cells[3], outcome(claim, p[i])},
                   MAX_COLUMNS, false);
    }
    markup_end_table(&writer->markup);
    return r;
}

static int do_line(struct writer *writer, struct line *line)
{
    static const struct {
        const char *name;
        size_t fields;
    } kinds[] = {{"table", 5}, {"row", 4}, {"claim", 8}, {"gap", 3}};
    size_t kind = 0;

    while (kind < 4 && strcmp(kinds[kind].name, line->fields[0]) != 0)
        kind++;
    if (kind == 4 || line->count != kinds[kind].fields || (kind == 1 && !writer->markup.in_table) ||
        (kind > 1 && writer->claim_count == MAX_CLAIMS)) {
        fprintf(stderr, "published_report: not understood: %s|%s\n", line->fields[0],
                line->count > 1 ? line->fields[1] : "");
        return -EBADMSG;
    }
    if (kind < 2)
        return kind == 0 ? do_table(writer, line) : do_row(writer, line);
    writer->claims[writer->claim_count] =
        (struct claim){.line = *line, .p = NAN, .half_width = NAN};
    line->text = NULL; /* the claim has it now */
    writer->claim_count++;
    return kind == 2 ? do_claim(writer, &writer->claims[writer->claim_count - 1]) : 0;
}

static int read_lines(struct writer *writer, FILE *file)
{
    char *text AUTO_FREE = NULL;
    size_t size = 0;
    int r = 0;

    while (r == 0 && getline(&text, &size, file) > 0) {
        struct line line = {.text = strdup(text)};
        char *rest = line.text;

        if (!line.text)
            return -ENOMEM;
        line.text[strcspn(line.text, "\n")] = '\0';
        while (rest && line.count < MAX_FIELDS)
            line.fields[line.count++] = strsep(&rest, "|");
        if (*line.text && *line.text != '#')
            r = do_line(writer, &line);
        free(line.text);
    }
    return r;
}

int claims_write(const char *path, const json_t *results, bool html, struct strbuf *to)
{
    FILE *file AUTO_FCLOSE = fopen(path, "re");
    struct writer writer = {.results = results, .markup = {.to = to, .html = html}};
    int r = -errno;

    if (!file)
        return r;
    writer.claims = calloc(MAX_CLAIMS, sizeof(*writer.claims));
    r = writer.claims ? read_lines(&writer, file) : -ENOMEM;
    if (r == 0)
        r = write_claims(&writer);
    for (size_t i = 0; writer.claims && i < writer.claim_count; i++)
        free(writer.claims[i].line.text);
    free(writer.claims);
    free(writer.workload);
    free(writer.measure);
    return r;
}
