#include "corpus/gzip.h"

#include <string.h>
#include <zlib.h>

#include "util/endian.h"

#define END_OF_BLOCK 256
#define LONGEST_MATCH 258
#define LONGEST_MATCH_SYMBOL 285

/*
 * Code lengths, made for bytes that are nearly even but for zero, and repeats that are long; each
 * set fills its code space exactly. Symbols: zero 6 bits, 247 literals 8, eight literals 10, the
 * longest match 8, shorter ones 12, the end 10: 1/64 + 247/256 + 8/1024 + 1/256 + 28/4096 + 1/1024
 * = 1.
 */
static unsigned int symbol_length(unsigned int symbol)
{
    if (symbol == LONGEST_MATCH_SYMBOL)
        return 8;
    if (symbol > END_OF_BLOCK)
        return 12;
    if (symbol == 0)
        return 6;
    return symbol == END_OF_BLOCK || symbol % 32 == 31 ? 10 : 8;
}

/* Distance 4 one bit, 4097 to 32768 (six codes) 4 bits, nine others 7, fourteen 8: 1/2 + 6/16 +
 * 9/128 + 14/256 = 1. */
static unsigned int distance_length(unsigned int code)
{
    if (code == 3)
        return 1;
    if (code >= 24)
        return 4;
    return code >= 15 ? 7 : 8;
}

static uint16_t reverse(unsigned int bits, unsigned int length)
{
    unsigned int reversed = 0;

    for (unsigned int i = 0; i < length; i++)
        reversed |= (bits >> i & 1) << (length - 1 - i);
    return (uint16_t)reversed;
}

/* Canonical codes from code lengths: RFC 1951, 3.2.2. */
static void assign_codes(struct gzip_code *codes, unsigned int count,
                         unsigned int (*length_of)(unsigned int))
{
    unsigned int next = 0;

    for (unsigned int length = 1; length <= 15; length++, next <<= 1)
        for (unsigned int i = 0; i < count; i++)
            if (length_of(i) == length)
                codes[i] = (struct gzip_code){reverse(next++, length), (uint16_t)length};
}

static int flush(struct gzip_writer *writer)
{
    int r = writer->sink.write(writer->sink.context, writer->buffer, writer->used);

    writer->used = 0;
    return r;
}

/* At most 32 bits; the buffer keeps room for what one call of this can add. */
static void put_bits(struct gzip_writer *writer, uint64_t bits, unsigned int count)
{
    writer->bits |= bits << writer->bit_count;
    writer->bit_count += count;
    if (writer->bit_count >= 32) {
        store_le32(writer->buffer + writer->used, (uint32_t)writer->bits);
        writer->used += 4;
        writer->written_bytes += 4;
        writer->bits >>= 32;
        writer->bit_count -= 32;
    }
}

static void put_code(struct gzip_writer *writer, struct gzip_code code)
{
    put_bits(writer, code.bits, code.length);
}

static int make_room(struct gzip_writer *writer, size_t bytes)
{
    return writer->used + bytes > sizeof(writer->buffer) ? flush(writer) : 0;
}

/* The header of a dynamic block: RFC 1951, 3.2.7. The code lengths are told one by one, without
 * runs. */
static void put_code_lengths(struct gzip_writer *writer)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1};
    static const uint8_t used[] = {8, 1, 4, 6, 7, 10, 12};
    struct gzip_code codes[16] = {{0, 0}};

    put_bits(writer, 1, 1); /* the last block */
    put_bits(writer, 2, 2); /* dynamic codes */
    put_bits(writer, GZIP_SYMBOLS - 257, 5);
    put_bits(writer, GZIP_DISTANCES - 1, 5);
    put_bits(writer, sizeof(order) - 4, 4);
    /* Of the seven lengths that occur the first gets 2 bits, the others 3: 1/4 + 6/8 = 1. */
    for (unsigned int i = 0; i < sizeof(used); i++)
        codes[used[i]].length = i < 1 ? 2 : 3;
    for (unsigned int i = 0; i < sizeof(order); i++)
        put_bits(writer, order[i] < 16 ? codes[order[i]].length : 0, 3);
    for (unsigned int i = 0; i < sizeof(used); i++)
        codes[used[i]].bits = i < 1 ? 0 : reverse(i + 1, 3);
    for (unsigned int i = 0; i < GZIP_SYMBOLS; i++)
        put_code(writer, codes[symbol_length(i)]);
    for (unsigned int i = 0; i < GZIP_DISTANCES; i++)
        put_code(writer, codes[distance_length(i)]);
}

