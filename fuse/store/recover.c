/*
 * What a lower file says that does not end with a sound trailer, or whose index names what may not be there.
 *
 * An index is complete, so it decides about all frames up to its own number: one that it does not name is dead, whether
 * it was punched or not. Behind it the frames decide. They follow one another without a gap in their numbers, so what is
 * missing is known by its number at least; it counts as damage if anything says that it was on the medium once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/log.h"
#include "util/cleanup.h"

/* A trailer is written every 64 MiB. Beyond this, all frames are read. */
#define SEARCH_BYTES (UINT64_C(256) << 20)
#define WINDOW_BYTES ((size_t)1 << 20)

/* Hostile files could have many that are not sound. */
#define TRIES_MAX 16

struct recovery {
    struct backend *lower;
    struct split *split;
    uint64_t lower_size;
    const uint8_t *boot_id;
    uint64_t file_id;   /* 0 unless the first header tells it */
    uint64_t first_end;
    uint64_t must;      /* frames up to this one were on the medium once */
    uint64_t trusted;   /* all before this place were there: a trailer follows that was written in this boot */
    bool has_base;
    uint64_t from;      /* where frames begin that the base does not know */
    struct log_state state;
};

static bool checkpoint_at(const struct recovery *recovery, const uint8_t *bytes, size_t size, uint64_t offset,
                          struct log_checkpoint *ret_checkpoint)
{
    struct format_trailer trailer;
    struct format_header header;

    if (format_trailer_decode(bytes, &trailer) == 0 && (!recovery->file_id || trailer.file_id == recovery->file_id)) {
        *ret_checkpoint = (struct log_checkpoint){.file_id = trailer.file_id, .index_offset = trailer.index_offset,
                                                  .limit = offset, .logical_size = trailer.logical_size,
                                                  .has_trailer = true};
        return true;
    }
    if (size < FORMAT_HEADER_BYTES || format_header_decode(bytes, &header) < 0 || header.type != FORMAT_INDEX ||
        header.durable_distance != 1 || header.logical_offset != offset ||
        (recovery->file_id && header.file_id != recovery->file_id))
        return false;
    *ret_checkpoint = (struct log_checkpoint){.file_id = header.file_id, .index_offset = offset,
                                              .limit = offset + format_frame_bytes(header.stored_length)};
    return ret_checkpoint->limit <= recovery->lower_size;
}

/* The last trailer or complete index that begins before *below, which is set to its place. -ENOENT without one. */
static int find_checkpoint(const struct recovery *recovery, uint64_t *below, struct log_checkpoint *ret_checkpoint)
{
    size_t window_bytes = recovery->lower_size < WINDOW_BYTES ? (size_t)recovery->lower_size : WINDOW_BYTES;
    AUTO_FREE uint8_t *window = malloc(window_bytes + FORMAT_HEADER_BYTES);
    uint64_t lowest = recovery->lower_size > SEARCH_BYTES ? recovery->lower_size - SEARCH_BYTES : 0;
    uint64_t end = *below / FORMAT_ALIGN * FORMAT_ALIGN;

    if (!window)
        return -ENOMEM;
    while (end > lowest) {
        uint64_t begin = end > window_bytes ? end - window_bytes : 0;
        ssize_t got = backend_pread(recovery->lower, recovery->split, window, (size_t)(end - begin) + FORMAT_HEADER_BYTES,
                                    (off_t)begin);

        if (got < 0 && got != -EIO)
            return (int)got;
        for (size_t at = (size_t)(end - begin); at >= FORMAT_ALIGN && got > 0;) {
            at -= FORMAT_ALIGN;
            if (at + FORMAT_TRAILER_BYTES <= (size_t)got &&
                checkpoint_at(recovery, window + at, (size_t)got - at, begin + at, ret_checkpoint)) {
                *below = begin + at;
                return 0;
            }
        }
        end = begin;
    }
    return -ENOENT;
}

/* 1 when the extent's frame is the one that the map means, and whole; 0 when not. */
static int is_whole(const struct recovery *recovery, uint64_t chunk, const struct extent *extent, uint8_t *frame)
{
    struct format_header header;
    int r;

    if (extent->codec == FORMAT_RECORD_ZERO && extent->lower_offset == MAP_NO_FRAME)
        return 1;
    if (extent->stored_length > log_payload_room(recovery->lower_size))
        return 0;
    r = log_read(recovery->lower, recovery->split, frame, FORMAT_HEADER_BYTES + extent->stored_length,
                 extent->lower_offset);
    if (r == 0)
        r = format_header_decode(frame, &header);
    if (r < 0)
        return r == -EBADMSG || r == -EIO || r == -EPROTONOSUPPORT ? 0 : r;
    if (header.file_id != recovery->file_id || header.sequence != extent->sequence)
        return 0;
    if (extent->codec == FORMAT_RECORD_ZERO || extent->codec == FORMAT_RECORD_LOST)
        return 1;
    return header.stored_length == extent->stored_length && header.raw_length == extent->raw_length &&
           header.logical_offset == (chunk << header.chunk_shift) + extent->begin &&
           format_checksum(frame + FORMAT_HEADER_BYTES, header.stored_length) == header.payload_checksum;
}

