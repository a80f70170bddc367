/* Truncating, punching, zeroing, allocating. */
#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>

#include "store/internal.h"

/* A zero extent over a part of this chunk may be one too many: then the chunk is written anew first. */
static int fold_edge(struct store_file *file, struct split *split, uint64_t offset)
{
    const struct map_chunk *entry;
    struct buffer *buffer;
    bool crowded;
    int r;

    if ((offset & (file->chunk_bytes - 1)) == 0)
        return 0;
    pthread_mutex_lock(&file->lock);
    entry = map_find(&file->log.map, offset >> file->log.map.chunk_shift);
    crowded = entry && entry->count > DELTAS_MAX;
    pthread_mutex_unlock(&file->lock);
    if (!crowded)
        return 0;
    r = buffer_for_writing(file, split, offset >> file->log.map.chunk_shift, &buffer);
    if (r < 0)
        return r;
    r = buffer_load(file, split, buffer);
    if (r == 0) {
        uint64_t start = buffer->chunk << file->log.map.chunk_shift, left = atomic_load(&file->size) - start;

        pthread_mutex_lock(&file->lock);
        buffer->end = left < file->chunk_bytes ? (uint32_t)left : file->chunk_bytes;
        pthread_mutex_unlock(&file->lock);
    }
    buffer_drain(file, split);
    return r == -EIO ? 0 : r;
}

/* Appends a frame without payload and applies it. */
static int append_and_apply(struct store_file *file, struct split *split, struct format_header *header)
{
    uint8_t frame[FORMAT_HEADER_BYTES];
    uint64_t lower_offset;
    int r = append_frame(file, split, header, frame, &lower_offset);

    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    r = log_apply(&file->log, header, lower_offset);
    file->gap |= r < 0; /* the next index is to say that this frame does not count */
    if (header->type == FORMAT_TRUNC)
        file->size_lost = false;
    pthread_mutex_unlock(&file->lock);
    return r;
}

/* Nothing older matters any more: the log starts anew, under a new file id in case the power fails in between. */
static int empty(struct store_file *file, struct split *split)
{
    int r;

    buffer_settle(file, split);
    reclaim_settle(file, split);
    r = backend_truncate(file->lower, split, 0);
    if (r < 0)
        return r;
    buffer_discard(file);
    r = file_begin_log(file);
    if (r < 0)
        return r;
    atomic_store(&file->size, 0);
    /* Sequence numbers begin anew, and the cache knows a chunk's contents by the newest of them. */
    pthread_mutex_lock(&file->store->lock);
    file->cache_id = ++file->store->file_count;
    pthread_mutex_unlock(&file->store->lock);
    return 0;
}

static int resize(struct store_file *file, struct split *split, uint64_t size)
{
    struct format_header header = {.type = FORMAT_TRUNC, .logical_offset = size, .logical_size = size};
    int r;

    if (size == 0)
        return empty(file, split);
    buffer_drain(file, split);
    r = size < atomic_load(&file->size) ? fold_edge(file, split, size) : 0;
    if (r == 0)
        r = append_and_apply(file, split, &header);
    if (r == 0)
        atomic_store(&file->size, size);
    return r;
}

int file_truncate(struct backend *backend, struct split *split, off_t size)
{
    struct store_file *file = file_of(backend);
    int r;

    if (file->read_only)
        return -EROFS;
    if (size < 0)
        return -EINVAL;
    reclaim_if_due(file, split);
    content_lock(file, split);
    r = resize(file, split, (uint64_t)size);
    content_unlock(file);
    return r;
}

static int zero(struct store_file *file, struct split *split, uint64_t offset, uint64_t length)
{
    struct format_header header = {.type = FORMAT_HOLE, .logical_offset = offset};
    uint64_t size = atomic_load(&file->size), end = offset + length < size ? offset + length : size;
    const struct map_chunk *entry;
    bool touches;
    int r;

    if (offset >= size)
        return 0;
    buffer_drain(file, split);
    r = fold_edge(file, split, offset);
    if (r == 0)
        r = fold_edge(file, split, end);
    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    entry = map_next(&file->log.map, offset >> file->log.map.chunk_shift);
    touches = entry && entry->chunk << file->log.map.chunk_shift < end;
    pthread_mutex_unlock(&file->lock);
    header.raw_length = end - offset;
    return touches ? append_and_apply(file, split, &header) : 0;
}

/* What the lower file system has left must hold the range uncompressed. It is not kept free for us: nothing could. */
static int check_space(struct store_file *file, struct split *split, uint64_t length)
{
    int fd = backend_descriptor(file->lower);
    struct statvfs space;
    int r;

    if (fd < 0)
        return 0;
    r = LOWER(split, fstatvfs(fd, &space));
    if (r < 0)
        return r;
    if (space.f_blocks == 0 || space.f_frsize == 0) /* a file system that does not count */
        return 0;
    return length / space.f_frsize >= space.f_bavail ? -ENOSPC : 0;
}

static int allocate(struct store_file *file, struct split *split, int mode, uint64_t offset, uint64_t length)
{
    uint64_t size = atomic_load(&file->size);
    int r;

    switch (mode & ~FALLOC_FL_KEEP_SIZE) {
    case 0:
        r = check_space(file, split, length);
        break;
    case FALLOC_FL_PUNCH_HOLE:
        return mode & FALLOC_FL_KEEP_SIZE ? zero(file, split, offset, length) : -EOPNOTSUPP;
    case FALLOC_FL_ZERO_RANGE:
        r = zero(file, split, offset, length);
        break;
    default:
        return -EOPNOTSUPP;
    }
    if (r == 0 && !(mode & FALLOC_FL_KEEP_SIZE) && offset + length > size)
        r = resize(file, split, offset + length);
    return r;
}

int file_allocate(struct backend *backend, struct split *split, int mode, off_t offset, off_t length)
{
    struct store_file *file = file_of(backend);
    int r;

    if (file->read_only)
        return -EROFS;
    if (offset < 0 || length <= 0)
        return -EINVAL;
    if (length > INT64_MAX - offset)
        return -EFBIG;
    reclaim_if_due(file, split);
    content_lock(file, split);
    r = allocate(file, split, mode, (uint64_t)offset, (uint64_t)length);
    content_unlock(file);
    return r;
}
