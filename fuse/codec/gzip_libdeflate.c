/*
 * gzip by libdeflate: raw deflate, since a frame has a checksum of its own. It works on whole buffers, as chunks are, and
 * takes less than half of zlib's time either way. What it writes any other inflater reads.
 */
#include <errno.h>
#include <libdeflate.h>

#include "codec/codecs.h"

/* It has no function for this. */
static const char *gzip_library_version(void)
{
    return LIBDEFLATE_VERSION_STRING;
}

static size_t gzip_bound(size_t raw_bytes)
{
    return libdeflate_deflate_compress_bound(NULL, raw_bytes);
}

static int gzip_compressor_create(int level, void **ret_context)
{
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(level);

    if (!compressor)
        return -ENOMEM;
    *ret_context = compressor;
    return 0;
}

static void gzip_compressor_destroy(void *context)
{
    libdeflate_free_compressor(context);
}

static ssize_t gzip_compress(void *context, const void *raw, size_t raw_bytes, void *out, size_t out_capacity)
{
    return (ssize_t)libdeflate_deflate_compress(context, raw, raw_bytes, out, out_capacity);
}

static int gzip_decompressor_create(void **ret_context)
{
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();

    if (!decompressor)
        return -ENOMEM;
    *ret_context = decompressor;
    return 0;
}

static void gzip_decompressor_destroy(void *context)
{
    libdeflate_free_decompressor(context);
}

static int gzip_decompress(void *context, const void *in, size_t in_bytes, void *raw, size_t raw_bytes)
{
    size_t taken, given;

    if (libdeflate_deflate_decompress_ex(context, in, in_bytes, raw, raw_bytes, &taken, &given) != LIBDEFLATE_SUCCESS)
        return -EIO;
    return taken == in_bytes && given == raw_bytes ? 0 : -EIO;
}

const struct tally_codec codec_gzip = {
    .name = "gzip",
    .id = TALLY_CODEC_GZIP,
    .level_min = 1,
    .level_max = 9,
    .level_default = 6,
    .library = "libdeflate",
    .library_version = gzip_library_version,
    .bound = gzip_bound,
    .compressor_create = gzip_compressor_create,
    .compressor_destroy = gzip_compressor_destroy,
    .compress = gzip_compress,
    .decompressor_create = gzip_decompressor_create,
    .decompressor_destroy = gzip_decompressor_destroy,
    .decompress = gzip_decompress,
};
