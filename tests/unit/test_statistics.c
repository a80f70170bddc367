#include "harness.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>

#include "statistics/random.h"
#include "statistics/statistics.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    do {                                                                                           \
        double actual_ = (actual), expected_ = (expected);                                         \
        if (!(fabs(actual_ - expected_) <= (tolerance)))                                           \
            FAIL("%s is %.15g, not %.15g", #actual, actual_, expected_);                           \
    } while (0)

static void summarizes_known_values(void)
{
    static const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    struct stats_summary s;

    CHECK_EQ(stats_summarize(values, COUNT(values), &s), 0);
    CHECK_EQ(s.n, 8);
    CHECK_NEAR(s.mean, 5, 1e-15);
    CHECK_NEAR(s.median, 4.5, 0);
    CHECK_NEAR(s.min, 2, 0);
    CHECK_NEAR(s.max, 9, 0);
    CHECK(s.has_spread);
    CHECK_NEAR(s.sd, sqrt(32.0 / 7), 1e-15);
    CHECK_NEAR((s.ci_high - s.ci_low) / 2, 2.364624251592785 * sqrt(32.0 / 7 / 8), 1e-12);
    CHECK_NEAR((s.ci_high + s.ci_low) / 2, 5, 1e-14);
    CHECK_NEAR(s.relative_half_width, (s.ci_high - s.mean) / 5, 1e-15);
}

static void has_no_spread_when_n_is_one(void)
{
    const double value = 828.07;
    struct stats_summary s;

    CHECK_EQ(stats_summarize(&value, 1, &s), 0);
    CHECK(!s.has_spread);
    CHECK(isnan(s.sd));
    CHECK(isnan(s.ci_low) && isnan(s.ci_high) && isnan(s.relative_half_width));
    CHECK_NEAR(s.mean, 828.07, 0);
    CHECK_NEAR(s.median, 828.07, 0);
}

static void leaves_the_output_alone_when_input_is_bad(void)
{
    const double bad[] = {1, NAN, 2};
    const double infinite[] = {1, INFINITY};
    struct stats_summary s = {.n = 77};
    struct stats_welch w = {.df = 77};
    struct stats_mann_whitney u = {.u = 77};
    double mean = 77;

    CHECK_EQ(stats_summarize(NULL, 0, &s), -EINVAL);
    CHECK_EQ(stats_summarize(bad, 3, &s), -EINVAL);
    CHECK_EQ(stats_summarize(infinite, 2, &s), -EINVAL);
    CHECK_EQ(s.n, 77);
    CHECK_EQ(stats_welch(bad, 1, infinite, 1, &w), -EINVAL);
    CHECK_EQ(stats_welch((double[]){1, 1}, 2, (double[]){2, 2}, 2, &w), -EDOM);
    CHECK_EQ(stats_welch_moments(&(struct stats_moments){1, -1, 4},
                                 &(struct stats_moments){1, 1, 4}, &w),
             -EINVAL);
    CHECK_NEAR(w.df, 77, 0);
    CHECK_EQ(stats_mann_whitney(bad, 3, infinite, 1, &u), -EINVAL);
    CHECK_EQ(stats_mann_whitney(infinite, 1, infinite, 0, &u), -EINVAL);
    CHECK_NEAR(u.u, 77, 0);
    CHECK_EQ(stats_harmonic_mean((double[]){1, 0}, 2, &mean), -EDOM);
    CHECK_EQ(stats_geometric_mean((double[]){1, -2}, 2, &mean), -EDOM);
    CHECK_EQ(stats_geometric_mean(NULL, 0, &mean), -EINVAL);
    CHECK_NEAR(mean, 77, 0);
}

/*
 * The NumAcc sets of NIST's Statistical Reference Datasets (univariate summary statistics): made so
 * that one-pass formulas lose all their digits. Certified: the mean in `mean`, sd 1 or 0.1.
 */
