#include "tally/format.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "tally/codec.h"
#include "util/endian.h"

static const uint8_t header_magic[4] = {0xF7, 'T', 'L', FORMAT_VERSION};
static const uint8_t trailer_magic[4] = {0xF7, 'T', 'X', FORMAT_VERSION};

#define MAGIC_BYTES 3u /* before the version */
#define CHECKED_FROM 8u

uint64_t format_checksum(const void *data, size_t size)
{
    return size ? XXH3_64bits(data, size) : 0;
}

/* Seeded with the version, so that a damaged version is told from a newer one. The magic's own damage can be seen. */
static uint32_t self_checksum(const uint8_t *in, size_t size)
{
    return (uint32_t)XXH3_64bits_withSeed(in + CHECKED_FROM, size - CHECKED_FROM, in[MAGIC_BYTES]);
}

static bool is_aligned(uint64_t offset)
{
    return offset % FORMAT_ALIGN == 0;
}

static bool within_one_chunk(uint64_t offset, uint64_t length, unsigned chunk_shift)
{
    return length >= 1 && length <= (UINT64_C(1) << chunk_shift) && offset <= FORMAT_SIZE_MAX - length &&
           offset >> chunk_shift == (offset + length - 1) >> chunk_shift;
}

void format_header_encode(const struct format_header *header, uint8_t out[static FORMAT_HEADER_BYTES])
{
    memcpy(out, header_magic, sizeof(header_magic));
    store_le64(out + 8, header->file_id);
    store_le64(out + 16, header->sequence);
    store_le64(out + 24, header->logical_offset);
    store_le64(out + 32, header->raw_length);
    store_le64(out + 40, header->logical_size);
    store_le64(out + 48, header->payload_checksum);
    store_le32(out + 56, header->stored_length);
    out[60] = header->type;
    out[61] = header->codec;
    out[62] = header->chunk_shift;
    out[63] = header->durable_distance;
    store_le32(out + 4, self_checksum(out, FORMAT_HEADER_BYTES));
}

static bool header_is_sound(const struct format_header *header)
{
    bool empty = header->stored_length == 0 && header->codec == TALLY_CODEC_RAW && header->payload_checksum == 0;

    if (header->sequence == 0 || header->sequence > FORMAT_SEQUENCE_MAX || header->logical_size > FORMAT_SIZE_MAX ||
        header->chunk_shift < FORMAT_CHUNK_SHIFT_MIN || header->chunk_shift > FORMAT_CHUNK_SHIFT_MAX ||
        header->durable_distance > header->sequence)
        return false;
    switch (header->type) {
    case FORMAT_DATA:
        if (!within_one_chunk(header->logical_offset, header->raw_length, header->chunk_shift) ||
            header->logical_offset + header->raw_length > header->logical_size || header->stored_length == 0)
            return false;
        return header->codec == TALLY_CODEC_RAW ? header->stored_length == header->raw_length
                                                : header->stored_length < header->raw_length;
    case FORMAT_HOLE:
        return empty && header->raw_length > 0 && header->raw_length <= FORMAT_SIZE_MAX &&
               header->logical_offset <= FORMAT_SIZE_MAX - header->raw_length;
    case FORMAT_LOST:
        return empty && within_one_chunk(header->logical_offset, header->raw_length, header->chunk_shift) &&
               header->logical_offset + header->raw_length <= header->logical_size;
    case FORMAT_TRUNC:
        return empty && header->raw_length == 0 && header->logical_offset == header->logical_size;
    case FORMAT_INDEX:
        return header->codec == TALLY_CODEC_RAW && header->durable_distance <= 1 &&
               (header->durable_distance == 1 ? is_aligned(header->logical_offset) : header->logical_offset == 0) &&
               header->raw_length == header->stored_length && header->stored_length <= FORMAT_PAYLOAD_MAX &&
               header->stored_length >= FORMAT_INDEX_PREFIX_BYTES &&
               (header->stored_length - FORMAT_INDEX_PREFIX_BYTES) % FORMAT_RECORD_BYTES == 0;
    default:
        return false;
    }
}

int format_header_decode(const uint8_t in[static FORMAT_HEADER_BYTES], struct format_header *ret_header)
{
    struct format_header header;

    if (memcmp(in, header_magic, MAGIC_BYTES) != 0 || load_le32(in + 4) != self_checksum(in, FORMAT_HEADER_BYTES))
        return -EBADMSG;
    if (in[MAGIC_BYTES] != FORMAT_VERSION)
        return in[MAGIC_BYTES] > FORMAT_VERSION ? -EPROTONOSUPPORT : -EBADMSG;
    header = (struct format_header){
        .file_id = load_le64(in + 8),
        .sequence = load_le64(in + 16),
        .logical_offset = load_le64(in + 24),
        .raw_length = load_le64(in + 32),
        .logical_size = load_le64(in + 40),
        .payload_checksum = load_le64(in + 48),
        .stored_length = load_le32(in + 56),
        .type = in[60],
        .codec = in[61],
        .chunk_shift = in[62],
        .durable_distance = in[63],
    };
    if (!header_is_sound(&header))
        return -EBADMSG;
    *ret_header = header;
    return 0;
}