void gzip_begin(struct gzip_writer *writer, struct gzip_sink sink)
{
    /* No name, no time, made on Unix: nothing that differs between two runs. */
    static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};

    writer->sink = sink;
    assign_codes(writer->symbols, GZIP_SYMBOLS, symbol_length);
    assign_codes(writer->distances, GZIP_DISTANCES, distance_length);
    writer->bits = 0;
    writer->bit_count = 0;
    writer->crc = 0;
    writer->raw_bytes = 0;
    memcpy(writer->buffer, header, sizeof(header));
    writer->used = sizeof(header);
    writer->written_bytes = sizeof(header);
    put_code_lengths(writer);
}

static void count_raw(struct gzip_writer *writer, const uint8_t *bytes, size_t length)
{
    writer->crc = (uint32_t)crc32_z(writer->crc, bytes, length);
    writer->raw_bytes += length;
}

int gzip_literals(struct gzip_writer *writer, const uint8_t *bytes, size_t length)
{
    count_raw(writer, bytes, length);
    while (length) {
        size_t part = length < 4096 ? length : 4096;
        int r = make_room(writer, 2 * part + 4);

        if (r < 0)
            return r;
        for (size_t i = 0; i < part; i++)
            put_code(writer, writer->symbols[bytes[i]]);
        bytes += part;
        length -= part;
    }
    return 0;
}

/* RFC 1951, 3.2.5: lengths 3-10 one each, then four codes for each further extra bit; 258 by
 * itself. */
static void put_match_length(struct gzip_writer *writer, unsigned int length)
{
    unsigned int rest = length - 3;
    unsigned int extra = 0;

    if (length == LONGEST_MATCH) {
        put_code(writer, writer->symbols[LONGEST_MATCH_SYMBOL]);
        return;
    }
    while (rest >> extra >= 8)
        extra++;
    put_code(writer, writer->symbols[257 + 4 * extra + (rest >> extra)]);
    put_bits(writer, rest & ((1U << extra) - 1), extra);
}

/* RFC 1951, 3.2.5: distances 1-4 one each, then two codes for each further extra bit. */
static void put_distance(struct gzip_writer *writer, unsigned int distance)
{
    unsigned int rest = distance - 1;
    unsigned int extra = 0;

    while (rest >> extra >= 4)
        extra++;
    put_code(writer, writer->distances[2 * extra + (rest >> extra)]);
    put_bits(writer, rest & ((1U << extra) - 1), extra);
}

int gzip_repeat(struct gzip_writer *writer, const uint8_t *bytes, size_t length, uint32_t distance)
{
    size_t rest = length % LONGEST_MATCH;

    count_raw(writer, bytes, length - (rest < 3 ? rest : 0));
    for (size_t done = 0; length - done >= 3;) {
        unsigned int part =
            length - done < LONGEST_MATCH ? (unsigned int)(length - done) : LONGEST_MATCH;
        int r = make_room(writer, 16);

        if (r < 0)
            return r;
        put_match_length(writer, part);
        put_distance(writer, distance);
        done += part;
    }
    /* A match has at least three bytes. */
    return rest < 3 ? gzip_literals(writer, bytes + length - rest, rest) : 0;
}

int gzip_end(struct gzip_writer *writer)
{
    int r = make_room(writer, 32);

    if (r < 0)
        return r;
    put_code(writer, writer->symbols[END_OF_BLOCK]);
    put_bits(writer, 0, 7); /* so that the last byte of the block is whole */
    for (; writer->bit_count >= 8; writer->bit_count -= 8, writer->bits >>= 8) {
        writer->buffer[writer->used++] = (uint8_t)writer->bits;
        writer->written_bytes++;
    }
    store_le32(writer->buffer + writer->used, writer->crc);
    store_le32(writer->buffer + writer->used + 4, (uint32_t)writer->raw_bytes);
    writer->used += 8;
    writer->written_bytes += 8;
    return flush(writer);
}