static void keeps_its_digits_on_nist_numacc_sets(void)
{
    static const struct {
        double base, step, mean;
        size_t n;
        double tolerance; /* of the sd: the inputs themselves are rounded */
    } rows[] = {
        {1.2, 0.1, 1.2, 1001, 1e-14},
        {1000000.2, 0.1, 1000000.2, 1001, 1e-9},
        {10000000.2, 0.1, 10000000.2, 1001, 1e-8},
    };
    static const double numacc1[] = {10000001, 10000003, 10000002};
    static double values[1001];
    struct stats_summary s;

    CHECK_EQ(stats_summarize(numacc1, 3, &s), 0);
    CHECK_NEAR(s.mean, 10000002, 0);
    CHECK_NEAR(s.sd, 1, 0);
    for (size_t row = 0; row < COUNT(rows); row++) {
        for (size_t i = 0; i < rows[row].n; i++)
            values[i] = i == 0 ? rows[row].base
                               : rows[row].base + (i % 2 ? -rows[row].step : rows[row].step);
        CHECK_EQ(stats_summarize(values, rows[row].n, &s), 0);
        CHECK_NEAR(s.mean, rows[row].mean, rows[row].mean * 1e-15);
        CHECK_NEAR(s.sd, 0.1, rows[row].tolerance);
    }
}

static void means_of_rates_and_ratios_are_known(void)
{
    double mean;

    CHECK_EQ(stats_harmonic_mean((double[]){40, 60}, 2, &mean), 0);
    CHECK_NEAR(mean, 48, 1e-13);
    CHECK_EQ(stats_geometric_mean((double[]){1, 10, 100}, 3, &mean), 0);
    CHECK_NEAR(mean, 10, 1e-13);
}

/* Quantiles as printed in t tables (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2),
 * three decimals. */
static void t_quantile_matches_published_tables(void)
{
    static const struct {
        double df, p95, p975, p995;
    } rows[] = {
        {1, 6.314, 12.706, 63.657}, {2, 2.920, 4.303, 9.925},  {3, 2.353, 3.182, 5.841},
        {4, 2.132, 2.776, 4.604},   {5, 2.015, 2.571, 4.032},  {6, 1.943, 2.447, 3.707},
        {7, 1.895, 2.365, 3.499},   {8, 1.860, 2.306, 3.355},  {9, 1.833, 2.262, 3.250},
        {10, 1.812, 2.228, 3.169},  {15, 1.753, 2.131, 2.947}, {20, 1.725, 2.086, 2.845},
        {30, 1.697, 2.042, 2.750},  {60, 1.671, 2.000, 2.660}, {100, 1.660, 1.984, 2.626},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_NEAR(stats_t_quantile(0.95, rows[i].df), rows[i].p95, 5.01e-4);
        CHECK_NEAR(stats_t_quantile(0.975, rows[i].df), rows[i].p975, 5.01e-4);
        CHECK_NEAR(stats_t_quantile(0.995, rows[i].df), rows[i].p995, 5.01e-4);
        CHECK_NEAR(stats_t_quantile(0.025, rows[i].df), -rows[i].p975, 5.01e-4);
    }
    CHECK_NEAR(stats_t_quantile(0.975, 1e7), 1.959964, 1e-5);
}

/* For 1 and 2 degrees of freedom the distribution has a closed form. */
static void t_quantile_matches_the_closed_forms(void)
{
    for (double p = 0.001; p < 1; p += 0.0137) {
        double cauchy = tan(acos(-1) * (p - 0.5));
        double two = (2 * p - 1) / sqrt(2 * p * (1 - p));

        CHECK_NEAR(stats_t_quantile(p, 1), cauchy, 1e-11 * fmax(1, fabs(cauchy)));
        CHECK_NEAR(stats_t_quantile(p, 2), two, 1e-11 * fmax(1, fabs(two)));
    }
    CHECK_NEAR(stats_t_quantile(0.5, 3.7), 0, 1e-12);
}