/* Whether what the power may have taken is there all the same: 1, 0 or -errno. */
static int suspects_are_whole(const struct recovery *recovery, const struct log_state *state)
{
    AUTO_FREE uint8_t *frame = malloc(FORMAT_HEADER_BYTES + log_payload_room(recovery->lower_size));
    const struct map_chunk *entry;
    uint64_t next = 0;

    if (!frame)
        return -ENOMEM;
    while ((entry = map_next(&state->map, next))) {
        for (uint32_t i = 0; i < entry->count; i++) {
            int whole = entry->extents[i].sequence <= state->durable_sequence
                            ? 1
                            : is_whole(recovery, entry->chunk, &entry->extents[i], frame);

            if (whole != 1)
                return whole;
        }
        next = entry->chunk + 1;
    }
    return 1;
}

/* 1 when the checkpoint is a base to begin with; 0 when not; -errno. */
static int try_checkpoint(struct recovery *recovery, const struct log_checkpoint *checkpoint, uint64_t newest)
{
    struct log_state state;
    int r = log_load_checkpoint(recovery->lower, recovery->split, checkpoint, recovery->boot_id, &state);

    if (r == -EIO && checkpoint->limit > recovery->trusted)
        recovery->trusted = checkpoint->limit;
    if (r < 0)
        return r == -EBADMSG || r == -EIO || r == -EPROTONOSUPPORT ? 0 : r;
    recovery->file_id = checkpoint->file_id;
    r = state.sequence <= newest;
    if (r && state.suspect) {
        r = suspects_are_whole(recovery, &state);
        if (state.durable_sequence > recovery->must)
            recovery->must = state.durable_sequence;
        if (r == 1) /* read back after the power failed, so they are on the medium */
            state.durable_sequence = state.sequence;
    }
    if (r != 1) {
        log_state_free(&state);
        return r;
    }
    state.suspect = false;
    recovery->state = state;
    recovery->has_base = true;
    recovery->from = checkpoint->limit + (checkpoint->has_trailer ? FORMAT_TRAILER_BYTES : 0);
    return 1;
}

/* What the power took frames of is no base; then it is one whose frames are all durable. */
static int find_base(struct recovery *recovery)
{
    uint64_t below = recovery->lower_size;

    for (unsigned tries = 0; tries < TRIES_MAX; tries++) {
        struct log_checkpoint checkpoint;
        int r = find_checkpoint(recovery, &below, &checkpoint);

        if (r == 0)
            r = try_checkpoint(recovery, &checkpoint, recovery->must ? recovery->must : UINT64_MAX);
        if (r != 0)
            return r == -ENOENT || r == 1 ? 0 : r;
    }
    return 0;
}

/* What the frames themselves say about which of them were on the medium. */
static int find_marks(struct recovery *recovery, const struct log_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++) {
        const struct format_header *header = &frames->frames[i].header;
        uint8_t prefix_bytes[FORMAT_INDEX_PREFIX_BYTES];
        struct format_index_prefix prefix;
        uint64_t mark = 0;

        if (frames->frames[i].broken)
            continue;
        if (header->type == FORMAT_INDEX) {
            int r = log_read(recovery->lower, recovery->split, prefix_bytes, sizeof(prefix_bytes),
                             frames->frames[i].lower_offset + FORMAT_HEADER_BYTES);

            if (r < 0)
                return r;
            format_index_prefix_decode(prefix_bytes, &prefix);
            if (prefix.durable_sequence < header->sequence)
                mark = prefix.durable_sequence;
            else if (prefix.previous_offset == FORMAT_INDEX_FIRST) /* all but the parts of the index */
                mark = header->sequence - 1;
        } else if (header->durable_distance) {
            mark = header->sequence - header->durable_distance;
        }
        if (mark > recovery->must)
            recovery->must = mark;
    }
    return 0;
}

static bool must_be_there(const struct recovery *recovery, uint64_t sequence, uint64_t lower_offset)
{
    return sequence <= recovery->must || lower_offset < recovery->trusted;
}

/* The highest number that is missing although it must be there, or 0. */
static uint64_t find_missing(const struct recovery *recovery, const struct log_frames *frames)
{
    uint64_t seen = recovery->state.sequence, missing = 0;
    bool was_indexed = false;

    for (size_t i = 0; i < frames->count; i++) {
        uint64_t sequence = frames->frames[i].header.sequence;

        was_indexed |= frames->frames[i].header.type == FORMAT_INDEX;
        if (sequence <= seen)
            continue;
        if (sequence > seen + 1 && must_be_there(recovery, seen + 1, frames->frames[i].lower_offset))
            missing = must_be_there(recovery, sequence - 1, frames->frames[i].lower_offset) ? sequence - 1
                                                                                           : recovery->must;
        seen = sequence;
    }
    if (seen < recovery->must)
        missing = recovery->must;
    else if (frames->garbage_at_end && recovery->trusted + FORMAT_TRAILER_BYTES == recovery->lower_size)
        missing = seen + 1;
    /* Where frames may have been punched that an index no longer tells of, something has to show that one is damaged. */
    return recovery->has_base || !was_indexed || frames->garbage ? missing : 0;
}

