/* Measures the compression ratios of a set on evenly spaced blocks of its files. */
#ifndef TALLY_CORPUS_SAMPLER_H
#define TALLY_CORPUS_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "corpus/corpus.h"

struct sampler {
    uint64_t stride; /* one block of this many is measured */
    uint64_t blocks; /* seen */
    uint64_t sampled;
    uint64_t original_bytes;
    uint64_t lz4_bytes, zlib6_bytes, zstd3_bytes;
    void *zstd; /* ZSTD_CCtx */
    char *output;
    size_t output_capacity;
};

/* For a set of about `expected_bytes`. 0; -ENOMEM. */
int sampler_init(struct sampler *sampler, uint64_t expected_bytes);

/*
 * Shows the next stretch of a file, which starts at a multiple of CORPUS_BLOCK_BYTES in it, and is
 * a multiple of that long unless it is the file's last. 0; -EIO when a compressor fails.
 */
int sampler_add(struct sampler *sampler, const void *bytes, size_t length);

struct corpus_ratios sampler_ratios(const struct sampler *sampler);

void sampler_free(struct sampler *sampler);

#endif