static void t_tail_is_the_inverse_of_its_quantile(void)
{
    for (double df = 0.5; df < 300; df *= 1.7)
        for (double p = 1e-6; p < 0.5; p *= 3.1) {
            CHECK_NEAR(stats_t_two_sided(stats_t_quantile(p, df), df), 2 * p, 1e-11 * p);
            CHECK_NEAR(stats_t_quantile(p, df), -stats_t_quantile(1 - p, df),
                       1e-8 * fabs(stats_t_quantile(p, df)));
        }
    CHECK(isnan(stats_t_two_sided(1, 0)));
    CHECK(isnan(stats_t_two_sided(NAN, 3)));
    CHECK(isnan(stats_t_quantile(0, 3)));
    CHECK(isnan(stats_t_quantile(1, 3)));
    CHECK(isnan(stats_t_quantile(0.5, -1)));
    CHECK_NEAR(stats_t_two_sided(0, 5), 1, 0);
    CHECK_NEAR(stats_t_two_sided(INFINITY, 5), 0, 0);
}

static void incomplete_beta_obeys_its_identities(void)
{
    for (double a = 0.3; a < 400; a *= 2.3)
        for (double x = 0; x <= 1; x += 0.0625) {
            CHECK_NEAR(stats_incomplete_beta(a, 1, x), pow(x, a), 1e-12);
            CHECK_NEAR(stats_incomplete_beta(1, a, x), 1 - pow(1 - x, a), 1e-12);
            CHECK_NEAR(stats_incomplete_beta(a, 2.5, x) + stats_incomplete_beta(2.5, a, 1 - x), 1,
                       1e-12);
            CHECK_NEAR(stats_incomplete_beta(a, a, 0.5), 0.5, 1e-12);
        }
    /* DLMF 8.17.20: I_x(a, b) = I_x(a + 1, b) + x^a (1-x)^b / (a B(a, b)), here with B(2, 3) = 1
     * / 12. */
    CHECK_NEAR(stats_incomplete_beta(2, 3, 0.3) - stats_incomplete_beta(3, 3, 0.3),
               0.09 * 0.343 * 12 / 2, 1e-13);
    CHECK(isnan(stats_incomplete_beta(0, 1, 0.5)));
    CHECK(isnan(stats_incomplete_beta(1, 1, 1.5)));
}

/* From the published means, sample deviations and numbers of trials of copying and deleting trigger
 * files. */
static void welch_matches_the_golden_vectors(void)
{
    static const struct stats_moments copy_zfs_lz4 = {828.07, 9.96, 4};
    static const struct stats_moments copy_zfs_lzjb = {829.53, 5.66, 4};
    static const struct stats_moments copy_btrfs_lzo = {819.99, 11.55, 4};
    static const struct stats_moments copy_ext4 = {866.55, 5.48, 8};
    static const struct stats_moments copy_xfs = {866.71, 5.30, 4};
    static const struct stats_moments delete_btrfs_zlib = {12.72, 0.37, 4};
    static const struct stats_moments delete_btrfs_lzo = {13.67, 0.41, 4};
    static const struct stats_moments delete_ext4 = {1.58, 0.17, 8};
    static const struct stats_moments delete_xfs = {1.72, 0.36, 4};
    static const struct {
        const struct stats_moments *a, *b;
        double t, df, p, p_digit;
    } rows[] = {
        {&copy_zfs_lz4, &copy_zfs_lzjb, -0.2549, 4.755, 0.809, 1e-3},
        {&copy_zfs_lz4, &copy_btrfs_lzo, 1.0596, 5.873, 0.331, 1e-3},
        {&copy_ext4, &copy_xfs, -0.0487, 6.294, 0.963, 1e-3},
        {&copy_zfs_lz4, &copy_ext4, -7.2011, 3.938, 0.0021, 1e-4},
        {&delete_btrfs_zlib, &delete_btrfs_lzo, -3.4404, 5.938, 0.0140, 1e-4},
        {&delete_ext4, &delete_xfs, -0.7377, 3.687, 0.505, 1e-3},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct stats_welch forth;
        struct stats_welch back;

        CHECK_EQ(stats_welch_moments(rows[i].a, rows[i].b, &forth), 0);
        CHECK_NEAR(forth.t, rows[i].t, 0.5001e-4);
        CHECK_NEAR(forth.df, rows[i].df, 0.5001e-3);
        CHECK_NEAR(forth.p, rows[i].p, 0.5001 * rows[i].p_digit);
        CHECK_EQ(stats_welch_moments(rows[i].b, rows[i].a, &back), 0);
        CHECK_NEAR(back.t, -forth.t, 1e-14);
        CHECK_NEAR(back.df, forth.df, 1e-13);
        CHECK_NEAR(back.p, forth.p, 1e-15);
    }
}

