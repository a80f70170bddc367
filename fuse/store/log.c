#include "store/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tally/codec.h"
#include "util/cleanup.h"

void log_state_free(struct log_state *state)
{
    map_clear(&state->map);
}

int log_read(struct backend *lower, struct split *split, void *data, size_t size, uint64_t offset)
{
    ssize_t got = backend_pread(lower, split, data, size, (off_t)offset);

    if (got < 0)
        return (int)got;
    return (size_t)got == size ? 0 : -EBADMSG;
}

size_t log_payload_room(uint64_t bytes)
{
    return bytes < FORMAT_PAYLOAD_MAX ? (size_t)bytes : FORMAT_PAYLOAD_MAX;
}

static int apply_zero(struct log_state *state, uint64_t from, uint64_t length, uint64_t lower_offset, uint64_t sequence)
{
    return length ? map_zero(&state->map, from, length, lower_offset, sequence) : 0;
}

int log_apply(struct log_state *state, const struct format_header *header, uint64_t lower_offset)
{
    struct extent extent;
    int r = 0;

    /* A frame after a shrink says the smaller size, so the shrink holds even if its own frame was lost. */
    if (header->logical_size < state->logical_size)
        r = apply_zero(state, header->logical_size, FORMAT_SIZE_MAX - header->logical_size,
                       header->type == FORMAT_TRUNC ? lower_offset : MAP_NO_FRAME, header->sequence);
    if (r < 0)
        return r;
    state->logical_size = header->logical_size;
    if (header->sequence > state->sequence)
        state->sequence = header->sequence;
    if (header->durable_distance && header->type != FORMAT_INDEX &&
        header->sequence - header->durable_distance > state->durable_sequence)
        state->durable_sequence = header->sequence - header->durable_distance;
    switch (header->type) {
    case FORMAT_DATA:
    case FORMAT_LOST:
        extent = (struct extent){
            .lower_offset = lower_offset,
            .sequence = header->sequence,
            .begin = (uint32_t)(header->logical_offset & ((UINT64_C(1) << state->map.chunk_shift) - 1)),
            .raw_length = (uint32_t)header->raw_length,
            .stored_length = header->stored_length,
            .codec = header->type == FORMAT_LOST ? FORMAT_RECORD_LOST : header->codec,
        };
        if (header->codec != TALLY_CODEC_RAW)
            state->codec = header->codec;
        return map_add(&state->map, header->logical_offset >> state->map.chunk_shift, &extent);
    case FORMAT_HOLE:
        return apply_zero(state, header->logical_offset, header->raw_length, lower_offset, header->sequence);
    default:
        return 0;
    }
}

int log_apply_behind(struct log_state *state, uint64_t base, const struct format_header *header, uint64_t lower_offset)
{
    unsigned shift = state->map.chunk_shift;

    if (header->sequence > base)
        return log_apply(state, header, lower_offset);
    map_move(&state->map, header->logical_offset >> shift, header->sequence, lower_offset);
    map_move(&state->map, (header->logical_offset + header->raw_length) >> shift, header->sequence, lower_offset);
    map_move(&state->map, header->logical_size >> shift, header->sequence, lower_offset);
    return 0;
}

void log_begin(struct log_state *state, uint64_t file_id, unsigned chunk_shift)
{
    *state = (struct log_state){.file_id = file_id, .index_offset = FORMAT_INDEX_FIRST};
    map_init(&state->map, chunk_shift);
}

int log_load_single(struct backend *lower, struct split *split, uint64_t lower_size, struct log_state *ret_state)
{
    uint8_t encoded[FORMAT_HEADER_BYTES];
    struct format_header header;
    struct log_state state;
    int r = log_read(lower, split, encoded, sizeof(encoded), 0);

    if (r == 0)
        r = format_header_decode(encoded, &header);
    if (r < 0)
        return r;
    if (format_frame_bytes(header.stored_length) != lower_size || header.type == FORMAT_INDEX)
        return -EBADMSG;
    log_begin(&state, header.file_id, header.chunk_shift);
    r = log_apply(&state, &header, 0);
    if (r < 0)
        return r;
    state.first_end = lower_size;
    state.tail = lower_size;
    state.clean = true;
    *ret_state = state;
    return 0;
}

int log_load(struct backend *lower, struct split *split, uint64_t lower_size, const uint8_t boot_id[static 16],
             struct log_state *ret_state)
{
    int r = log_load_single(lower, split, lower_size, ret_state);

    if (r == -EBADMSG)
        r = log_load_index(lower, split, lower_size, boot_id, ret_state);
    if (r == -EBADMSG || r == -EIO)
        r = log_recover(lower, split, lower_size, boot_id, ret_state);
    return r;
}
