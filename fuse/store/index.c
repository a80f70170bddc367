/* Loading the map from the index that a trailer names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/log.h"
#include "util/cleanup.h"

struct part {
    struct format_header header;
    struct format_index_prefix prefix;
};

/* Reads and checks the part at `offset`, which must end at or before `limit`. */
static int read_part(struct backend *lower, struct split *split, uint64_t file_id, uint64_t offset, uint64_t limit,
                     uint8_t *payload, struct part *ret_part)
{
    uint8_t encoded[FORMAT_HEADER_BYTES];
    struct format_header header;
    int r;

    if (offset >= limit || limit - offset < FORMAT_HEADER_BYTES)
        return -EBADMSG;
    r = log_read(lower, split, encoded, sizeof(encoded), offset);
    if (r == 0)
        r = format_header_decode(encoded, &header);
    if (r < 0)
        return r;
    if (header.type != FORMAT_INDEX || header.file_id != file_id ||
        format_frame_bytes(header.stored_length) > limit - offset)
        return -EBADMSG;
    r = log_read(lower, split, payload, header.stored_length, offset + FORMAT_HEADER_BYTES);
    if (r < 0)
        return r;
    if (format_checksum(payload, header.stored_length) != header.payload_checksum)
        return -EBADMSG;
    ret_part->header = header;
    format_index_prefix_decode(payload, &ret_part->prefix);
    return 0;
}

static int take_records(struct log_state *state, const struct part *part, const uint8_t *payload, uint64_t limit)
{
    uint8_t previous_codec = state->codec;
    size_t count = (part->header.stored_length - FORMAT_INDEX_PREFIX_BYTES) / FORMAT_RECORD_BYTES;
    uint64_t newest = 0;

    for (size_t i = 0; i < count; i++) {
        const uint8_t *encoded = payload + FORMAT_INDEX_PREFIX_BYTES + i * FORMAT_RECORD_BYTES;
        struct format_record record;
        struct extent extent;
        int r = format_record_decode(encoded, state->map.chunk_shift, &record);

        if (r < 0)
            return r;
        if (record.lower_offset + format_frame_bytes(record.stored_length) > limit ||
            (record.logical_offset >= part->header.logical_size && record.codec != FORMAT_RECORD_ZERO))
            return -EBADMSG; /* zeros reach from the end of a file that was cut to the end of its last chunk */
        extent = (struct extent){
            .lower_offset = record.lower_offset,
            .sequence = record.sequence,
            .begin = (uint32_t)(record.logical_offset & ((UINT64_C(1) << state->map.chunk_shift) - 1)),
            .raw_length = record.raw_length,
            .stored_length = record.stored_length,
            .codec = record.codec,
        };
        if (extent.codec != FORMAT_RECORD_ZERO && extent.codec != FORMAT_RECORD_LOST && extent.codec != 0 &&
            record.sequence > newest) {
            newest = record.sequence;
            previous_codec = extent.codec;
        }
        r = map_add(&state->map, record.logical_offset >> state->map.chunk_shift, &extent);
        if (r < 0)
            return r == -EOVERFLOW ? -EBADMSG : r;
    }
    state->codec = previous_codec;
    return 0;
}

/*
 * The parts from the last to the first. A chunk's records are never split over two parts. Suspect is any index of another
 * boot. *ret_named: the frames that it may name go up to this number.
 */
static int load_parts(struct backend *lower, struct split *split, const struct log_checkpoint *checkpoint,
                      const uint8_t boot_id[static 16], struct log_state *state, uint64_t *ret_named)
{
    uint64_t offset = checkpoint->index_offset, limit = checkpoint->limit;
    AUTO_FREE uint8_t *payload = malloc(log_payload_room(limit));
    bool last = true;

    if (!payload)
        return -ENOMEM;
    while (offset != FORMAT_INDEX_FIRST) {
        struct part part;
        int r = read_part(lower, split, checkpoint->file_id, offset, limit, payload, &part);

        if (r < 0)
            return r;
        if (last) {
            map_init(&state->map, part.header.chunk_shift);
            state->sequence = part.header.sequence;
            state->logical_size = part.header.logical_size;
            state->suspect = memcmp(part.prefix.boot_id, boot_id, sizeof(part.prefix.boot_id)) != 0;
            state->index_offset = offset;
            state->index_end = offset + format_frame_bytes(part.header.stored_length);
            last = false;
        } else if (part.header.chunk_shift != state->map.chunk_shift) {
            return -EBADMSG;
        }
        r = take_records(state, &part, payload, offset);
        if (r < 0)
            return r;
        state->index_begin = offset;
        /* The parts themselves were not on the medium when they were written. */
        state->durable_sequence = part.prefix.durable_sequence < part.header.sequence ? part.prefix.durable_sequence
                                                                                      : part.header.sequence - 1;
        *ret_named = part.header.sequence - 1;
        limit = offset; /* parts never overlap, so that they cannot hold more records than the file has bytes for */
        offset = part.prefix.previous_offset;
    }
    return 0;
}