/*
 * df lies between min(n) - 1 and n_a + n_b - 2; t and p do not depend on the unit or the zero of
 * the measurement; raw values and their moments give the same test.
 */
static void welch_keeps_its_properties_on_random_samples(void)
{
    struct random_stream random = random_stream(1, 0);

    for (int round = 0; round < 300; round++) {
        double a[12], b[12], shifted_a[12], shifted_b[12];
        size_t n_a = 2 + random_below(&random, 11);
        size_t n_b = 2 + random_below(&random, 11);
        double scale_b = 1 + random_below(&random, 100);
        struct stats_summary summary_a, summary_b;
        struct stats_welch raw, shifted, moments;

        for (size_t i = 0; i < n_a; i++) {
            a[i] = random_below(&random, 1u << 20) / 1048576.0;
            shifted_a[i] = 1000 * a[i] + 5;
        }
        for (size_t i = 0; i < n_b; i++) {
            b[i] = scale_b * random_below(&random, 1u << 20) / 1048576.0;
            shifted_b[i] = 1000 * b[i] + 5;
        }
        CHECK_EQ(stats_welch(a, n_a, b, n_b, &raw), 0);
        CHECK_EQ(stats_welch(shifted_a, n_a, shifted_b, n_b, &shifted), 0);
        CHECK(raw.df >= (double)(n_a < n_b ? n_a : n_b) - 1 - 1e-9);
        CHECK(raw.df <= (double)(n_a + n_b) - 2 + 1e-9);
        CHECK(raw.p >= 0 && raw.p <= 1);
        CHECK_NEAR(shifted.t, raw.t, 1e-7 * fmax(1, fabs(raw.t)));
        CHECK_NEAR(shifted.p, raw.p, 1e-7);
        CHECK_EQ(stats_summarize(a, n_a, &summary_a), 0);
        CHECK_EQ(stats_summarize(b, n_b, &summary_b), 0);
        CHECK_EQ(stats_welch_moments(&(struct stats_moments){summary_a.mean, summary_a.sd, n_a},
                                     &(struct stats_moments){summary_b.mean, summary_b.sd, n_b},
                                     &moments),
                 0);
        CHECK_NEAR(moments.t, raw.t, 1e-12 * fmax(1, fabs(raw.t)));
        /* A p below 0.05 and an interval of the difference that excludes zero are the same
         * statement. */
        CHECK((raw.p < 0.05) == (fabs(raw.t) > stats_t_quantile(0.975, raw.df)));
    }
}

