/* Writing into the buffers. */
#include <errno.h>
#include <string.h>

#include "store/internal.h"

/* Makes room in the buffer for [begin, end): the written bytes must stay one range, unless all of the chunk is there. */
static int join_range(struct store_file *file, struct split *split, struct buffer *buffer, uint32_t begin, uint32_t end)
{
    if (buffer->begin == buffer->end || buffer->loaded || (begin <= buffer->end && end >= buffer->begin))
        return 0;
    return buffer_load(file, split, buffer);
}

static int write_piece(struct store_file *file, struct split *split, const uint8_t *data, uint64_t position,
                       uint32_t length)
{
    uint32_t begin = (uint32_t)(position & (file->chunk_bytes - 1)), end = begin + length;
    uint64_t chunk = position >> file->log.map.chunk_shift;
    struct buffer *buffer;
    int r;

    for (;;) {
        r = buffer_for_writing(file, split, chunk, &buffer);
        if (r < 0)
            return r;
        r = join_range(file, split, buffer, begin, end);
        if (r == 0)
            break;
        if (r != -EIO)
            return r;
        /* What is below is damaged: each range goes into the log for itself. */
        buffer_submit(buffer, split);
    }
    memcpy(buffer->data + begin, data, length);
    pthread_mutex_lock(&file->lock); /* stat looks at the range */
    if (buffer->begin == buffer->end) {
        buffer->begin = begin;
        buffer->end = end;
    } else {
        buffer->begin = begin < buffer->begin ? begin : buffer->begin;
        buffer->end = end > buffer->end ? end : buffer->end;
    }
    pthread_mutex_unlock(&file->lock);
    if (position + length > atomic_load(&file->size))
        atomic_store(&file->size, position + length);
    if (buffer->begin == 0 && buffer->end == file->chunk_bytes)
        buffer_submit(buffer, split);
    return 0;
}

ssize_t file_pwrite(struct backend *backend, struct split *split, const void *data, size_t size, off_t offset,
                    bool append)
{
    struct store_file *file = file_of(backend);
    size_t done = 0;
    uint64_t at;
    int r;

    if (file->read_only)
        return -EROFS;
    if (offset < 0 && !append)
        return -EINVAL;
    reclaim_if_due(file, split);
    content_lock(file, split);
    if (checkpoint_is_due(file, false)) {
        buffer_settle(file, split);
        checkpoint_write(file, split); /* only a short cut: the frames are there without it */
    }
    at = append ? atomic_load(&file->size) : (uint64_t)offset;
    r = size && at >= FORMAT_SIZE_MAX ? -EFBIG : file_take_error(file);
    if (size > FORMAT_SIZE_MAX - at)
        size = (size_t)(FORMAT_SIZE_MAX - at);
    while (done < size && r == 0) {
        uint32_t room = file->chunk_bytes - (uint32_t)((at + done) & (file->chunk_bytes - 1));
        uint32_t length = room < size - done ? room : (uint32_t)(size - done);

        r = write_piece(file, split, (const uint8_t *)data + done, at + done, length);
        if (r == 0)
            done += length;
    }
    content_unlock(file);
    return r < 0 && done == 0 ? r : (ssize_t)done;
}
