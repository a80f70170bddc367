/*
 * A log-linear histogram of nanoseconds: 32 buckets for each power of two, so that a bucket is at most 1/32 of its
 * lower bound wide (the idea of HdrHistogram, G. Tene); values below 64 ns are exact. From 0 to 2^40 - 1 ns (18
 * minutes), and one bucket for all above. Histograms of threads, runs and hosts are added bucket by bucket.
 *
 * All functions are pure; thread safety is that of their arguments.
 */
#ifndef TALLY_HIST_H
#define TALLY_HIST_H

#include <stdint.h>

#define TALLY_HIST_SUB_BITS 5
#define TALLY_HIST_MAX_BITS 40
#define TALLY_HIST_OVERFLOW                                                                        \
    ((unsigned)((TALLY_HIST_MAX_BITS - TALLY_HIST_SUB_BITS + 1) << TALLY_HIST_SUB_BITS))
#define TALLY_HIST_BUCKETS (TALLY_HIST_OVERFLOW + 1)

/* The bucket of a value, 0 to TALLY_HIST_OVERFLOW. */
static inline unsigned tally_hist_index(uint64_t value_ns)
{
    unsigned shift;

    if (value_ns >> TALLY_HIST_MAX_BITS)
        return TALLY_HIST_OVERFLOW;
    if (value_ns < (UINT64_C(2) << TALLY_HIST_SUB_BITS))
        return (unsigned)value_ns;
    shift = 63U - (unsigned)__builtin_clzll(value_ns) - TALLY_HIST_SUB_BITS;
    return (shift << TALLY_HIST_SUB_BITS) + (unsigned)(value_ns >> shift);
}

/* The least value of a bucket, in ns; 2^40 for the overflow bucket. `index` must be below TALLY_HIST_BUCKETS. */
static inline uint64_t tally_hist_low(unsigned index)
{
    unsigned shift;

    if (index < (2U << TALLY_HIST_SUB_BITS))
        return index;
    shift = (index >> TALLY_HIST_SUB_BITS) - 1;
    return (uint64_t)(index - (shift << TALLY_HIST_SUB_BITS)) << shift;
}

/* Sizes of requests, in powers of two: 0, then from 1, 2, 4 …, and the last from 2^32 bytes on. */
#define TALLY_SIZE_BUCKETS 34

/* The bucket of a size, 0 to TALLY_SIZE_BUCKETS - 1. */
static inline unsigned tally_size_index(uint64_t bytes)
{
    unsigned bits = bytes ? 64U - (unsigned)__builtin_clzll(bytes) : 0;

    return bits < TALLY_SIZE_BUCKETS ? bits : TALLY_SIZE_BUCKETS - 1;
}

/* The least size of a bucket, in bytes. `index` must be below TALLY_SIZE_BUCKETS. */
static inline uint64_t tally_size_low(unsigned index)
{
    return index ? UINT64_C(1) << (index - 1) : 0;
}

/*
 * The value, in ns, at or below which `permille` thousandths (0 to 1000) of `count` samples lie: that of the integer rank
 * ceil(count * permille / 1000), at least 1, as the upper bound of its bucket, held within [min_ns, max_ns]. 0 without
 * samples; max_ns for a rank in the overflow bucket.
 */
uint64_t tally_hist_percentile(const uint64_t buckets[static TALLY_HIST_BUCKETS], uint64_t count,
                               unsigned permille, uint64_t min_ns, uint64_t max_ns);

#endif
