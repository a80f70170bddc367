#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "statistics/statistics.h"

int stats_welch_moments(const struct stats_moments *a, const struct stats_moments *b,
                        struct stats_welch *ret_test)
{
    double error_a; /* squared standard error of the mean */
    double error_b;
    double error;
    double share;
    double t;
    double df;

    if (a->n < 2 || b->n < 2 || !isfinite(a->mean) || !isfinite(b->mean) || !isfinite(a->sd) ||
        !isfinite(b->sd) || a->sd < 0 || b->sd < 0)
        return -EINVAL;
    error_a = a->sd * a->sd / (double)a->n;
    error_b = b->sd * b->sd / (double)b->n;
    error = error_a + error_b;
    if (!(error > 0))
        return -EDOM;
    t = (a->mean - b->mean) / sqrt(error);
    /* Welch-Satterthwaite with the shares of the error, which cannot overflow or vanish as their
     * squares could. */
    share = error_a / error;
    df = 1 / (share * share / (double)(a->n - 1) + (1 - share) * (1 - share) / (double)(b->n - 1));
    *ret_test = (struct stats_welch){.t = t, .df = df, .p = stats_t_two_sided(t, df)};
    return 0;
}

int stats_welch(const double *a, size_t n_a, const double *b, size_t n_b,
                struct stats_welch *ret_test)
{
    struct stats_summary summary_a;
    struct stats_summary summary_b;
    int r;

    if (n_a < 2 || n_b < 2)
        return -EINVAL;
    r = stats_summarize(a, n_a, &summary_a);
    if (r < 0)
        return r;
    r = stats_summarize(b, n_b, &summary_b);
    if (r < 0)
        return r;
    return stats_welch_moments(
        &(struct stats_moments){.mean = summary_a.mean, .sd = summary_a.sd, .n = n_a},
        &(struct stats_moments){.mean = summary_b.mean, .sd = summary_b.sd, .n = n_b}, ret_test);
}

struct ranked {
    double value;
    bool of_a;
};

static int compare_ranked(const void *left, const void *right)
{
    double x = ((const struct ranked *)left)->value;
    double y = ((const struct ranked *)right)->value;

    return (x > y) - (x < y);
}

/* U of sample a, and the sum of t^3 - t over the groups of t tied values. */
static int count_pairs(const double *a, size_t n_a, const double *b, size_t n_b, double *ret_u,
                       double *ret_ties)
{
    size_t n = n_a + n_b;
    struct ranked *all;
    double rank_sum = 0;
    double ties = 0;

    all = calloc(n, sizeof(*all));
    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        all[i] = i < n_a ? (struct ranked){a[i], true} : (struct ranked){b[i - n_a], false};
    qsort(all, n, sizeof(*all), compare_ranked);
    for (size_t first = 0, next; first < n; first = next) {
        size_t of_a = 0;
        double group;

        for (next = first; next < n && !(all[next].value > all[first].value); next++)
            of_a += all[next].of_a;
        group = (double)(next - first);
        ties += group * group * group - group;
        /* Ranks count from 1; each value of the group has the mean of the ranks first + 1 ... next.
         */
        rank_sum += (double)of_a * ((double)first + (group + 1) / 2);
    }
    free(all);
    *ret_u = rank_sum - (double)n_a * ((double)n_a + 1) / 2;
    *ret_ties = ties;
    return 0;
}

/*
 * P(U <= u) for untied samples. The number of arrangements with U = k is the coefficient of q^k in
 * the Gaussian binomial prod (1 - q^(n_b + i)) / (1 - q^i), i = 1 ... n_a; all coefficients stay
 * whole and below 2^53.
 */
