/* Writing one dirty chunk: as a delta, anew, or as zeros. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/encode.h"
#include "store/internal.h"

/* A buffer's chunk as it is in the log. */
struct below {
    struct extent extents[MAP_EXTENTS_MAX];
    uint32_t count;
};

static void look_below(struct store_file *file, uint64_t chunk, struct below *below)
{
    const struct map_chunk *entry;

    pthread_mutex_lock(&file->lock);
    entry = map_find(&file->log.map, chunk);
    below->count = entry ? entry->count : 0;
    if (entry)
        memcpy(below->extents, entry->extents, entry->count * sizeof(*entry->extents));
    pthread_mutex_unlock(&file->lock);
}

static int load(struct store_file *file, struct split *split, struct scratch *scratch, struct buffer *buffer,
                const struct below *below)
{
    uint8_t *out = below->count ? malloc(file->chunk_bytes) : NULL;
    int r = 0;

    if (below->count && !out)
        return -ENOMEM;
    if (!below->count && !decode_is_known(file, buffer->chunk, NULL, 0))
        return -EIO;
    if (below->count)
        r = decode_chunk(file, split, scratch, buffer->chunk, below->extents, below->count, out, file->chunk_bytes);
    if (r == 0) {
        if (out) {
            memcpy(buffer->data, out, buffer->begin);
            memcpy(buffer->data + buffer->end, out + buffer->end, file->chunk_bytes - buffer->end);
        } else {
            memset(buffer->data, 0, buffer->begin);
            memset(buffer->data + buffer->end, 0, file->chunk_bytes - buffer->end);
        }
        pthread_mutex_lock(&file->lock);
        buffer->loaded = true;
        pthread_mutex_unlock(&file->lock);
    }
    free(out);
    return r;
}

int buffer_load(struct store_file *file, struct split *split, struct buffer *buffer)
{
    struct scratch *scratch;
    struct below below;
    int r;

    if (buffer->loaded)
        return 0;
    scratch = scratch_get(&file->store->scratches);
    if (!scratch)
        return -ENOMEM;
    look_below(file, buffer->chunk, &below);
    r = load(file, split, scratch, buffer, &below);
    scratch_put(&file->store->scratches, scratch);
    return r;
}

/* Whether a delta of `size` bytes would be one too many on the chunk. */
static bool must_fold(const struct below *below, uint32_t size)
{
    uint64_t deltas = size;

    for (uint32_t i = 1; i < below->count; i++)
        deltas += below->extents[i].stored_length;
    return below->count > DELTAS_MAX || deltas > below->extents[0].stored_length;
}

/* Writes bytes [begin, end) of the buffer's chunk and tells the frame; type 0 where nothing needs to be stored. */
static int write_range(struct buffer *buffer, struct split *split, struct scratch *scratch, const struct below *below,
                       uint32_t begin, uint32_t end, struct format_header *ret_header, uint64_t *ret_lower_offset)
{
    struct store_file *file = buffer->file;
    struct format_header header = {0};
    unsigned raw_run;
    int r;

    header.logical_offset = (buffer->chunk << file->log.map.chunk_shift) + begin;
    header.raw_length = end - begin;
    if (encode_is_zero(buffer->data + begin, end - begin)) {
        header.type = below->count || file->log.lost_sequence ? FORMAT_HOLE : 0;
    } else {
        header.type = FORMAT_DATA;
        pthread_mutex_lock(&file->lock);
        raw_run = file->raw_run;
        pthread_mutex_unlock(&file->lock);
        encode_payload(scratch, split, &file->choice, raw_run, buffer->data + begin, end - begin,
                       scratch->frame + FORMAT_HEADER_BYTES, &header);
        if (end - begin == file->chunk_bytes) {
            pthread_mutex_lock(&file->lock);
            file->raw_run = header.codec == TALLY_CODEC_RAW ? file->raw_run + 1 : 0;
            pthread_mutex_unlock(&file->lock);
        }
    }
    r = header.type ? append_frame(file, split, &header, scratch->frame, ret_lower_offset) : 0;
    if (r == 0)
        *ret_header = header;
    return r;
}

static int compress_and_write(struct buffer *buffer, struct split *split, struct scratch *scratch,
                              struct format_header *ret_header, uint64_t *ret_lower_offset)
{
    struct store_file *file = buffer->file;
    uint64_t start = buffer->chunk << file->log.map.chunk_shift, size = atomic_load(&file->size);
    uint32_t valid = size - start < file->chunk_bytes ? (uint32_t)(size - start) : file->chunk_bytes;
    uint32_t begin = buffer->begin, end = buffer->end;
    struct below below;

    if (begin == end)
        return 0;
    look_below(file, buffer->chunk, &below);
    /* A chunk that cannot be loaded is damaged: then the delta is what can be saved. */
    if ((begin > 0 || end < valid) && below.count && must_fold(&below, end - begin) &&
        (buffer->loaded || load(file, split, scratch, buffer, &below) == 0)) {
        begin = 0;
        end = valid;
    }
    return write_range(buffer, split, scratch, &below, begin, end, ret_header, ret_lower_offset);
}

int buffer_write(struct buffer *buffer, struct split *split)
{
    struct store_file *file = buffer->file;
    struct scratch *scratch = scratch_get(&file->store->scratches);
    struct format_header header = {0};
    uint64_t lower_offset = 0;
    int r = scratch ? compress_and_write(buffer, split, scratch, &header, &lower_offset) : -ENOMEM;

    if (scratch)
        scratch_put(&file->store->scratches, scratch);
    pthread_mutex_lock(&file->lock);
    if (r == 0 && header.type) {
        r = log_apply(&file->log, &(struct format_header){
                                      .sequence = header.sequence,
                                      .logical_offset = header.logical_offset,
                                      .raw_length = header.raw_length,
                                      .logical_size = file->log.logical_size,
                                      .stored_length = header.stored_length,
                                      .type = header.type,
                                      .codec = header.codec,
                                  }, lower_offset);
        file->gap |= r < 0; /* the next index is to say that this frame does not count */
    }
    if (r < 0 && file->error == 0)
        file->error = r;
    buffer_drop(buffer);
    file->busy_count--;
    pthread_cond_broadcast(&file->idle);
    pthread_mutex_unlock(&file->lock); /* the file may be closed from here on */
    return r;
}
