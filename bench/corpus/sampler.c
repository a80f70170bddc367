#include "corpus/sampler.h"

#include <errno.h>
#include <lz4.h>
#include <math.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define WANTED_BLOCKS 128

int sampler_init(struct sampler *sampler, uint64_t expected_bytes)
{
    size_t lz4_bound = (size_t)LZ4_compressBound((int)CORPUS_BLOCK_BYTES);
    size_t zlib_bound = compressBound(CORPUS_BLOCK_BYTES);
    size_t zstd_bound = ZSTD_compressBound(CORPUS_BLOCK_BYTES);
    uint64_t stride = expected_bytes / CORPUS_BLOCK_BYTES / WANTED_BLOCKS;

    *sampler = (struct sampler){.stride = stride ? stride : 1};
    sampler->output_capacity = lz4_bound > zlib_bound ? lz4_bound : zlib_bound;
    if (sampler->output_capacity < zstd_bound)
        sampler->output_capacity = zstd_bound;
    sampler->output = malloc(sampler->output_capacity);
    sampler->zstd = ZSTD_createCCtx();
    if (!sampler->output || !sampler->zstd) {
        sampler_free(sampler);
        return -ENOMEM;
    }
    return 0;
}

static int measure(struct sampler *sampler, const void *block, size_t length)
{
    int lz4_bytes =
        LZ4_compress_default(block, sampler->output, (int)length, (int)sampler->output_capacity);
    uLongf zlib_bytes = sampler->output_capacity;
    int zlib_status = compress2((Bytef *)sampler->output, &zlib_bytes, block, length, 6);
    size_t zstd_bytes = ZSTD_compressCCtx(sampler->zstd, sampler->output, sampler->output_capacity,
                                          block, length, 3);

    if (lz4_bytes <= 0 || zlib_status != Z_OK || ZSTD_isError(zstd_bytes))
        return -EIO;
    sampler->original_bytes += length;
    sampler->lz4_bytes += (uint64_t)lz4_bytes;
    sampler->zlib6_bytes += zlib_bytes;
    sampler->zstd3_bytes += zstd_bytes;
    sampler->sampled++;
    return 0;
}

int sampler_add(struct sampler *sampler, const void *bytes, size_t length)
{
    const char *block = bytes;

    while (length) {
        size_t part = length < CORPUS_BLOCK_BYTES ? length : CORPUS_BLOCK_BYTES;

        /* The middle of each stride: neither the first block of a set nor a multiple of anything in
         * particular. */
        if (sampler->blocks++ % sampler->stride == sampler->stride / 2) {
            int r = measure(sampler, block, part);

            if (r < 0)
                return r;
        }
        block += part;
        length -= part;
    }
    return 0;
}

struct corpus_ratios sampler_ratios(const struct sampler *sampler)
{
    double original = sampler->original_bytes ? (double)sampler->original_bytes : NAN;

    return (struct corpus_ratios){
        .lz4 = (double)sampler->lz4_bytes / original,
        .zlib6 = (double)sampler->zlib6_bytes / original,
        .zstd3 = (double)sampler->zstd3_bytes / original,
        .sampled_blocks = sampler->sampled,
    };
}

void sampler_free(struct sampler *sampler)
{
    ZSTD_freeCCtx(sampler->zstd);
    free(sampler->output);
    sampler->zstd = NULL;
    sampler->output = NULL;
}