static void mann_whitney_matches_known_cases(void)
{
    /* Permeability constants, Hollander & Wolfe (1973): U = 35, one-sided p = 0.1272. */
    static const double at_term[] = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    static const double early[] = {1.15, 0.88, 0.90, 0.74, 1.21};
    static const double low[] = {1, 2, 3, 4};
    static const double high[] = {5, 6, 7, 8};
    static const double equal[] = {3, 3, 3};
    static const double tied_a[] = {1, 2, 2, 3};
    static const double tied_b[] = {2, 3, 4, 5};
    struct stats_mann_whitney test;

    CHECK_EQ(stats_mann_whitney(at_term, 10, early, 5, &test), 0);
    CHECK(test.exact);
    CHECK_NEAR(test.u, 35, 0);
    CHECK_NEAR(test.p, 2 * 0.1272, 1e-4);

    CHECK_EQ(stats_mann_whitney(low, 4, high, 4, &test), 0);
    CHECK_NEAR(test.u, 0, 0);
    CHECK_NEAR(test.p, 2.0 / 70, 1e-15);
    CHECK_EQ(stats_mann_whitney(high, 4, low, 4, &test), 0);
    CHECK_NEAR(test.u, 16, 0);
    CHECK_NEAR(test.p, 2.0 / 70, 1e-15);

    CHECK_EQ(stats_mann_whitney(equal, 3, equal, 3, &test), 0);
    CHECK(!test.exact);
    CHECK_NEAR(test.u, 4.5, 0);
    CHECK_NEAR(test.p, 1, 0);

    /* By hand: U = 2.5, variance 16/12 (9 - 30/56), z = 5 / sqrt(variance). */
    CHECK_EQ(stats_mann_whitney(tied_a, 4, tied_b, 4, &test), 0);
    CHECK(!test.exact);
    CHECK_NEAR(test.u, 2.5, 0);
    CHECK_NEAR(test.p, erfc(5 / sqrt(16.0 / 12 * (9 - 30.0 / 56)) / sqrt(2)), 1e-14);
    CHECK_NEAR(test.p, 0.1367, 5e-5);
}

/* Over all choices of n_a of n_a + n_b ranks, each p must be the fraction of choices at least as
 * extreme. */
static void mann_whitney_is_exact_against_enumeration(void)
{
    for (size_t n_a = 1; n_a <= 5; n_a++)
        for (size_t n_b = 1; n_b <= 5; n_b++) {
            size_t n = n_a + n_b;
            double p_of_u[26] = {0};
            size_t with_u[26] = {0};
            size_t choices = 0;

            for (unsigned int mask = 0; mask < 1u << n; mask++) {
                double a[10], b[10];
                size_t in_a = 0;
                size_t in_b = 0;
                struct stats_mann_whitney test;

                if ((size_t)__builtin_popcount(mask) != n_a)
                    continue;
                for (size_t i = 0; i < n; i++) {
                    if (mask >> i & 1)
                        a[in_a++] = (double)i;
                    else
                        b[in_b++] = (double)i;
                }
                CHECK_EQ(stats_mann_whitney(a, n_a, b, n_b, &test), 0);
                CHECK(test.exact);
                p_of_u[(size_t)test.u] = test.p;
                with_u[(size_t)test.u]++;
                choices++;
            }
            for (size_t u = 0; u <= n_a * n_b; u++) {
                size_t extreme = 0;

                for (size_t k = 0; k <= n_a * n_b; k++)
                    if (fabs(2.0 * (double)k - (double)(n_a * n_b)) >=
                        fabs(2.0 * (double)u - (double)(n_a * n_b)))
                        extreme += with_u[k];
                CHECK_NEAR(p_of_u[u], fmin(1, (double)extreme / (double)choices), 1e-14);
            }
        }
}

/* One value more makes it the approximation; put in the middle of both samples it hardly changes p.
 */
static void mann_whitney_approximation_continues_the_exact_values(void)
{
    for (size_t shift = 0; shift <= 10; shift++) {
        double a[21], b[20];
        struct stats_mann_whitney exact, approximate;

        for (size_t i = 0; i < 20; i++) {
            a[i] = (double)(2 * i);
            b[i] = (double)(2 * (i + shift)) + 1;
        }
        a[20] = (double)(20 + shift) + 0.25;
        CHECK_EQ(stats_mann_whitney(a, 20, b, 20, &exact), 0);
        CHECK_EQ(stats_mann_whitney(a, 21, b, 20, &approximate), 0);
        CHECK(exact.exact);
        CHECK(!approximate.exact);
        CHECK_NEAR(approximate.p, exact.p, 0.02);
    }
}

