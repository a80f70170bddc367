/* The golden containers and their contents: computed, so that no second copy is kept. */
#ifndef TALLY_TESTS_GOLDEN_SET_H
#define TALLY_TESTS_GOLDEN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct golden {
    const char *name;  /* of the file, without ".container" */
    const char *codec; /* as in -o compress= */
    uint32_t chunk_bytes;
    bool open; /* as a crash leaves it: no index, no trailer */
    bool lost; /* chunk 2 was damaged, and the file repaired */
};

static const struct golden goldens[] = {
    {"raw-16k", "none", 16384, false, false},
    {"raw-16k-open", "none", 16384, true, false},
    {"lz4-16k", "lz4", 16384, false, false},
    {"lz4-128k", "lz4", 131072, false, false},
    {"lz4hc-1m", "lz4hc:9", 1048576, false, false},
    {"lz4-64k-open", "lz4", 65536, true, false},
    {"zstd-16k", "zstd:3", 16384, false, false},
    {"zstd-fast-32k", "zstd:-1", 32768, false, false},
    {"zstd-512k", "zstd:9", 524288, false, false},
    {"zstd-1m-open", "zstd:3", 1048576, true, false},
    {"gzip-32k", "gzip:6", 32768, false, false},
    {"gzip-256k", "gzip:1", 262144, false, false},
    {"gzip-1m-open", "gzip:9", 1048576, true, false},
    {"zstd-16k-lost", "zstd:3", 16384, false, true},
};

#define GOLDEN_COUNT (sizeof(goldens) / sizeof(goldens[0]))
#define GOLDEN_TAIL 5000u
#define GOLDEN_BYTES_MAX (3u * 1048576 + GOLDEN_TAIL)

static inline size_t golden_bytes(const struct golden *golden)
{
    return 3 * (size_t)golden->chunk_bytes + GOLDEN_TAIL;
}

/* 64 bytes over and over, of which the last goes through the alphabet. */
static inline void golden_text(uint8_t *data, size_t size, unsigned seed)
{
    static const char line[] = "tallyfs counts what is asked of a disk and keeps files compressed";

    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i % 64 == 63 ? "abcdefghijklmnopqrstuvwxyz"[(i / 64 + seed) % 26] : line[(i + seed) % 64]);
}

static inline void golden_noise(uint8_t *data, size_t size)
{
    uint32_t state = 1;

    for (size_t i = 0; i < size; i++) {
        state = state * 1664525 + 1013904223; /* Numerical Recipes' linear congruential generator */
        data[i] = (uint8_t)(state >> 24);
    }
}

/*
 * Chunk 0 text with two deltas; chunk 1 written and punched; chunk 2 text with a hole, cut off at 9000 and grown again;
 * then noise.
 */
static inline void golden_fill(const struct golden *golden, uint8_t *data)
{
    size_t chunk = golden->chunk_bytes;

    for (size_t i = 0; i < golden_bytes(golden); i++)
        data[i] = 0;
    golden_text(data, chunk, 1);
    golden_text(data + 5000, 3000, 2);
    for (size_t i = 100; i < 150; i++)
        data[i] = 'D';
    golden_text(data + 2 * chunk, 9000, 3);
    for (size_t i = 1000; i < 3000; i++)
        data[2 * chunk + i] = 0;
    golden_noise(data + 3 * chunk, GOLDEN_TAIL);
}

#endif
