#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summary.h"
#include "util/cleanup.h"

bool row_competes(const struct row *row, const char *workload)
{
    return row->target && row->twin_of == SUMMARY_NO_TWIN && strcmp(row->workload, workload) == 0;
}

size_t summary_noise(const struct summary *summary, const char *workload, enum metric metric,
                     double *ret_floor)
{
    double floor = 0;
    size_t pairs = 0;

    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];
        struct stats_ratio ratio;

        if (row->twin_of == SUMMARY_NO_TWIN || strcmp(row->workload, workload) != 0 ||
            row->metrics[metric].n == 0 || summary->rows[row->twin_of].metrics[metric].n == 0 ||
            stats_relative(&row->metrics[metric].summary,
                           &summary->rows[row->twin_of].metrics[metric].summary, &ratio) < 0)
            continue;
        floor = fmax(floor, fabs(ratio.ratio - 1));
        pairs++;
    }
    *ret_floor = floor;
    return pairs;
}

size_t summary_best(const struct summary *summary, const char *workload, enum metric metric)
{
    size_t best = summary->count;

    for (size_t i = 0; i < summary->count; i++) {
        const struct sample *sample = &summary->rows[i].metrics[metric];

        if (!row_competes(&summary->rows[i], workload) || sample->n == 0)
            continue;
        if (best == summary->count ||
            sample->summary.mean < summary->rows[best].metrics[metric].summary.mean)
            best = i;
    }
    return best;
}

size_t summary_with_codec(const struct summary *summary, const struct row *row, const char *codec)
{
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *other = &summary->rows[i];

        if (row->target && row_competes(other, row->workload) &&
            strcmp(other->target, row->target) == 0 && strcmp(other->path, "tallyfs") == 0 &&
            strcmp(other->codec, codec) == 0)
            return i;
    }
    return summary->count;
}

/*
 * The interval of a ratio of means by the delta method: t * ratio * sqrt(sd_a^2 / (n_a mean_a^2) + sd_b^2 / (n_b
 * mean_b^2)), with the degrees of freedom of Welch's test.
 */
static double ratio_half_width(const struct sample *a, const struct sample *b, double ratio,
                               double df)
{
    double u = a->summary.sd / a->summary.mean, v = b->summary.sd / b->summary.mean;

    return stats_t_quantile(0.975, df) * ratio * sqrt(u * u / (double)a->n + v * v / (double)b->n);
}

int comparison_make(const struct sample *a, const struct sample *b,
                    struct comparison *ret_comparison)
{
    struct comparison *comparison = ret_comparison;
    struct stats_ratio ratio;
    int r;

    *comparison = (struct comparison){.half_width = NAN, .adjusted_p = NAN};
    if (a->n == 0 || b->n == 0 || stats_relative(&a->summary, &b->summary, &ratio) < 0)
        return 0;
    comparison->known = true;
    comparison->ratio = ratio.ratio;
    if (stats_welch(a->values, a->n, b->values, b->n, &comparison->welch) == 0) {
        comparison->has_welch = true;
        comparison->half_width = ratio_half_width(a, b, ratio.ratio, comparison->welch.df);
    }
    r = stats_mann_whitney(a->values, a->n, b->values, b->n, &comparison->mann_whitney);
    return r == -ENOMEM ? r : 0;
}

int summary_compare(const struct summary *summary, const char *workload, enum metric metric,
                    const size_t *base, struct comparison *comparisons)
{
    double *p AUTO_FREE = calloc(summary->count + 1, sizeof(*p));
    double noise_floor;
    int r = p ? 0 : -ENOMEM;

    summary_noise(summary, workload, metric, &noise_floor);

    for (size_t i = 0; r == 0 && i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        comparisons[i] = (struct comparison){.half_width = NAN, .adjusted_p = NAN};
        if (row_competes(row, workload) && base[i] < summary->count && base[i] != i)
            r = comparison_make(&row->metrics[metric], &summary->rows[base[i]].metrics[metric],
                                &comparisons[i]);
        p[i] = comparisons[i].has_welch ? comparisons[i].welch.p : NAN;
    }
    if (r == 0)
        r = stats_holm(p, summary->count, p);
    for (size_t i = 0; r == 0 && i < summary->count; i++) {
        comparisons[i].adjusted_p = p[i];
        comparisons[i].noise_floor = noise_floor;
        if (comparisons[i].known)
            comparisons[i].verdict =
                stats_judge(&summary->rows[i].metrics[metric].summary,
                            &summary->rows[base[i]].metrics[metric].summary, p[i], noise_floor);
    }
    return r;
}
