#include "html/scale.h"

#include <math.h>

/* As many steps as fit on a phone without their labels touching. */
#define LINEAR_STEPS 5

static double round_step(double range)
{
    double power = pow(10, floor(log10(range / LINEAR_STEPS)));
    double lead = range / LINEAR_STEPS / power;

    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

struct scale scale_linear(double low, double high, double from, double to)
{
    double step;

    if (!(high > low))
        high = low + 1;
    step = round_step(high - low);
    return (struct scale){low, low + step * ceil((high - low) / step - 1e-9), from, to, false};
}

struct scale scale_logarithmic(double low, double high, double from, double to)
{
    double first = pow(10, floor(log10(low)));
    double last = pow(10, ceil(log10(high)));

    return (struct scale){first, last > first ? last : 10 * first, from, to, true};
}

double scale_place(const struct scale *scale, double value)
{
    double part;

    value = fmin(fmax(value, scale->low), scale->high);
    if (scale->logarithmic)
        part = log(value / scale->low) / log(scale->high / scale->low);
    else
        part = (value - scale->low) / (scale->high - scale->low);
    return scale->from + part * (scale->to - scale->from);
}

size_t scale_ticks(const struct scale *scale, double ticks[static SCALE_MAX_TICKS])
{
    double step = scale->logarithmic ? 10 : round_step(scale->high - scale->low);
    double value = scale->low;
    size_t count = 0;

    while (count < SCALE_MAX_TICKS && value <= scale->high * (1 + 1e-9)) {
        ticks[count++] = value;
        value = scale->logarithmic ? value * step : scale->low + (double)count * step;
    }
    return count;
}