/*
 * The frames between the index and the trailer: too few to have been worth a new index. They were whole when the trailer
 * was written. Unless the power may have failed since, one that is not is damage, and walking on without it would show
 * older data in its place.
 */
static int load_after(struct backend *lower, struct split *split, uint64_t end, struct log_state *state)
{
    struct log_frames frames = {0};
    uint64_t base = state->sequence;
    int r = log_scan(lower, split, state->index_end, end, true, &state->file_id, &frames);

    for (size_t i = 0; r == 0 && i < frames.count; i++) {
        if (frames.frames[i].header.chunk_shift != state->map.chunk_shift)
            r = -EBADMSG;
        else
            r = log_apply_behind(state, base, &frames.frames[i].header, frames.frames[i].lower_offset);
    }
    free(frames.frames);
    if (r == -EBADMSG && !state->suspect)
        return -EIO;
    return r == -EOVERFLOW ? -EBADMSG : r;
}

int log_load_checkpoint(struct backend *lower, struct split *split, const struct log_checkpoint *checkpoint,
                        const uint8_t boot_id[static 16], struct log_state *ret_state)
{
    struct log_state state = {.file_id = checkpoint->file_id};
    uint64_t named = 0, indexed;
    int r = load_parts(lower, split, checkpoint, boot_id, &state, &named);

    indexed = state.sequence;
    if (r == 0 && state.index_end == 0)
        r = -EBADMSG;
    if (r == 0 && checkpoint->has_trailer)
        r = load_after(lower, split, checkpoint->limit, &state);
    if (r == 0 && checkpoint->has_trailer && state.logical_size != checkpoint->logical_size)
        r = -EBADMSG;
    if (r < 0) {
        log_state_free(&state);
        return r;
    }
    state.suspect = state.suspect && (state.durable_sequence < named || state.sequence > indexed);
    *ret_state = state;
    return 0;
}

int log_first_header(struct backend *lower, struct split *split, struct format_header *ret_header)
{
    uint8_t encoded[FORMAT_HEADER_BYTES];
    int r = log_read(lower, split, encoded, sizeof(encoded), 0);

    return r < 0 ? r : format_header_decode(encoded, ret_header);
}

int log_load_index(struct backend *lower, struct split *split, uint64_t lower_size, const uint8_t boot_id[static 16],
                   struct log_state *ret_state)
{
    uint8_t encoded[FORMAT_TRAILER_BYTES];
    struct log_checkpoint checkpoint = {.has_trailer = true};
    struct format_trailer trailer;
    struct format_header first;
    bool has_first;
    int r;

    if (lower_size < FORMAT_HEADER_BYTES + FORMAT_TRAILER_BYTES || lower_size % FORMAT_ALIGN != 0)
        return -EBADMSG;
    checkpoint.limit = lower_size - FORMAT_TRAILER_BYTES;
    r = log_read(lower, split, encoded, sizeof(encoded), checkpoint.limit);
    if (r == 0)
        r = format_trailer_decode(encoded, &trailer);
    if (r < 0)
        return r;
    checkpoint.file_id = trailer.file_id;
    checkpoint.index_offset = trailer.index_offset;
    checkpoint.logical_size = trailer.logical_size;
    /* A file that was emptied and written anew can keep the old end when the power fails. */
    r = log_first_header(lower, split, &first);
    has_first = r == 0;
    if (r < 0 && r != -EBADMSG && r != -EPROTONOSUPPORT)
        return r;
    if (has_first && first.file_id != trailer.file_id)
        return -EBADMSG;
    r = log_load_checkpoint(lower, split, &checkpoint, boot_id, ret_state);
    if (r < 0)
        return r;
    ret_state->first_end = has_first ? format_frame_bytes(first.stored_length) : 0;
    ret_state->tail = lower_size;
    ret_state->clean = true;
    return 0;
}
