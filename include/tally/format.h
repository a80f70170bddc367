/*
 * Format of a compressed file ("container"), version 1: a log of frames, byte by byte. fuse/store/FORMAT.md tells how
 * the frames make a file. Pure functions; thread safety is that of the arguments. All numbers are little-endian.
 */
#ifndef TALLY_FORMAT_H
#define TALLY_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_VERSION 1
#define FORMAT_HEADER_BYTES 64u
#define FORMAT_TRAILER_BYTES 32u
#define FORMAT_ALIGN 16u /* frames begin at multiples of this; padding is zero */

#define FORMAT_CHUNK_SHIFT_MIN 14u /* 16 KiB */
#define FORMAT_CHUNK_SHIFT_MAX 20u /* 1 MiB */
#define FORMAT_CHUNK_MIN (UINT32_C(1) << FORMAT_CHUNK_SHIFT_MIN)
#define FORMAT_CHUNK_MAX (UINT32_C(1) << FORMAT_CHUNK_SHIFT_MAX)

/* The largest payload of any frame. */
#define FORMAT_PAYLOAD_MAX FORMAT_CHUNK_MAX

/* Far more frames than any file gets; above it a hostile file's number could not be counted on from. */
#define FORMAT_SEQUENCE_MAX (UINT64_C(1) << 62)

/* Logical sizes and offsets are off_t's: at most 2^63 - 1. */
#define FORMAT_SIZE_MAX ((uint64_t)INT64_MAX)

enum format_type {
    FORMAT_DATA = 1,  /* payload: bytes within one chunk */
    FORMAT_HOLE = 2,  /* no payload: zeros over any range */
    FORMAT_TRUNC = 3, /* no payload: the file's size becomes logical_size; what was beyond is gone */
    FORMAT_INDEX = 4, /* payload: one part of the map, see below */
    FORMAT_LOST = 5,  /* no payload: bytes within one chunk that damage took; written by a repair, reading them fails */
};

/*
 * One frame's header.
 *
 *   byte  size  field
 *      0     4  magic F7 54 4C, then the version, 01
 *      4     4  header checksum: the low half of XXH3-64 over bytes 8 to 63, seeded with the version
 *      8     8  file id: random, the same in all frames of a file
 *     16     8  sequence number: from 1 to 2^62, unique within the file; of two frames for a byte the higher wins
 *     24     8  logical offset: DATA, HOLE, LOST: of the first byte; TRUNC: the new size; INDEX: 0, or
 *               in the last part its own offset in the lower file
 *     32     8  raw length: DATA, HOLE, LOST: logical bytes covered; TRUNC: 0; INDEX: payload bytes
 *     40     8  logical size of the file after this frame
 *     48     8  payload checksum: XXH3-64 over the stored bytes; 0 without payload
 *     56     4  stored length: payload bytes after the header, without padding
 *     60     1  type, enum format_type
 *     61     1  codec of the payload, enum tally_codec_id; 0 without payload
 *     62     1  chunk shift: chunks are 1 << shift bytes, 14 to 20; the same in all frames of a file
 *     63     1  durable distance: INDEX: 1 in the last part, which makes the index complete, else 0. Others: n from 1
 *               says that all frames up to sequence - n were on the medium when this one was written; 0 says nothing
 */
struct format_header {
    uint64_t file_id;
    uint64_t sequence;
    uint64_t logical_offset;
    uint64_t raw_length;
    uint64_t logical_size;
    uint64_t payload_checksum;
    uint32_t stored_length;
    uint8_t type;
    uint8_t codec;
    uint8_t chunk_shift;
    uint8_t durable_distance;
};

/*
 * The last 32 bytes of a file whose index is valid.
 *
 *   byte  size  field
 *      0     4  magic F7 54 58, then the version, 01
 *      4     4  trailer checksum: the low half of XXH3-64 over bytes 8 to 31, seeded with the version
 *      8     8  file id
 *     16     8  offset in the lower file of the index's last part
 *     24     8  logical size of the file
 */
struct format_trailer {
    uint64_t file_id;
    uint64_t index_offset;
    uint64_t logical_size;
};

