/*
 * The statistics of trials. Pure functions: no I/O, no state, no allocation that outlives a call;
 * every function may be called from any thread. Values carry whatever unit the caller measured in;
 * results have the same unit unless the comment says otherwise. Inputs must be finite: anything
 * else is -EINVAL. Outputs are untouched on failure.
 */
#ifndef TALLY_STATISTICS_H
#define TALLY_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- one sample -- */

/*
 * What can be said of one configuration's trials. What a sample of one cannot tell (its spread) is
 * not available: has_spread is false and sd, ci_low, ci_high and relative_half_width are NaN, never
 * 0.
 */
struct stats_summary {
    size_t n; /* >= 1 */
    double mean;
    double median; /* of an even n: the mean of the two middle values */
    double min, max;
    bool has_spread; /* n >= 2 */
    double sd;       /* sample standard deviation, divisor n - 1 */
    double ci_low,
        ci_high; /* 95 % t-interval of the mean: mean -+ t(0.975, n - 1) * sd / sqrt(n) */
    double relative_half_width; /* half the interval over |mean|; the stop rule's figure. NaN when
                                   mean is 0 */
};

/* 0; -EINVAL for n = 0 or a value that is not finite; -ENOMEM. */
int stats_summarize(const double *values, size_t n, struct stats_summary *ret_summary);

/* Factor of the outlier rule: ten robust standard deviations of 1.4826 MAD each. */
#define STATS_OUTLIER_MADS 14.826

/*
 * Flags the values with |x - median| > 14.826 * MAD, where MAD is the median of |x -
 * median|. 1.4826 = 1 / z(0.75) makes the MAD an estimate of a normal sample's standard deviation
 * (Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993); ten of those is hyperfine's
 * threshold. With MAD = 0 (more than half of the values are equal) every value that differs from
 * the median is flagged. Flags are for footnotes: an outlier stays in every figure. flags[i]
 * belongs to values[i]. 0; -EINVAL as above; -ENOMEM.
 */
int stats_flag_outliers(const double *values, size_t n, bool *flags, size_t *ret_count);

/* For rates (bytes/s over equal amounts of bytes). 0; -EINVAL for n = 0; -EDOM unless all values
 * are > 0. */
int stats_harmonic_mean(const double *values, size_t n, double *ret_mean);

/* For ratios. 0; -EINVAL for n = 0; -EDOM unless all values are > 0. */
int stats_geometric_mean(const double *values, size_t n, double *ret_mean);

/* -- Student's t -- */

/*
 * The regularised incomplete beta function I_x(a, b), a, b > 0, 0 <= x <= 1, to about 1e-13: the
 * continued fraction of DLMF 8.17.22 (https://dlmf.nist.gov/8.17.v), evaluated by Lentz's method,
 * with I_x(a, b) = 1 - I_1-x(b, a) (DLMF 8.17.4) where that converges faster. NaN outside the
 * range.
 */
double stats_incomplete_beta(double a, double b, double x);

/* P(|T| >= |t|) for df > 0 degrees of freedom (any real): I_{df / (df + t^2)}(df / 2, 1/2). NaN
 * outside the range. */
double stats_t_two_sided(double t, double df);

/* The t with P(T <= t) = p, 0 < p < 1, df > 0. NaN outside the range. */
double stats_t_quantile(double p, double df);

/* -- two samples -- */

/* A sample by its moments, as published tables give it. */
struct stats_moments {
    double mean;
    double sd; /* >= 0, divisor n - 1 */
    size_t n;  /* >= 2 */
};

struct stats_welch {
    double t;  /* sign of mean(a) - mean(b) */
    double df; /* Welch-Satterthwaite, not rounded */
    double p;  /* two-sided, [0, 1] */
};

/*
 * Welch's t: no equal variances assumed (B. L. Welch, Biometrika 34, 1947). 0; -EINVAL for n < 2, a
 * negative sd or a figure that is not finite; -EDOM when neither sample has any spread, since then
 * there is nothing to measure the difference against.
 */
int stats_welch_moments(const struct stats_moments *a, const struct stats_moments *b,
                        struct stats_welch *ret_test);
int stats_welch(const double *a, size_t n_a, const double *b, size_t n_b,
                struct stats_welch *ret_test);

/* Largest sample for which Mann-Whitney is exact; beyond it, and with ties, it is the normal
 * approximation. */
#define STATS_MANN_WHITNEY_EXACT_MAX 20

struct stats_mann_whitney {
    double u; /* of sample a: pairs with a > b, ties counting one half */
    double p; /* two-sided, [0, 1] */
    bool exact;
};

/*
 * Mann-Whitney U (Ann. Math. Stat. 18, 1947). Exact null distribution for untied samples of at most
 * 20 each, by the Gaussian binomial coefficients that generate it; otherwise the normal
 * approximation with the correction for ties and for continuity. All values equal: p = 1. 0;
 * -EINVAL for an empty sample or a value that is not finite; -ENOMEM.
 */
int stats_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b,
                       struct stats_mann_whitney *ret_test);

/*
 * Holm's step-down adjustment (Scand. J. Statist. 6, 1979) of the p-values of one table:
 * adjusted[i] belongs to p[i], may be the same array, is in [p[i], 1]. A NaN (a test that could not
 * be made) stays NaN and is not counted. 0; -EINVAL for a p outside [0, 1]; -ENOMEM.
 */
int stats_holm(const double *p, size_t n, double *adjusted);

/* a relative to b. */
struct stats_ratio {
    double ratio; /* mean(a) / mean(b) */
    double sd;    /* of the ratio, first order propagation: ratio * sqrt((sd_a/mean_a)^2 +
                     (sd_b/mean_b)^2); NaN when    a sample has no spread figure */
};

/* 0; -EDOM when mean(a) or mean(b) is not > 0. */
int stats_relative(const struct stats_summary *a, const struct stats_summary *b,
                   struct stats_ratio *ret_ratio);

/* Below this adjusted p a difference counts, if it is beyond the noise floor too. */
#define STATS_ALPHA 0.05

enum stats_verdict {
    STATS_SAME = 0, /* printed as "~": not shown to differ */
    STATS_LOWER,    /* a is lower than b */
    STATS_HIGHER,
};

/*
 * Whether a differs from b: only when adjusted_p < STATS_ALPHA and |mean(a) / mean(b) - 1| >
 * noise_floor, the relative difference that an A/A run showed (>= 0, 0 when there was none). A NaN
 * p, or a mean(b) of 0, is STATS_SAME.
 */
enum stats_verdict stats_judge(const struct stats_summary *a, const struct stats_summary *b,
                               double adjusted_p, double noise_floor);

/* -- order of trials -- */

/*
 * Puts 0 ... n-1 into `order` for block number `block` of a randomised complete block design: a
 * Fisher-Yates shuffle (Durstenfeld, CACM 7, 1964) that depends on seed and block only, so that a
 * resumed run goes on in the same order. n < 2^32.
 */
void stats_block_order(uint64_t seed, uint64_t block, size_t *order, size_t n);

#endif
