#include "store/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/cleanup.h"

/* Frames to either side, in the lower file, among whose ranges the lost one's is looked for: threads write out of order. */
#define NEIGHBOURS 8

#define BLOCK_BYTES 4096u

static int by_place(const void *left, const void *right)
{
    const struct log_frame *a = left, *b = right;

    return (a->lower_offset > b->lower_offset) - (a->lower_offset < b->lower_offset);
}

static bool is_trailer(const uint8_t *bytes, size_t size, uint64_t file_id)
{
    struct format_trailer trailer;

    return size >= FORMAT_TRAILER_BYTES && format_trailer_decode(bytes, &trailer) == 0 && trailer.file_id == file_id;
}

/* Whether [from, to) holds something else than zeros and trailers. An unreadable block counts. */
static int holds_something(struct backend *lower, uint64_t file_id, uint64_t from, uint64_t to, bool *ret_something)
{
    uint8_t block[BLOCK_BYTES];

    *ret_something = true;
    while (from < to) {
        size_t size = to - from < sizeof(block) ? (size_t)(to - from) : sizeof(block), at = 0;
        off_t data = backend_seek(lower, NULL, (off_t)from, SEEK_DATA);
        int r;

        if (data == -ENXIO || (data >= 0 && (uint64_t)data >= to))
            break;
        if (data > (off_t)from) {
            from = (uint64_t)data & ~(uint64_t)(FORMAT_ALIGN - 1);
            continue;
        }
        r = log_read(lower, NULL, block, size, from);
        if (r < 0)
            return r == -EIO || r == -EBADMSG ? 0 : r;
        while (at < size) {
            size_t step = is_trailer(block + at, size - at, file_id) ? FORMAT_TRAILER_BYTES : FORMAT_ALIGN;

            step = step < size - at ? step : size - at;
            if (step < FORMAT_TRAILER_BYTES && (block[at] != 0 || memcmp(block + at, block + at + 1, step - 1) != 0)) {
                /* A trailer may lie across two blocks. */
                if (from + at == to || at == 0 || size - at >= FORMAT_TRAILER_BYTES)
                    return 0;
                break;
            }
            at += step;
        }
        from += at;
    }
    *ret_something = false;
    return 0;
}

/* The logical range about the place in the lower file before frame `next`. */
static void neighbourhood(const struct log_frames *frames, size_t next, uint64_t *ret_begin, uint64_t *ret_end)
{
    size_t from = next > NEIGHBOURS ? next - NEIGHBOURS : 0;
    size_t to = frames->count - next > NEIGHBOURS ? next + NEIGHBOURS : frames->count;

    *ret_begin = UINT64_MAX;
    *ret_end = 0;
    for (size_t i = from; i < to; i++) {
        const struct format_header *header = &frames->frames[i].header;

        if (header->type != FORMAT_DATA)
            continue;
        if (header->logical_offset < *ret_begin)
            *ret_begin = header->logical_offset;
        if (header->logical_offset + header->raw_length > *ret_end)
            *ret_end = header->logical_offset + header->raw_length;
    }
    if (from == 0)
        *ret_begin = 0;
}

/*
 * What nothing covers in [begin, end), as guessed to be lost; not a gap that is wider than what can have been stored in
 * `lower_length` bytes.
 */
static int guess(struct salvage *salvage, uint64_t begin, uint64_t end, uint64_t lower_offset, uint64_t lower_length)
{
    const struct map *map = &salvage->state.map;
    uint64_t widest = lower_length / FORMAT_HEADER_BYTES << map->chunk_shift, at = begin;

    end = end < salvage->state.logical_size ? end : salvage->state.logical_size;
    while (at < end) {
        const struct map_chunk *entry = map_next(map, at >> map->chunk_shift);
        uint64_t start = entry ? entry->chunk << map->chunk_shift : end;
        struct store_damage damage = {.kind = STORE_DAMAGE_GUESSED, .logical_offset = at};
        int r;

        start = start < end ? start : end;
        if (start > at && start - at <= widest) {
            damage.logical_length = start - at;
            damage.lower_offset = lower_offset;
            damage.lower_length = lower_length;
            r = damage_add(&salvage->damage, &damage);
            if (r < 0)
                return r;
        }
        at = start + (UINT64_C(1) << map->chunk_shift);
    }
    return 0;
}

static int add_unknown(struct salvage *salvage, const struct log_frames *frames, size_t next, uint64_t from, uint64_t to)
{
    struct store_damage damage = {.kind = STORE_DAMAGE_UNKNOWN, .lower_offset = from, .lower_length = to - from};
    uint64_t begin, end;
    int r = damage_add(&salvage->damage, &damage);

    if (r < 0 || salvage->state.lost_sequence == 0)
        return r;
    neighbourhood(frames, next, &begin, &end);
    return guess(salvage, begin, end, from, to - from);
}

int regions_check(struct backend *lower, const struct log_frames *frames, uint64_t from, struct salvage *salvage)
{
    struct log_frames sorted = {.count = frames->count};
    int r = 0;

    if (frames->count == 0)
        return 0;
    sorted.frames = malloc(frames->count * sizeof(*sorted.frames));
    if (!sorted.frames)
        return -ENOMEM;
    memcpy(sorted.frames, frames->frames, frames->count * sizeof(*sorted.frames));
    qsort(sorted.frames, sorted.count, sizeof(*sorted.frames), by_place);
    for (size_t i = 0; i < sorted.count && r == 0; i++) {
        const struct log_frame *frame = &sorted.frames[i];
        uint64_t end = frame->lower_offset + format_frame_bytes(frame->header.stored_length);
        bool something = false;

        if (frame->lower_offset >= salvage->state.tail)
            break;
        if (frame->lower_offset > from)
            r = holds_something(lower, salvage->state.file_id, from, frame->lower_offset, &something);
        if (r == 0 && something)
            r = add_unknown(salvage, &sorted, i, from, frame->lower_offset);
        if (end > from)
            from = end;
    }
    free(sorted.frames);
    return r;
}