static double exact_lower_tail(size_t n_a, size_t n_b, size_t u)
{
    double counts[STATS_MANN_WHITNEY_EXACT_MAX * STATS_MANN_WHITNEY_EXACT_MAX + 1] = {1};
    size_t top = n_a * n_b;
    double total = 0;
    double tail = 0;

    for (size_t i = 1; i <= n_a; i++) {
        for (size_t k = top; k >= n_b + i; k--)
            counts[k] -= counts[k - n_b - i];
        for (size_t k = i; k <= top; k++)
            counts[k] += counts[k - i];
    }
    for (size_t k = 0; k <= top; k++) {
        total += counts[k];
        if (k <= u)
            tail += counts[k];
    }
    return tail / total;
}

static double normal_two_sided(double n_a, double n_b, double u, double ties)
{
    double n = n_a + n_b;
    double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
    double distance = fabs(u - n_a * n_b / 2) - 0.5;

    if (!(variance > 0) || distance <= 0)
        return 1;
    return erfc(distance / sqrt(2 * variance));
}

int stats_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
                       struct stats_mann_whitney *ret_test)
{
    struct stats_mann_whitney test;
    double ties;
    int r;

    if (n_a == 0 || n_b == 0)
        return -EINVAL;
    for (size_t i = 0; i < n_a + n_b; i++)
        if (!isfinite(i < n_a ? a[i] : b[i - n_a]))
            return -EINVAL;
    r = count_pairs(a, n_a, b, n_b, &test.u, &ties);
    if (r < 0)
        return r;
    test.exact =
        !(ties > 0) && n_a <= STATS_MANN_WHITNEY_EXACT_MAX && n_b <= STATS_MANN_WHITNEY_EXACT_MAX;
    if (test.exact) {
        size_t u = (size_t)test.u; /* whole, since nothing is tied */
        size_t mirrored = n_a * n_b - u;

        test.p = fmin(1, 2 * exact_lower_tail(n_a, n_b, u < mirrored ? u : mirrored));
    } else {
        test.p = normal_two_sided((double)n_a, (double)n_b, test.u, ties);
    }
    *ret_test = test;
    return 0;
}

struct p_value {
    double p;
    size_t index;
};

static int compare_p(const void *left, const void *right)
{
    const struct p_value *x = left;
    const struct p_value *y = right;

    if (x->p < y->p || x->p > y->p)
        return x->p > y->p ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

int stats_holm(const double *p, size_t n, double *adjusted)
{
    struct p_value *known;
    size_t count = 0;
    double largest = 0;

    for (size_t i = 0; i < n; i++)
        if (p[i] < 0 || p[i] > 1)
            return -EINVAL;
    known = calloc(n ? n : 1, sizeof(*known));
    if (!known)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i]))
            known[count++] = (struct p_value){p[i], i};
    qsort(known, count, sizeof(*known), compare_p);
    for (size_t i = 0; i < n; i++)
        adjusted[i] = p[i];
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fmin(1, known[i].p * (double)(count - i)));
        adjusted[known[i].index] = largest;
    }
    free(known);
    return 0;
}

int stats_relative(const struct stats_summary *a, const struct stats_summary *b,
                   struct stats_ratio *ret_ratio)
{
    double ratio;

    if (!(a->mean > 0) || !(b->mean > 0))
        return -EDOM;
    ratio = a->mean / b->mean;
    /* The NaN of a sample without spread carries over. */
    *ret_ratio = (struct stats_ratio){
        .ratio = ratio,
        .sd = ratio * hypot(a->sd / a->mean, b->sd / b->mean),
    };
    return 0;
}

enum stats_verdict stats_judge(const struct stats_summary *a, const struct stats_summary *b,
                               double adjusted_p, double noise_floor)
{
    double difference;

    if (!(adjusted_p < STATS_ALPHA) || !(fabs(b->mean) > 0))
        return STATS_SAME;
    difference = a->mean - b->mean;
    if (!(fabs(difference / b->mean) > noise_floor))
        return STATS_SAME;
    return difference < 0 ? STATS_LOWER : STATS_HIGHER;
}
