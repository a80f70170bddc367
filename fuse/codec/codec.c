#include "tally/codec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "codec/codecs.h"
#include "util/parse.h"

const struct tally_codec *tally_codec_at(size_t index)
{
    static const struct tally_codec *const codecs[] = {&codec_lz4, &codec_lz4hc, &codec_zstd, &codec_gzip};

    return index < sizeof(codecs) / sizeof(codecs[0]) ? codecs[index] : NULL;
}

const struct tally_codec *tally_codec_by_id(unsigned id)
{
    const struct tally_codec *codec;

    /* The first of an id is the one that decodes: lz4hc writes lz4's blocks. */
    for (size_t i = 0; (codec = tally_codec_at(i)); i++)
        if (codec->id == id)
            return codec;
    return NULL;
}

static const struct tally_codec *codec_by_name(const char *name, size_t length)
{
    const struct tally_codec *codec;

    for (size_t i = 0; (codec = tally_codec_at(i)); i++)
        if (strlen(codec->name) == length && memcmp(codec->name, name, length) == 0)
            return codec;
    return NULL;
}

/* "zstd-fast" and "zstd-fast-N", as ZFS names zstd's negative levels. */
static int parse_zstd_fast(const char *text, struct tally_codec_choice *ret_choice)
{
    int64_t level = 1;
    int r = 0;

    if (*text == '-')
        r = parse_integer(text + 1, 1, -codec_zstd.level_min, &level);
    else if (*text)
        r = -EINVAL;
    if (r < 0)
        return r;
    *ret_choice = (struct tally_codec_choice){&codec_zstd, -(int)level};
    return 0;
}

int tally_codec_parse(const char *text, struct tally_codec_choice *ret_choice)
{
    static const char fast[] = "zstd-fast";
    size_t length = strcspn(text, ":");
    const struct tally_codec *codec;
    int64_t level;
    int r;

    if (strcmp(text, "none") == 0) {
        *ret_choice = (struct tally_codec_choice){0};
        return 0;
    }
    if (strncmp(text, fast, strlen(fast)) == 0)
        return parse_zstd_fast(text + strlen(fast), ret_choice);
    codec = codec_by_name(text, length);
    if (!codec)
        return -EINVAL;
    level = codec->level_default;
    if (text[length] == ':') {
        if (codec->level_min == codec->level_max)
            return -ERANGE;
        r = parse_integer(text + length + 1, codec->level_min, codec->level_max, &level);
        if (r < 0)
            return r;
        if (level == 0)
            level = codec->level_default;
    }
    *ret_choice = (struct tally_codec_choice){codec, (int)level};
    return 0;
}

void tally_codec_format(const struct tally_codec_choice *choice, char text[static TALLY_CODEC_TEXT_BYTES])
{
    if (!choice->codec)
        snprintf(text, TALLY_CODEC_TEXT_BYTES, "none");
    else if (choice->codec->level_min == choice->codec->level_max)
        snprintf(text, TALLY_CODEC_TEXT_BYTES, "%s", choice->codec->name);
    else
        snprintf(text, TALLY_CODEC_TEXT_BYTES, "%s:%d", choice->codec->name, choice->level);
}
