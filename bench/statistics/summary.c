#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "statistics/statistics.h"

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool all_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static double sorted_median(const double *sorted, size_t n)
{
    double upper = sorted[n / 2];
    double lower = sorted[(n - 1) / 2];

    return lower + (upper - lower) / 2;
}

/* A sorted copy; the caller frees it. */
static int sorted_copy(const double *values, size_t n, double **ret_sorted)
{
    double *sorted;

    if (n == 0 || !all_finite(values, n))
        return -EINVAL;
    sorted = calloc(n, sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    memcpy(sorted, values, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), compare_doubles);
    *ret_sorted = sorted;
    return 0;
}

/*
 * Two passes: the second takes the rounding error of the mean out again (Chan, Golub, LeVeque,
 * "Algorithms for computing the sample variance", 1983).
 */
static void mean_and_sd(const double *values, size_t n, double *ret_mean, double *ret_sd)
{
    double count = (double)n;
    double sum = 0;
    double deviations = 0;
    double squares = 0;
    double mean;

    for (size_t i = 0; i < n; i++)
        sum += values[i];
    mean = sum / count;
    for (size_t i = 0; i < n; i++) {
        double deviation = values[i] - mean;

        deviations += deviation;
        squares += deviation * deviation;
    }
    *ret_mean = mean + deviations / count;
    *ret_sd = n < 2 ? NAN : sqrt(fmax(0, squares - deviations * deviations / count) / (count - 1));
}

int stats_summarize(const double *values, size_t n, struct stats_summary *ret_summary)
{
    struct stats_summary summary = {
        .n = n,
        .has_spread = n >= 2,
        .ci_low = NAN,
        .ci_high = NAN,
        .relative_half_width = NAN,
    };
    double *sorted;
    int r;

    r = sorted_copy(values, n, &sorted);
    if (r < 0)
        return r;
    summary.median = sorted_median(sorted, n);
    summary.min = sorted[0];
    summary.max = sorted[n - 1];
    /* Summed in sorted order, the figures do not depend on the order of the trials. */
    mean_and_sd(sorted, n, &summary.mean, &summary.sd);
    free(sorted);
    if (summary.has_spread) {
        double half_width = stats_t_quantile(0.975, (double)(n - 1)) * summary.sd / sqrt((double)n);

        summary.ci_low = summary.mean - half_width;
        summary.ci_high = summary.mean + half_width;
        if (fabs(summary.mean) > 0)
            summary.relative_half_width = half_width / fabs(summary.mean);
    }
    *ret_summary = summary;
    return 0;
}

int stats_flag_outliers(const double *values, size_t n, bool *flags, size_t *ret_count)
{
    size_t count = 0;
    double *work;
    double median;
    double limit;
    int r;

    r = sorted_copy(values, n, &work);
    if (r < 0)
        return r;
    median = sorted_median(work, n);
    for (size_t i = 0; i < n; i++)
        work[i] = fabs(values[i] - median);
    qsort(work, n, sizeof(*work), compare_doubles);
    limit = STATS_OUTLIER_MADS * sorted_median(work, n);
    free(work);
    for (size_t i = 0; i < n; i++) {
        flags[i] = fabs(values[i] - median) > limit;
        count += flags[i];
    }
    *ret_count = count;
    return 0;
}

static int check_positive(const double *values, size_t n)
{
    if (n == 0 || !all_finite(values, n))
        return -EINVAL;
    for (size_t i = 0; i < n; i++)
        if (!(values[i] > 0))
            return -EDOM;
    return 0;
}

int stats_harmonic_mean(const double *values, size_t n, double *ret_mean)
{
    double sum = 0;
    int r = check_positive(values, n);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        sum += 1 / values[i];
    *ret_mean = (double)n / sum;
    return 0;
}

int stats_geometric_mean(const double *values, size_t n, double *ret_mean)
{
    double sum = 0;
    int r = check_positive(values, n);

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++)
        sum += log(values[i]);
    *ret_mean = exp(sum / (double)n);
    return 0;
}
