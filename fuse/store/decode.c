/* Chunks from their frames. */
#include <errno.h>
#include <string.h>

#include "store/internal.h"

/* Reads the frame of an extent into scratch->frame and checks that it is the one that the map means. */
static int read_frame(struct store_file *file, struct split *split, struct scratch *scratch, uint64_t chunk,
                      const struct extent *extent)
{
    const uint8_t *payload = scratch->frame + FORMAT_HEADER_BYTES;
    struct format_header header;
    uint64_t began_ns;
    int r = log_read(file->lower, split, scratch->frame, FORMAT_HEADER_BYTES + extent->stored_length,
                     extent->lower_offset);

    if (r == 0)
        r = format_header_decode(scratch->frame, &header);
    if (r < 0)
        return r == -EBADMSG || r == -EPROTONOSUPPORT ? -EIO : r;
    if (header.type != FORMAT_DATA || header.file_id != file->log.file_id || header.sequence != extent->sequence ||
        header.logical_offset != (chunk << file->log.map.chunk_shift) + extent->begin ||
        header.raw_length != extent->raw_length || header.stored_length != extent->stored_length ||
        header.codec != extent->codec)
        return -EIO;
    began_ns = split_begin(split);
    r = format_checksum(payload, header.stored_length) == header.payload_checksum ? 0 : -EIO;
    split_end_codec(split, began_ns);
    return r;
}

static int decode_extent(struct store_file *file, struct split *split, struct scratch *scratch, uint64_t chunk,
                         const struct extent *extent, uint8_t *out, uint32_t capacity)
{
    const uint8_t *payload = scratch->frame + FORMAT_HEADER_BYTES;
    uint32_t wanted = capacity - extent->begin < extent->raw_length ? capacity - extent->begin : extent->raw_length;
    uint64_t began_ns;
    int r;

    if (extent->codec == FORMAT_RECORD_ZERO) {
        memset(out + extent->begin, 0, wanted);
        return 0;
    }
    if (extent->codec == FORMAT_RECORD_LOST)
        return -EIO;
    r = read_frame(file, split, scratch, chunk, extent);
    if (r < 0)
        return r;
    if (extent->codec == TALLY_CODEC_RAW) {
        memcpy(out + extent->begin, payload, wanted);
        return 0;
    }
    began_ns = split_begin(split);
    if (wanted == extent->raw_length) {
        r = scratch_decompress(scratch, extent->codec, payload, extent->stored_length, out + extent->begin, wanted);
    } else {
        r = scratch_decompress(scratch, extent->codec, payload, extent->stored_length, scratch->chunk,
                               extent->raw_length);
        if (r == 0)
            memcpy(out + extent->begin, scratch->chunk, wanted);
    }
    split_end_codec(split, began_ns);
    return r;
}

bool decode_is_known(struct store_file *file, uint64_t chunk, const struct extent *extents, uint32_t count)
{
    uint64_t lost = file->log.lost_sequence, size = atomic_load(&file->size), at = 0;
    uint64_t start = chunk << file->log.map.chunk_shift, end = size > start ? size - start : 0;
    bool advanced = true;

    if (lost == 0)
        return true;
    end = end < file->chunk_bytes ? end : file->chunk_bytes;
    while (at < end && advanced) {
        advanced = false;
        for (uint32_t i = 0; i < count; i++) {
            if (extents[i].sequence <= lost || extents[i].begin > at || extents[i].begin + extents[i].raw_length <= at)
                continue;
            at = extents[i].begin + extents[i].raw_length;
            advanced = true;
        }
    }
    return at >= end;
}

int decode_chunk(struct store_file *file, struct split *split, struct scratch *scratch, uint64_t chunk,
                 const struct extent *extents, uint32_t count, uint8_t *out, uint32_t capacity)
{
    if (!decode_is_known(file, chunk, extents, count))
        return -EIO;
    if (count == 0 || extents[0].begin > 0 || extents[0].raw_length < capacity)
        memset(out, 0, capacity);
    for (uint32_t i = 0; i < count; i++) {
        int r;

        if (extents[i].begin >= capacity)
            continue;
        r = decode_extent(file, split, scratch, chunk, &extents[i], out, capacity);
        if (r < 0)
            return r;
    }
    return 0;
}