static void holm_matches_known_adjustment(void)
{
    static const double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
    static const double expected[] = {0.03, 0.06, NAN, 0.06, 0.02};
    double adjusted[5];
    double in_place[] = {0.9, 0.6, 1};

    CHECK_EQ(stats_holm(p, 5, adjusted), 0);
    for (size_t i = 0; i < 5; i++) {
        if (isnan(expected[i]))
            CHECK(isnan(adjusted[i]));
        else
            CHECK_NEAR(adjusted[i], expected[i], 1e-15);
    }
    CHECK_EQ(stats_holm(in_place, 3, in_place), 0);
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(in_place[i], 1, 0);
    CHECK_EQ(stats_holm(NULL, 0, NULL), 0);
    CHECK_EQ(stats_holm((double[]){1.5}, 1, adjusted), -EINVAL);
    CHECK_EQ(stats_holm((double[]){-0.1}, 1, adjusted), -EINVAL);
}

static void holm_never_lowers_a_p_nor_swaps_two(void)
{
    struct random_stream random = random_stream(2, 0);

    for (int round = 0; round < 300; round++) {
        double p[20], adjusted[20];
        size_t n = 1 + random_below(&random, 20);

        for (size_t i = 0; i < n; i++)
            p[i] = random_below(&random, 1000) / 1000.0;
        CHECK_EQ(stats_holm(p, n, adjusted), 0);
        for (size_t i = 0; i < n; i++) {
            CHECK(adjusted[i] >= p[i] && adjusted[i] <= fmin(1, p[i] * (double)n) + 1e-15);
            for (size_t j = 0; j < n; j++)
                CHECK(!(p[i] < p[j]) || adjusted[i] <= adjusted[j]);
        }
    }
}

static void flags_outliers_beyond_ten_robust_deviations(void)
{
    /* median 5, absolute deviations 2 1 0 1 14.9 -> MAD 1: the limit is 14.826. */
    static const double beyond[] = {3, 4, 5, 6, 19.9};
    static const double within[] = {3, 4, 5, 6, 19.8};
    static const double same[] = {7, 7, 7, 8};
    bool flags[5];
    size_t count = 77;

    CHECK_EQ(stats_flag_outliers(beyond, 5, flags, &count), 0);
    CHECK_EQ(count, 1);
    CHECK(flags[4] && !flags[0] && !flags[1] && !flags[2] && !flags[3]);
    CHECK_EQ(stats_flag_outliers(within, 5, flags, &count), 0);
    CHECK_EQ(count, 0);
    CHECK_EQ(stats_flag_outliers(same, 4, flags, &count), 0);
    CHECK_EQ(count, 1);
    CHECK(flags[3]);
    CHECK_EQ(stats_flag_outliers(same, 3, flags, &count), 0);
    CHECK_EQ(count, 0);
    CHECK_EQ(stats_flag_outliers(same, 0, flags, &count), -EINVAL);
}

