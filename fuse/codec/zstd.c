#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "codec/codecs.h"

static size_t zstd_bound(size_t raw_bytes)
{
    return ZSTD_compressBound(raw_bytes);
}

static int zstd_compressor_create(int level, void **ret_context)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();

    if (!context)
        return -ENOMEM;
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level))) {
        ZSTD_freeCCtx(context);
        return -ENOMEM;
    }
    *ret_context = context;
    return 0;
}

static void zstd_compressor_destroy(void *context)
{
    ZSTD_freeCCtx(context);
}

static ssize_t zstd_compress(void *context, const void *raw, size_t raw_bytes, void *out, size_t out_capacity)
{
    size_t r = ZSTD_compress2(context, out, out_capacity, raw, raw_bytes);

    if (!ZSTD_isError(r))
        return (ssize_t)r;
    return ZSTD_getErrorCode(r) == ZSTD_error_dstSize_tooSmall ? 0 : -EIO;
}

static int zstd_decompressor_create(void **ret_context)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();

    if (!context)
        return -ENOMEM;
    *ret_context = context;
    return 0;
}

static void zstd_decompressor_destroy(void *context)
{
    ZSTD_freeDCtx(context);
}

static int zstd_decompress(void *context, const void *in, size_t in_bytes, void *raw, size_t raw_bytes)
{
    return ZSTD_decompressDCtx(context, raw, raw_bytes, in, in_bytes) == raw_bytes ? 0 : -EIO;
}

const struct tally_codec codec_zstd = {
    .name = "zstd",
    .id = TALLY_CODEC_ZSTD,
    .level_min = -50,
    .level_max = 19,
    .level_default = 3,
    .library = "zstd",
    .library_version = ZSTD_versionString,
    .bound = zstd_bound,
    .compressor_create = zstd_compressor_create,
    .compressor_destroy = zstd_compressor_destroy,
    .compress = zstd_compress,
    .decompressor_create = zstd_decompressor_create,
    .decompressor_destroy = zstd_decompressor_destroy,
    .decompress = zstd_decompress,
};
