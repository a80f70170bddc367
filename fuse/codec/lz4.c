/* lz4 and lz4hc: one block format, two compressors. */
#include <errno.h>
#include <lz4.h>
#include <lz4hc.h>
#include <stdlib.h>

#include "codec/codecs.h"

static size_t lz4_bound(size_t raw_bytes)
{
    return (size_t)LZ4_compressBound((int)raw_bytes);
}

static int lz4_create(int level, void **ret_context)
{
    void *state = malloc((size_t)LZ4_sizeofState());

    (void)level;
    if (!state)
        return -ENOMEM;
    *ret_context = state;
    return 0;
}

static ssize_t lz4_compress(void *context, const void *raw, size_t raw_bytes, void *out, size_t out_capacity)
{
    return LZ4_compress_fast_extState(context, raw, out, (int)raw_bytes, (int)out_capacity, 1);
}

struct lz4hc_context {
    int level;
    void *state;
};

static void lz4hc_destroy(void *pointer)
{
    struct lz4hc_context *context = pointer;

    free(context->state);
    free(context);
}

static int lz4hc_create(int level, void **ret_context)
{
    struct lz4hc_context *context = malloc(sizeof(*context));

    if (!context)
        return -ENOMEM;
    context->level = level;
    context->state = malloc((size_t)LZ4_sizeofStateHC());
    if (!context->state) {
        free(context);
        return -ENOMEM;
    }
    *ret_context = context;
    return 0;
}

static ssize_t lz4hc_compress(void *pointer, const void *raw, size_t raw_bytes, void *out, size_t out_capacity)
{
    struct lz4hc_context *context = pointer;

    return LZ4_compress_HC_extStateHC(context->state, raw, out, (int)raw_bytes, (int)out_capacity, context->level);
}

static int no_decompressor(void **ret_context)
{
    *ret_context = NULL;
    return 0;
}

static void no_destroy(void *context)
{
    (void)context;
}

static int lz4_decompress(void *context, const void *in, size_t in_bytes, void *raw, size_t raw_bytes)
{
    (void)context;
    return LZ4_decompress_safe(in, raw, (int)in_bytes, (int)raw_bytes) == (int)raw_bytes ? 0 : -EIO;
}

const struct tally_codec codec_lz4 = {
    .name = "lz4",
    .id = TALLY_CODEC_LZ4,
    .library = "lz4",
    .library_version = LZ4_versionString,
    .bound = lz4_bound,
    .compressor_create = lz4_create,
    .compressor_destroy = free,
    .compress = lz4_compress,
    .decompressor_create = no_decompressor,
    .decompressor_destroy = no_destroy,
    .decompress = lz4_decompress,
};

const struct tally_codec codec_lz4hc = {
    .name = "lz4hc",
    .id = TALLY_CODEC_LZ4,
    .level_min = 3,
    .level_max = LZ4HC_CLEVEL_MAX,
    .level_default = LZ4HC_CLEVEL_DEFAULT,
    .library = "lz4",
    .library_version = LZ4_versionString,
    .bound = lz4_bound,
    .compressor_create = lz4hc_create,
    .compressor_destroy = lz4hc_destroy,
    .compress = lz4hc_compress,
    .decompressor_create = no_decompressor,
    .decompressor_destroy = no_destroy,
    .decompress = lz4_decompress,
};
