/*
 * SplitMix64: the n-th number of a stream is a mix of key + n * gamma, so that it is a
 * counter-based generator: any position of any stream can be had at once, on every machine the
 * same.
 *
 * Source: G. L. Steele Jr., D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014; the constants are those of S. Vigna's public-domain version,
 * https://prng.di.unimi.it/splitmix64.c.
 *
 * Not for secrets. Pure; a stream belongs to one thread.
 */
#ifndef TALLY_STATISTICS_RANDOM_H
#define TALLY_STATISTICS_RANDOM_H

#include <stdint.h>

#define RANDOM_GAMMA UINT64_C(0x9e3779b97f4a7c15)

struct random_stream {
    uint64_t state;
};

static inline uint64_t random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The stream number `index` of `seed`: streams of one seed are independent for every practical
 * length. */
static inline struct random_stream random_stream(uint64_t seed, uint64_t index)
{
    return (struct random_stream){random_mix(random_mix(seed + RANDOM_GAMMA) ^ index)};
}

/* The next 64 uniform bits. */
static inline uint64_t random_next(struct random_stream *stream)
{
    stream->state += RANDOM_GAMMA;
    return random_mix(stream->state);
}

/*
 * A number in [0, bound), bound > 0. The multiply-shift of D. Lemire, "Fast random integer
 * generation in an interval" (2019), without its rejection step: the bias is below bound / 2^32,
 * which no use here can see.
 */
static inline uint32_t random_below(struct random_stream *stream, uint32_t bound)
{
    return (uint32_t)(((random_next(stream) >> 32) * bound) >> 32);
}

/* A number in [low, high], low <= high, high - low < 2^32 - 1. */
static inline uint32_t random_between(struct random_stream *stream, uint32_t low, uint32_t high)
{
    return low + random_below(stream, high - low + 1);
}

#endif