/*
 * Payload of an INDEX frame: this, then records, sorted by chunk and within a chunk oldest first. The parts of an
 * index follow one another in the lower file; together they hold the whole map.
 *
 *   byte  size  field
 *      0     8  offset in the lower file of the part before this; all ones in the first
 *      8     8  durable sequence: frames up to it were on the medium when the index was written; all ones: all but
 *               the index itself
 *     16    16  the kernel's boot id when the index was written
 */
#define FORMAT_INDEX_PREFIX_BYTES 32u
#define FORMAT_INDEX_FIRST UINT64_MAX

struct format_index_prefix {
    uint64_t previous_offset;
    uint64_t durable_sequence;
    uint8_t boot_id[16];
};

/*
 * One record of an index.
 *
 *   byte  size  field
 *      0     8  logical offset of the first byte
 *      8     8  offset of the frame in the lower file
 *     16     8  sequence number of the frame
 *     24     4  bytes covered, 1 to the chunk size, within one chunk
 *     28     4  low 24 bits: stored length; high 8 bits: codec, FF for zeros made by a HOLE or TRUNC frame, or FE for
 *               what a LOST frame covers
 */
#define FORMAT_RECORD_BYTES 32u
#define FORMAT_RECORD_ZERO 0xFFu
#define FORMAT_RECORD_LOST 0xFEu
#define FORMAT_RECORDS_MAX ((FORMAT_PAYLOAD_MAX - FORMAT_INDEX_PREFIX_BYTES) / FORMAT_RECORD_BYTES)

struct format_record {
    uint64_t logical_offset;
    uint64_t lower_offset;
    uint64_t sequence;
    uint32_t raw_length;
    uint32_t stored_length;
    uint8_t codec;
};

/* Bytes of a frame in the lower file, with header and padding. */
static inline uint64_t format_frame_bytes(uint32_t stored_length)
{
    return FORMAT_HEADER_BYTES + (((uint64_t)stored_length + FORMAT_ALIGN - 1) & ~(uint64_t)(FORMAT_ALIGN - 1));
}

/* The payload checksum of a frame. */
uint64_t format_checksum(const void *data, size_t size);

/* `header` must be valid. */
void format_header_encode(const struct format_header *header, uint8_t out[static FORMAT_HEADER_BYTES]);

/*
 * 0 with every field checked for what its type allows; -EBADMSG for what is no header or a damaged one;
 * -EPROTONOSUPPORT for a newer version.
 */
int format_header_decode(const uint8_t in[static FORMAT_HEADER_BYTES], struct format_header *ret_header);

/*
 * The same where one byte may be wrong, of a frame of file `file_id`. 1 for bytes that are nothing like it, which costs
 * nothing; else 0 or -EBADMSG after up to 15,000 checksums.
 */
int format_header_mend(const uint8_t in[static FORMAT_HEADER_BYTES], uint64_t file_id,
                       struct format_header *ret_header);

/*
 * Whether a file that begins like this was made as a container, if perhaps damaged since: either the magic or the
 * checksum is right.
 */
bool format_looks_like_container(const uint8_t in[static FORMAT_HEADER_BYTES]);

void format_trailer_encode(const struct format_trailer *trailer, uint8_t out[static FORMAT_TRAILER_BYTES]);

/* 0 or -EBADMSG. The offset is checked to be aligned only; its being inside the file is the caller's check. */
int format_trailer_decode(const uint8_t in[static FORMAT_TRAILER_BYTES], struct format_trailer *ret_trailer);

void format_index_prefix_encode(const struct format_index_prefix *prefix, uint8_t out[static FORMAT_INDEX_PREFIX_BYTES]);
void format_index_prefix_decode(const uint8_t in[static FORMAT_INDEX_PREFIX_BYTES],
                                struct format_index_prefix *ret_prefix);

void format_record_encode(const struct format_record *record, uint8_t out[static FORMAT_RECORD_BYTES]);

/* 0; -EBADMSG where the range is empty, not within one chunk or past FORMAT_SIZE_MAX, or the frame not aligned. */
int format_record_decode(const uint8_t in[static FORMAT_RECORD_BYTES], unsigned chunk_shift,
                         struct format_record *ret_record);

#endif