static void relates_two_samples(void)
{
    const double base[] = {9, 10, 11};
    const double slower[] = {19, 20, 21};
    struct stats_summary a, b, single;
    struct stats_ratio ratio;

    CHECK_EQ(stats_summarize(base, 3, &a), 0);
    CHECK_EQ(stats_summarize(slower, 3, &b), 0);
    CHECK_EQ(stats_summarize(base, 1, &single), 0);
    CHECK_EQ(stats_relative(&b, &a, &ratio), 0);
    CHECK_NEAR(ratio.ratio, 2, 1e-15);
    CHECK_NEAR(ratio.sd, 2 * sqrt(0.01 + 0.0025), 1e-15);
    CHECK_EQ(stats_relative(&b, &single, &ratio), 0);
    CHECK(isnan(ratio.sd));

    CHECK_EQ(stats_judge(&b, &a, 0.01, 0.5), STATS_HIGHER);
    CHECK_EQ(stats_judge(&a, &b, 0.01, 0.1), STATS_LOWER);
    CHECK_EQ(stats_judge(&b, &a, 0.05, 0.5), STATS_SAME);
    CHECK_EQ(stats_judge(&b, &a, 0.01, 1.0), STATS_SAME);
    CHECK_EQ(stats_judge(&b, &a, NAN, 0), STATS_SAME);
}

/* The first outputs of the reference implementation for state 1234567. */
static void random_stream_is_splitmix64(void)
{
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821),
    };
    struct random_stream random = {1234567};

    for (size_t i = 0; i < COUNT(expected); i++)
        CHECK(random_next(&random) == expected[i]);
}

static void block_order_is_fixed_by_seed_and_block(void)
{
    static const size_t expected[] = {7, 2, 3, 5, 6, 0, 1, 4};
    size_t order[8];
    size_t again[8];

    stats_block_order(42, 3, order, 8);
    for (size_t i = 0; i < 8; i++)
        CHECK_EQ(order[i], expected[i]);
    stats_block_order(42, 4, again, 8);
    CHECK(memcmp(order, again, sizeof(order)) != 0);
    stats_block_order(43, 3, again, 8);
    CHECK(memcmp(order, again, sizeof(order)) != 0);
    stats_block_order(42, 3, order, 1);
    CHECK_EQ(order[0], 0);
    stats_block_order(42, 3, NULL, 0);
}

/* Each of the 24 orders of 4 in 24000 blocks: chi-square with 23 degrees of freedom below its
 * 0.9999 quantile. */
static void block_order_is_uniform_over_blocks(void)
{
    size_t seen[256] = {0};
    double chi_square = 0;
    size_t orders = 0;

    for (uint64_t block = 0; block < 24000; block++) {
        size_t order[4];
        size_t present[4] = {0};

        stats_block_order(7, block, order, 4);
        for (size_t i = 0; i < 4; i++)
            present[order[i]]++;
        for (size_t i = 0; i < 4; i++)
            CHECK_EQ(present[i], 1);
        seen[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
    }
    for (size_t i = 0; i < COUNT(seen); i++)
        if (seen[i]) {
            chi_square += ((double)seen[i] - 1000) * ((double)seen[i] - 1000) / 1000;
            orders++;
        }
    CHECK_EQ(orders, 24);
    CHECK(chi_square < 59.2);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(summarizes_known_values),
        CASE(has_no_spread_when_n_is_one),
        CASE(leaves_the_output_alone_when_input_is_bad),
        CASE(keeps_its_digits_on_nist_numacc_sets),
        CASE(means_of_rates_and_ratios_are_known),
        CASE(t_quantile_matches_published_tables),
        CASE(t_quantile_matches_the_closed_forms),
        CASE(t_tail_is_the_inverse_of_its_quantile),
        CASE(incomplete_beta_obeys_its_identities),
        CASE(welch_matches_the_golden_vectors),
        CASE(welch_keeps_its_properties_on_random_samples),
        CASE(mann_whitney_matches_known_cases),
        CASE(mann_whitney_is_exact_against_enumeration),
        CASE(mann_whitney_approximation_continues_the_exact_values),
        CASE(holm_matches_known_adjustment),
        CASE(holm_never_lowers_a_p_nor_swaps_two),
        CASE(flags_outliers_beyond_ten_robust_deviations),
        CASE(relates_two_samples),
        CASE(random_stream_is_splitmix64),
        CASE(block_order_is_fixed_by_seed_and_block),
        CASE(block_order_is_uniform_over_blocks),
    };

    return RUN_CASES(cases);
}
