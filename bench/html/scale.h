/* From values to places on a page. Pure. */
#ifndef TALLY_BENCH_SCALE_H
#define TALLY_BENCH_SCALE_H

#include <stdbool.h>
#include <stddef.h>

struct scale {
    double low, high; /* values; low > 0 on a logarithmic scale, low < high */
    double from, to;  /* the places of low and high */
    bool logarithmic;
};

/* From `low` to at least `high`, up to the next round tick. */
struct scale scale_linear(double low, double high, double from, double to);

/* From the power of ten below `low` to the one above `high`; both are > 0. */
struct scale scale_logarithmic(double low, double high, double from, double to);

/* Values outside are put at the nearer end. */
double scale_place(const struct scale *scale, double value);

#define SCALE_MAX_TICKS 16

/* Round values in rising order: multiples of 1, 2 or 5 times a power of ten, or powers of ten. Returns how many. */
size_t scale_ticks(const struct scale *scale, double ticks[static SCALE_MAX_TICKS]);

#endif
