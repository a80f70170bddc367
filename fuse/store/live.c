/* The frames of a log that are still needed, and moving them. */
#include <errno.h>
#include <stdlib.h>

#include "store/internal.h"

static int by_place(const void *left, const void *right)
{
    const struct live_frame *a = left, *b = right;

    return (a->lower_offset > b->lower_offset) - (a->lower_offset < b->lower_offset);
}

static bool is_unexplained(const struct extent *extent)
{
    return extent->codec == FORMAT_RECORD_ZERO && extent->lower_offset == MAP_NO_FRAME;
}

/* The first bytes of extent `i` that no later extent with a frame has taken over; false when there are none. */
static bool first_exposed(const struct map_chunk *entry, uint32_t i, uint32_t *ret_begin, uint32_t *ret_length)
{
    uint32_t begin = entry->extents[i].begin, end = begin + entry->extents[i].raw_length, next = end;

    for (uint32_t j = i + 1; j < entry->count; j++) {
        const struct extent *above = &entry->extents[j];

        if (!is_unexplained(above) && above->begin <= begin && above->begin + above->raw_length > begin) {
            begin = above->begin + above->raw_length;
            j = i; /* another may go on from there, whatever its place */
        }
    }
    for (uint32_t j = i + 1; j < entry->count; j++) {
        const struct extent *above = &entry->extents[j];

        if (!is_unexplained(above) && above->begin > begin && above->begin < next)
            next = above->begin;
    }
    if (begin >= end)
        return false;
    *ret_begin = begin;
    *ret_length = next - begin;
    return true;
}

/*
 * A frame for zeros of an extent that has none: other frames that tell of them may go. It is the newest of all, so that it
 * must not reach over what came after the zeros. An extent of which all is told is let go.
 */
static int explain(struct store_file *file, struct split *split, const struct map_chunk *entry, uint32_t i)
{
    struct format_header header = {.type = FORMAT_HOLE};
    uint8_t frame[FORMAT_HEADER_BYTES];
    uint64_t chunk = entry->chunk, lower_offset;
    uint32_t begin, length;
    int r;

    if (!first_exposed(entry, i, &begin, &length)) {
        pthread_mutex_lock(&file->lock);
        map_drop(&file->log.map, chunk, i);
        pthread_mutex_unlock(&file->lock);
        return 0;
    }
    header.logical_offset = (chunk << file->log.map.chunk_shift) + begin;
    header.raw_length = length;
    r = append_frame(file, split, &header, frame, &lower_offset);
    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    r = log_apply(&file->log, &header, lower_offset);
    file->gap |= r < 0;
    pthread_mutex_unlock(&file->lock);
    return r;
}

static int explain_zeros(struct store_file *file, struct split *split)
{
    const struct map_chunk *entry;
    uint64_t next = 0;
    int r = 0;

    while (r == 0 && (entry = map_next(&file->log.map, next))) {
        uint32_t i = 0;

        while (i < entry->count && !is_unexplained(&entry->extents[i]))
            i++;
        next = entry->chunk + (i == entry->count);
        if (i < entry->count)
            r = explain(file, split, entry, i);
    }
    return r;
}

int live_list(struct store_file *file, struct split *split, struct live *ret_live)
{
    const struct map *map = &file->log.map;
    struct live live = {0};
    const struct map_chunk *entry;
    uint64_t next = 0;
    int r = explain_zeros(file, split);

    if (r < 0)
        return r;
    live.frames = calloc(map->extent_count + 1, sizeof(*live.frames));
    if (!live.frames)
        return -ENOMEM;
    while ((entry = map_next(map, next))) {
        for (uint32_t i = 0; i < entry->count; i++) {
            const struct extent *extent = &entry->extents[i];

            live.frames[live.count++] = (struct live_frame){
                .lower_offset = extent->lower_offset,
                .sequence = extent->sequence,
                .chunk = entry->chunk,
                .bytes = format_frame_bytes(extent->stored_length),
            };
        }
        next = entry->chunk + 1;
    }
    qsort(live.frames, live.count, sizeof(*live.frames), by_place);
    *ret_live = live;
    return 0;
}

/* Reads a whole frame. -EIO unless it is the one that the map means, and whole. */
static int read_whole(struct store_file *file, struct split *split, const struct live_frame *live, uint8_t *frame,
                      struct format_header *ret_header)
{
    struct format_header header;
    int r = log_read(file->lower, split, frame, FORMAT_HEADER_BYTES, live->lower_offset);

    if (r == 0)
        r = format_header_decode(frame, &header);
    if (r < 0)
        return r == -EBADMSG || r == -EPROTONOSUPPORT ? -EIO : r;
    if (header.file_id != file->log.file_id || header.sequence != live->sequence ||
        header.stored_length > FORMAT_PAYLOAD_MAX)
        return -EIO;
    r = log_read(file->lower, split, frame + FORMAT_HEADER_BYTES, header.stored_length,
                 live->lower_offset + FORMAT_HEADER_BYTES);
    if (r < 0)
        return r == -EBADMSG ? -EIO : r;
    if (format_checksum(frame + FORMAT_HEADER_BYTES, header.stored_length) != header.payload_checksum)
        return -EIO;
    *ret_header = header;
    return 0;
}

static int move_frame(struct store_file *file, struct split *split, struct scratch *scratch, struct live_frame *live,
                      uint64_t *at)
{
    struct format_header header = {0};
    uint64_t lower_offset;
    size_t total;
    int r = read_whole(file, split, live, scratch->frame, &header);

    if (r < 0)
        return r;
    total = append_encode(&header, scratch->frame);
    if (at) {
        lower_offset = *at;
        r = write_fully(file, split, scratch->frame, total, lower_offset);
    } else {
        r = append_copy(file, split, scratch->frame, total, &lower_offset);
    }
    if (r < 0)
        return r;
    if (at)
        *at += total;
    live->lower_offset = lower_offset;
    return 0;
}

int live_move(struct store_file *file, struct split *split, struct live *live, size_t from, size_t to, uint64_t *at)
{
    struct scratch *scratch = scratch_get(&file->store->scratches);
    int r = 0;

    if (!scratch)
        return -ENOMEM;
    while (from < to) {
        uint64_t before = live->frames[from].lower_offset;
        size_t end = from + 1;

        while (end < to && live->frames[end].lower_offset == before)
            end++;
        r = move_frame(file, split, scratch, &live->frames[from], at);
        if (r < 0)
            break;
        pthread_mutex_lock(&file->lock);
        file->copied = true;
        for (size_t i = from; i < end; i++) {
            live->frames[i].lower_offset = live->frames[from].lower_offset;
            map_move(&file->log.map, live->frames[i].chunk, live->frames[i].sequence, live->frames[i].lower_offset);
        }
        pthread_mutex_unlock(&file->lock);
        from = end;
    }
    scratch_put(&file->store->scratches, scratch);
    return r;
}
