/* Writing frames at the end of the log. */
#include <errno.h>
#include <string.h>

#include "store/internal.h"

int write_fully(struct store_file *file, struct split *split, const uint8_t *data, size_t size, uint64_t offset)
{
    while (size) {
        ssize_t written = backend_pwrite(file->lower, split, data, size, (off_t)offset, false);

        if (written == -EINTR)
            continue;
        if (written < 0)
            return (int)written;
        if (written == 0)
            return -EIO;
        data += written;
        size -= (size_t)written;
        offset += (size_t)written;
    }
    return 0;
}

/* A lower file whose size is no multiple of FORMAT_ALIGN would not be taken for a container. */
int append_cut_garbage(struct store_file *file, struct split *split)
{
    int r;

    if (!file->garbage || file->writes)
        return 0;
    file->log.tail = file->written_end;
    r = backend_truncate(file->lower, split, (off_t)file->written_end);
    if (r == 0)
        file->garbage = false;
    return r;
}

/* Takes `total` bytes at the end of the log, with the file's lock held. */
static int begin_write(struct store_file *file, struct split *split, uint64_t total, uint64_t *ret_lower_offset)
{
    int r = append_cut_garbage(file, split);

    if (r < 0)
        return r;
    if (total > FORMAT_SIZE_MAX - file->log.tail)
        return -EFBIG;
    *ret_lower_offset = file->log.tail;
    file->log.tail += total;
    file->log.clean = false;
    file->writes++;
    return 0;
}

/* `r` is what writing there gave. With the file's lock held. */
static void end_write(struct store_file *file, struct split *split, uint64_t lower_offset, uint64_t total, int r)
{
    file->writes--;
    if (r < 0) {
        file->garbage = true;
    } else {
        if (lower_offset + total > file->written_end)
            file->written_end = lower_offset + total;
        if (lower_offset == 0)
            file->log.first_end = total;
        file->used_bytes += total;
    }
    if (file->garbage)
        append_cut_garbage(file, split);
}

uint64_t append_durable(const struct store_file *file)
{
    return file->gap || file->log.durable_sequence < file->complete_from ? 0 : file->log.durable_sequence;
}

static uint8_t durable_distance(const struct store_file *file, uint64_t sequence)
{
    uint64_t durable = append_durable(file);

    return durable == 0 || sequence - durable > UINT8_MAX ? 0 : (uint8_t)(sequence - durable);
}

void append_number(struct store_file *file, struct format_header *header)
{
    struct log_state *log = &file->log;

    header->file_id = log->file_id;
    header->chunk_shift = (uint8_t)log->map.chunk_shift;
    header->sequence = ++log->sequence;
    if (header->type == FORMAT_DATA && header->logical_offset + header->raw_length > log->logical_size)
        log->logical_size = header->logical_offset + header->raw_length;
    if (header->type != FORMAT_TRUNC)
        header->logical_size = log->logical_size;
    if (header->type != FORMAT_INDEX)
        header->durable_distance = durable_distance(file, header->sequence);
}

size_t append_encode(const struct format_header *header, uint8_t *frame)
{
    size_t total = (size_t)format_frame_bytes(header->stored_length), end = FORMAT_HEADER_BYTES + header->stored_length;

    format_header_encode(header, frame);
    memset(frame + end, 0, total - end);
    return total;
}

int append_frame(struct store_file *file, struct split *split, struct format_header *header, uint8_t *frame,
                 uint64_t *ret_lower_offset)
{
    uint64_t total = format_frame_bytes(header->stored_length), lower_offset;
    int r;

    pthread_mutex_lock(&file->lock);
    r = begin_write(file, split, total, &lower_offset);
    if (r == 0)
        append_number(file, header);
    pthread_mutex_unlock(&file->lock);
    if (r < 0)
        return r;
    r = write_fully(file, split, frame, append_encode(header, frame), lower_offset);
    pthread_mutex_lock(&file->lock);
    if (r < 0) {
        file->gap = true;
        file->size_lost = true;
    }
    end_write(file, split, lower_offset, total, r);
    pthread_mutex_unlock(&file->lock);
    if (r == 0)
        *ret_lower_offset = lower_offset;
    return r;
}

int append_copy(struct store_file *file, struct split *split, const uint8_t *frame, size_t total,
                uint64_t *ret_lower_offset)
{
    uint64_t lower_offset;
    int r;

    pthread_mutex_lock(&file->lock);
    r = begin_write(file, split, total, &lower_offset);
    pthread_mutex_unlock(&file->lock);
    if (r < 0)
        return r;
    r = write_fully(file, split, frame, total, lower_offset);
    pthread_mutex_lock(&file->lock);
    end_write(file, split, lower_offset, total, r);
    pthread_mutex_unlock(&file->lock);
    if (r == 0)
        *ret_lower_offset = lower_offset;
    return r;
}