int format_header_mend(const uint8_t in[static FORMAT_HEADER_BYTES], uint64_t file_id,
                       struct format_header *ret_header)
{
    uint8_t mended[FORMAT_HEADER_BYTES], id[8];
    struct format_header header;
    unsigned wrong = 0;

    store_le64(id, file_id);
    for (size_t i = 0; i < sizeof(header_magic); i++)
        wrong += in[i] != header_magic[i];
    for (size_t i = 0; i < sizeof(id); i++)
        wrong += in[CHECKED_FROM + i] != id[i];
    if (wrong > 1)
        return 1;
    memcpy(mended, in, sizeof(mended));
    for (size_t at = 0; at < sizeof(mended); at++) {
        for (unsigned change = 1; change < 256; change++) {
            mended[at] = in[at] ^ (uint8_t)change;
            if (format_header_decode(mended, &header) == 0 && header.file_id == file_id) {
                *ret_header = header;
                return 0;
            }
        }
        mended[at] = in[at];
    }
    return -EBADMSG;
}

bool format_looks_like_container(const uint8_t in[static FORMAT_HEADER_BYTES])
{
    return memcmp(in, header_magic, MAGIC_BYTES) == 0 || load_le32(in + 4) == self_checksum(in, FORMAT_HEADER_BYTES);
}

void format_trailer_encode(const struct format_trailer *trailer, uint8_t out[static FORMAT_TRAILER_BYTES])
{
    memcpy(out, trailer_magic, sizeof(trailer_magic));
    store_le64(out + 8, trailer->file_id);
    store_le64(out + 16, trailer->index_offset);
    store_le64(out + 24, trailer->logical_size);
    store_le32(out + 4, self_checksum(out, FORMAT_TRAILER_BYTES));
}

int format_trailer_decode(const uint8_t in[static FORMAT_TRAILER_BYTES], struct format_trailer *ret_trailer)
{
    struct format_trailer trailer;

    if (memcmp(in, trailer_magic, sizeof(trailer_magic)) != 0 ||
        load_le32(in + 4) != self_checksum(in, FORMAT_TRAILER_BYTES))
        return -EBADMSG;
    trailer.file_id = load_le64(in + 8);
    trailer.index_offset = load_le64(in + 16);
    trailer.logical_size = load_le64(in + 24);
    if (!is_aligned(trailer.index_offset) || trailer.logical_size > FORMAT_SIZE_MAX)
        return -EBADMSG;
    *ret_trailer = trailer;
    return 0;
}

void format_index_prefix_encode(const struct format_index_prefix *prefix, uint8_t out[static FORMAT_INDEX_PREFIX_BYTES])
{
    store_le64(out, prefix->previous_offset);
    store_le64(out + 8, prefix->durable_sequence);
    memcpy(out + 16, prefix->boot_id, sizeof(prefix->boot_id));
}

void format_index_prefix_decode(const uint8_t in[static FORMAT_INDEX_PREFIX_BYTES],
                                struct format_index_prefix *ret_prefix)
{
    ret_prefix->previous_offset = load_le64(in);
    ret_prefix->durable_sequence = load_le64(in + 8);
    memcpy(ret_prefix->boot_id, in + 16, sizeof(ret_prefix->boot_id));
}

void format_record_encode(const struct format_record *record, uint8_t out[static FORMAT_RECORD_BYTES])
{
    store_le64(out, record->logical_offset);
    store_le64(out + 8, record->lower_offset);
    store_le64(out + 16, record->sequence);
    store_le32(out + 24, record->raw_length);
    store_le32(out + 28, record->stored_length | (uint32_t)record->codec << 24);
}

int format_record_decode(const uint8_t in[static FORMAT_RECORD_BYTES], unsigned chunk_shift,
                         struct format_record *ret_record)
{
    uint32_t stored = load_le32(in + 28);
    struct format_record record = {
        .logical_offset = load_le64(in),
        .lower_offset = load_le64(in + 8),
        .sequence = load_le64(in + 16),
        .raw_length = load_le32(in + 24),
        .stored_length = stored & 0xFFFFFF,
        .codec = (uint8_t)(stored >> 24),
    };

    if (!within_one_chunk(record.logical_offset, record.raw_length, chunk_shift) || !is_aligned(record.lower_offset) ||
        record.lower_offset > FORMAT_SIZE_MAX || record.sequence == 0 || record.sequence > FORMAT_SEQUENCE_MAX)
        return -EBADMSG;
    if (record.codec == FORMAT_RECORD_ZERO || record.codec == FORMAT_RECORD_LOST
            ? record.stored_length != 0
            : record.stored_length == 0 || record.stored_length > record.raw_length)
        return -EBADMSG;
    *ret_record = record;
    return 0;
}
