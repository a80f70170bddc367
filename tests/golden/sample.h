/* The contents of the golden containers: computed, so that no second copy is kept. */
#ifndef TALLY_TESTS_SAMPLE_H
#define TALLY_TESTS_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLE_CHUNK 16384u
#define SAMPLE_BYTES (5 * SAMPLE_CHUNK + 777)

/*
 * Chunk 0 text with a delta at 100, chunk 1 noise of which only the first 2048 bytes are data, chunk 2 a hole, chunk 3
 * text of which 1000 bytes at 5000 were punched, chunk 4 truncated away and grown again, 777 bytes at the end.
 */
static inline void sample_fill(uint8_t data[static SAMPLE_BYTES])
{
    uint32_t state = 1;

    for (size_t i = 0; i < SAMPLE_BYTES; i++)
        data[i] = 0;
    for (size_t i = 0; i < SAMPLE_CHUNK; i++) {
        state = state * 1664525 + 1013904223; /* Numerical Recipes' linear congruential generator */
        data[i] = (uint8_t)("tally "[(state >> 24) % 6]);
        if (i < 2048)
            data[SAMPLE_CHUNK + i] = (uint8_t)(state >> 16);
        if (i < 5000 || i >= 6000)
            data[3 * SAMPLE_CHUNK + i] = (uint8_t)('0' + i / 7 % 10);
    }
    for (size_t i = 0; i < 50; i++)
        data[100 + i] = 'D';
    for (size_t i = 0; i < 777; i++)
        data[5 * SAMPLE_CHUNK + i] = 'z';
}

#endif
