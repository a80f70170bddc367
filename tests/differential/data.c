#include "data.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "random.h"

#define RUN_BYTES 512

static const char *const kind_names[DATA_KINDS] = {"zero", "byte", "text", "random", "mixed"};

static uint64_t word_at(unsigned kind, uint32_t seed, uint64_t index)
{
    static const char words[16][9] = {"compress", " stores ", "tracks\n\n", "0000000\n",
                                      "detector", "mailbox:", "From: <>",   "trigger ",
                                      "event=00", " of the ", "received",   "\t\t\t\t\t\t\t\n",
                                      "nothing ", "ABABABAB", "sequence",   "        "};
    uint64_t mixed = random_mix(index * 0x9e3779b97f4a7c15u + seed), word;

    switch (kind) {
    case DATA_ZERO:
        return 0;
    case DATA_BYTE:
        return (seed % 255 + 1) * 0x0101010101010101u;
    case DATA_TEXT:
        memcpy(&word, words[mixed % 16], sizeof(word));
        return word;
    case DATA_MIXED:
        return word_at((unsigned)(random_mix(index / (RUN_BYTES / 8) + seed) % DATA_MIXED), seed,
                       index);
    default:
        return mixed;
    }
}

void data_fill(int64_t data, uint64_t offset, unsigned char *to, size_t size)
{
    unsigned kind = (unsigned)(data >> DATA_SEED_BITS);
    uint32_t seed = (uint32_t)data;

    while (size > 0) {
        uint64_t word = word_at(kind, seed, offset / 8);
        size_t begin = offset % 8, part = 8 - begin < size ? 8 - begin : size;

        memcpy(to, (unsigned char *)&word + begin, part);
        to += part;
        offset += part;
        size -= part;
    }
}

void data_print(int64_t data, struct strbuf *to)
{
    strbuf_printf(to, "%s:%u", kind_names[(data >> DATA_SEED_BITS) % DATA_KINDS],
                  (unsigned)(uint32_t)data);
}

int data_parse(const char *text, int64_t *ret_data)
{
    for (unsigned kind = 0; kind < DATA_KINDS; kind++) {
        size_t length = strlen(kind_names[kind]);
        unsigned seed;

        if (strncmp(text, kind_names[kind], length) == 0 &&
            sscanf(text + length, ":%u", &seed) == 1) {
            *ret_data = data_make(kind, seed);
            return 0;
        }
    }
    return -EINVAL;
}
