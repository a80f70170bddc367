/*
 * Writes gzip files (RFC 1952) of data whose repeats are known beforehand: one DEFLATE block (RFC
 * 1951) with one fixed set of Huffman codes, literals and matches as the caller tells. zlib is not
 * used for it, since what zlib writes differs between versions and forks, and a corpus must be the
 * same everywhere; any gunzip reads it.
 */
#ifndef TALLY_CORPUS_GZIP_H
#define TALLY_CORPUS_GZIP_H

#include <stddef.h>
#include <stdint.h>

/* Where the bytes go: 0 or -errno, which gzip_* hand on. */
struct gzip_sink {
    int (*write)(void *context, const void *bytes, size_t length);
    void *context;
};

#define GZIP_SYMBOLS 286
#define GZIP_DISTANCES 30

struct gzip_code {
    uint16_t bits; /* first bit lowest, as DEFLATE stores them */
    uint16_t length;
};

struct gzip_writer {
    struct gzip_sink sink;
    struct gzip_code symbols[GZIP_SYMBOLS];
    struct gzip_code distances[GZIP_DISTANCES];
    uint64_t bits; /* not yet in the buffer, fewer than 32 between calls */
    unsigned int bit_count;
    uint32_t crc;
    uint64_t raw_bytes;
    uint64_t written_bytes; /* handed to the sink or waiting in the buffer */
    size_t used;
    uint8_t buffer[64 * 1024];
};

/* Starts a file: its header and the codes. */
void gzip_begin(struct gzip_writer *writer, struct gzip_sink sink);

/* Adds `length` bytes as they are. 0; an error of the sink. */
int gzip_literals(struct gzip_writer *writer, const uint8_t *bytes, size_t length);

/*
 * Adds `length` bytes at `bytes` that repeat what was added `distance` bytes before, 1 ... 32768;
 * the caller vouches for it. 0; an error of the sink.
 */
int gzip_repeat(struct gzip_writer *writer, const uint8_t *bytes, size_t length, uint32_t distance);

/* Ends the block and writes checksum and size. 0; an error of the sink. */
int gzip_end(struct gzip_writer *writer);

#endif
