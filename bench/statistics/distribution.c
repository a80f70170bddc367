#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "statistics/statistics.h"

/*
 * The continued fraction of DLMF 8.17.22 without its leading factor, by the modified Lentz method.
 * It converges in O(sqrt(max(a, b))) steps for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = DBL_MIN / DBL_EPSILON;
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    double fraction;

    if (fabs(d) < tiny)
        d = tiny;
    d = 1 / d;
    fraction = d;
    for (int m = 1; m < 100000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double step;

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        fraction *= d * c;

        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        step = d * c;
        fraction *= step;
        if (fabs(step - 1) <= DBL_EPSILON)
            break;
    }
    return fraction;
}

/* lgamma_r, since lgamma writes to a global. The arguments here are positive: the sign is always
 * +1. */
static double log_gamma(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

/* I_x(a, b) where y = 1 - x is given too, so that neither loses digits near 0. */
static double beta_with_complement(double a, double b, double x, double y)
{
    double log_factor;

    if (x <= 0)
        return 0;
    if (y <= 0)
        return 1;
    log_factor = a * log(x) + b * log(y) + log_gamma(a + b) - log_gamma(a) - log_gamma(b);
    if (x < (a + 1) / (a + b + 2))
        return exp(log_factor) * beta_fraction(a, b, x) / a;
    return 1 - exp(log_factor) * beta_fraction(b, a, y) / b;
}

double stats_incomplete_beta(double a, double b, double x)
{
    if (!(a > 0) || !(b > 0) || !(x >= 0) || !(x <= 1) || isinf(a) || isinf(b))
        return NAN;
    return beta_with_complement(a, b, x, 1 - x);
}

double stats_t_two_sided(double t, double df)
{
    double square = t * t;

    if (isnan(t) || !(df > 0) || isinf(df))
        return NAN;
    if (isinf(square))
        return 0;
    return beta_with_complement(df / 2, 0.5, df / (df + square), square / (df + square));
}

double stats_t_quantile(double p, double df)
{
    double tail = p < 0.5 ? p : 1 - p;
    double low = 0;
    double high = 1;

    if (!(p > 0) || !(p < 1) || !(df > 0) || isinf(df))
        return NAN;
    /* The tail is half of the two-sided p, which falls with |t|: bracket it, then halve down to
     * neighbouring doubles. */
    while (stats_t_two_sided(high, df) > 2 * tail && high < DBL_MAX / 2) {
        low = high;
        high *= 2;
    }
    for (;;) {
        double middle = low + (high - low) / 2;

        if (middle <= low || middle >= high)
            break;
        if (stats_t_two_sided(middle, df) > 2 * tail)
            low = middle;
        else
            high = middle;
    }
    return p < 0.5 ? -high : high;
}
