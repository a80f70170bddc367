/* The bytes that calls write, given by a kind, a seed and where they stand. */
#ifndef TALLY_DIFFERENTIAL_DATA_H
#define TALLY_DIFFERENTIAL_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "util/strbuf.h"

enum data_kind {
    DATA_ZERO,   /* nothing to store */
    DATA_BYTE,   /* one byte, the best that a codec can do */
    DATA_TEXT,   /* compresses */
    DATA_RANDOM, /* does not */
    DATA_MIXED,  /* each of these in runs of 512 bytes */
    DATA_KINDS,
};

#define DATA_SEED_BITS 32

static inline int64_t data_make(enum data_kind kind, uint32_t seed)
{
    return (int64_t)kind << DATA_SEED_BITS | seed;
}

/* Fills `to` with the bytes from `offset` on. */
void data_fill(int64_t data, uint64_t offset, unsigned char *to, size_t size);

void data_print(int64_t data, struct strbuf *to);
int data_parse(const char *text, int64_t *ret_data);

#endif
