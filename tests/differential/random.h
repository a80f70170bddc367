/* A random sequence that a seed gives, the same on every machine. */
#ifndef TALLY_DIFFERENTIAL_RANDOM_H
#define TALLY_DIFFERENTIAL_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

/* SplitMix64's finalizer, by Sebastiano Vigna, in the public domain. */
static inline uint64_t random_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t random_next(struct random *random)
{
    random->state += 0x9e3779b97f4a7c15u;
    return random_mix(random->state);
}

/* One of 0 … n - 1. */
static inline unsigned random_below(struct random *random, unsigned n)
{
    return (unsigned)((random_next(random) >> 32) * n >> 32);
}

static inline bool random_chance(struct random *random, unsigned percent)
{
    return random_below(random, 100) < percent;
}

#endif