static bool has_whole_twin(const struct log_frames *frames, size_t i)
{
    uint64_t sequence = frames->frames[i].header.sequence;

    for (size_t j = i; j-- > 0 && frames->frames[j].header.sequence == sequence;)
        if (!frames->frames[j].broken)
            return true;
    for (size_t j = i + 1; j < frames->count && frames->frames[j].header.sequence == sequence; j++)
        if (!frames->frames[j].broken)
            return true;
    return false;
}

/* The first frame's header stays when all else of it was given back. */
static int is_emptied(const struct recovery *recovery, const struct log_frame *frame)
{
    AUTO_FREE uint8_t *payload = NULL;
    int r;

    if (recovery->has_base || frame->lower_offset > 0)
        return 0;
    payload = malloc(frame->header.stored_length);
    if (!payload)
        return -ENOMEM;
    r = log_read(recovery->lower, recovery->split, payload, frame->header.stored_length, FORMAT_HEADER_BYTES);
    if (r < 0)
        return r == -EIO ? 0 : r;
    return payload[0] == 0 && memcmp(payload, payload + 1, frame->header.stored_length - 1) == 0;
}

/* Whether a frame that is not whole takes part: 1, 0 or -errno. Reading it fails then. */
static int broken_counts(const struct recovery *recovery, uint64_t base, const struct log_frames *frames, size_t i)
{
    const struct log_frame *frame = &frames->frames[i];
    int r;

    if (frame->header.sequence <= base || /* a copy: the base knows a better one */
        !must_be_there(recovery, frame->header.sequence, frame->lower_offset) || has_whole_twin(frames, i))
        return 0;
    r = is_emptied(recovery, frame);
    return r < 0 ? r : !r;
}

static int apply_frames(struct recovery *recovery, const struct log_frames *frames)
{
    struct log_state *state = &recovery->state;
    uint64_t base = state->sequence, highest = base;

    for (size_t i = 0; i < frames->count; i++) {
        const struct log_frame *frame = &frames->frames[i];
        const struct format_header *header = &frame->header;
        uint64_t end = frame->lower_offset + format_frame_bytes(header->stored_length);
        int r;

        if (header->chunk_shift != state->map.chunk_shift)
            continue;
        if (header->sequence > highest)
            highest = header->sequence;
        r = frame->broken ? broken_counts(recovery, base, frames, i) : 1;
        if (r == 0)
            continue;
        if (r > 0)
            r = log_apply_behind(state, base, header, frame->lower_offset);
        if (r < 0)
            return r == -EOVERFLOW ? -EIO : r;
        if (end > state->tail)
            state->tail = end;
    }
    state->sequence = highest;
    return 0;
}

/* The frames behind the base, or all. */
static int add_frames(struct recovery *recovery)
{
    struct log_frames frames = {0};
    uint64_t file_id = recovery->file_id;
    int r = log_scan_all(recovery->lower, recovery->split, recovery->from, recovery->lower_size, &file_id, &frames);

    if (r == 0 && !recovery->has_base) {
        if (frames.count == 0)
            r = -EIO;
        else
            log_begin(&recovery->state, file_id, frames.frames[0].header.chunk_shift);
    }
    if (r == 0)
        r = find_marks(recovery, &frames);
    if (r == 0) {
        recovery->state.lost_sequence = find_missing(recovery, &frames);
        recovery->state.tail = recovery->from;
        r = apply_frames(recovery, &frames);
    }
    free(frames.frames);
    return r;
}

int log_recover(struct backend *lower, struct split *split, uint64_t lower_size, const uint8_t boot_id[static 16],
                struct log_state *ret_state)
{
    struct recovery recovery = {.lower = lower, .split = split, .lower_size = lower_size, .boot_id = boot_id};
    struct format_header first;
    int r = log_first_header(lower, split, &first);

    if (r == 0) {
        recovery.file_id = first.file_id;
        recovery.first_end = format_frame_bytes(first.stored_length);
    } else if (r != -EBADMSG && r != -EIO) {
        return r;
    }
    r = find_base(&recovery);
    if (r == 0)
        r = add_frames(&recovery);
    if (r < 0) {
        log_state_free(&recovery.state);
        return r;
    }
    recovery.state.first_end = recovery.first_end;
    recovery.state.clean = recovery.has_base && recovery.state.tail == lower_size && recovery.from == lower_size &&
                           recovery.state.index_end < lower_size;
    *ret_state = recovery.state;
    return 0;
}
