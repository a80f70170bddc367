/*
 * Codecs: one constant struct each. Thread safety: the structs are constant; a context belongs to one thread at a
 * time, its owner sees to that.
 */
#ifndef TALLY_CODEC_H
#define TALLY_CODEC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Stable identifiers, written into every frame. Never reuse one. lz4hc writes LZ4 blocks, so it has no id of its own. */
enum tally_codec_id {
    TALLY_CODEC_RAW = 0, /* the bytes as they are */
    TALLY_CODEC_LZ4 = 1, /* one LZ4 block */
    TALLY_CODEC_ZSTD = 2, /* one zstd frame without content checksum */
    TALLY_CODEC_GZIP = 3, /* raw deflate, RFC 1951: the frame has a better checksum than gzip's wrapper */
};

struct tally_codec {
    const char *name; /* as in -o compress=NAME */
    enum tally_codec_id id;
    int level_min; /* levels are the library's own; min == max where there is none */
    int level_max;
    int level_default;

    const char *library; /* that does the work, and its version at run time */
    const char *(*library_version)(void);

    /* The most bytes that `raw_bytes` may need compressed. */
    size_t (*bound)(size_t raw_bytes);

    /*
     * State for compressing at `level`, kept over calls. 0 with *ret_context owned by the caller (may be NULL for a
     * codec without state), or -ENOMEM.
     */
    int (*compressor_create)(int level, void **ret_context);
    void (*compressor_destroy)(void *context);

    /*
     * Compresses `raw_bytes` at `raw` into `out`. Returns the bytes written, 1 to out_capacity; 0 when they do not fit
     * ("not smaller": give the capacity that is still worth it); -EIO when the library fails.
     */
    ssize_t (*compress)(void *context, const void *raw, size_t raw_bytes, void *out, size_t out_capacity);

    /* The same for decompressing. */
    int (*decompressor_create)(void **ret_context);
    void (*decompressor_destroy)(void *context);

    /*
     * Decompresses into exactly `raw_bytes` at `raw`. 0, or -EIO when the input is damaged or is not of exactly that
     * size. Never reads outside `in` nor writes outside `raw`, whatever the input.
     */
    int (*decompress)(void *context, const void *in, size_t in_bytes, void *raw, size_t raw_bytes);
};

/* A codec at a level, as chosen by -o compress=, an attribute or --codec. codec NULL means "none": store plain files. */
struct tally_codec_choice {
    const struct tally_codec *codec;
    int level;
};

/* The longest text that tally_codec_format writes, with its NUL. */
#define TALLY_CODEC_TEXT_BYTES 16

/*
 * Reads "none", "lz4", "lz4hc[:3..12]", "zstd[:-50..19]", "gzip[:1..9]"; also "zstd-fast[-N]" for zstd:-N. 0;
 * -EINVAL for an unknown codec; -ERANGE for a level outside the codec's range or one given to a codec without levels.
 */
int tally_codec_parse(const char *text, struct tally_codec_choice *ret_choice);

/* Writes the canonical text, such as "zstd:3" or "none". */
void tally_codec_format(const struct tally_codec_choice *choice, char text[static TALLY_CODEC_TEXT_BYTES]);

/* The codec that decodes frames with this identifier; NULL for raw and for an unknown one. */
const struct tally_codec *tally_codec_by_id(unsigned id);

/* The codecs for listing, in order of `index`; NULL past the last. */
const struct tally_codec *tally_codec_at(size_t index);

#endif
