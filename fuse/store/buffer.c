/* The dirty chunks of a file: the list of them, and when they are written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/internal.h"

static size_t lower_bound(const struct store_file *file, uint64_t chunk)
{
    size_t low = 0, high = file->buffer_count;

    if (high && file->buffers[high - 1]->chunk < chunk)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (file->buffers[middle]->chunk < chunk)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct buffer *buffer_find(struct store_file *file, uint64_t chunk)
{
    size_t at = lower_bound(file, chunk);

    return at < file->buffer_count && file->buffers[at]->chunk == chunk ? file->buffers[at] : NULL;
}

/* Memory that was in use a moment ago is in the processor's caches, and the kernel need not clear its pages. */
static uint8_t *data_new(struct store_file *file)
{
    struct store *store = file->store;
    struct spare *spare = NULL;

    if (file->chunk_bytes == store->config.chunk_bytes) {
        pthread_mutex_lock(&store->lock);
        spare = store->spares;
        if (spare) {
            store->spares = spare->next;
            store->spare_count--;
        }
        pthread_mutex_unlock(&store->lock);
    }
    return spare ? (uint8_t *)spare : malloc(file->chunk_bytes);
}

static void data_free(struct store_file *file, uint8_t *data)
{
    struct store *store = file->store;
    struct spare *spare = (struct spare *)(void *)data;

    if (file->chunk_bytes == store->config.chunk_bytes && spare) {
        pthread_mutex_lock(&store->lock);
        if (store->spare_count < SPARES_FOR_WORKER * store->config.worker_count) {
            spare->next = store->spares;
            store->spares = spare;
            store->spare_count++;
            spare = NULL;
        }
        pthread_mutex_unlock(&store->lock);
    }
    free(spare);
}

static void buffer_free(struct buffer *buffer)
{
    data_free(buffer->file, buffer->data);
    free(buffer);
}

void buffer_unpin(struct buffer *buffer)
{
    if (--buffer->pins == 0 && buffer->gone)
        buffer_free(buffer);
}

void buffer_drop(struct buffer *buffer)
{
    struct store_file *file = buffer->file;
    size_t at = lower_bound(file, buffer->chunk);

    memmove(file->buffers + at, file->buffers + at + 1, (file->buffer_count - at - 1) * sizeof(*file->buffers));
    file->buffer_count--;
    pthread_mutex_lock(&file->store->lock);
    file->store->dirty_bytes -= file->chunk_bytes;
    pthread_cond_broadcast(&file->store->room);
    pthread_mutex_unlock(&file->store->lock);
    buffer->gone = true;
    if (buffer->pins == 0)
        buffer_free(buffer);
}

static int buffer_new(struct store_file *file, uint64_t chunk, struct buffer **ret_buffer)
{
    struct buffer *buffer = calloc(1, sizeof(*buffer));
    size_t at;

    if (!buffer)
        return -ENOMEM;
    buffer->file = file;
    buffer->data = data_new(file);
    if (!buffer->data)
        goto no_memory;
    if (file->buffer_count == file->buffer_capacity) {
        size_t capacity = file->buffer_capacity ? file->buffer_capacity * 2 : 4;
        struct buffer **buffers = reallocarray(file->buffers, capacity, sizeof(struct buffer *));

        if (!buffers)
            goto no_memory;
        file->buffers = buffers;
        file->buffer_capacity = capacity;
    }
    buffer->chunk = chunk;
    buffer->dirtied_ns = clock_ns();
    at = lower_bound(file, chunk);
    memmove(file->buffers + at + 1, file->buffers + at, (file->buffer_count - at) * sizeof(*file->buffers));
    file->buffers[at] = buffer;
    file->buffer_count++;
    pthread_mutex_lock(&file->store->lock);
    if (file->store->dirty_bytes == 0)
        pthread_cond_signal(&file->store->watch);
    file->store->dirty_bytes += file->chunk_bytes;
    pthread_mutex_unlock(&file->store->lock);
    *ret_buffer = buffer;
    return 0;

no_memory:
    buffer_free(buffer);
    return -ENOMEM;
}

/* Waits for a buffer of this file to be done, with its lock held. */
static void wait_idle(struct store_file *file, struct split *split)
{
    uint64_t began_ns = split_begin(split);

    pthread_cond_wait(&file->idle, &file->lock);
    split_end_wait(split, began_ns);
}

int buffer_for_writing(struct store_file *file, struct split *split, uint64_t chunk, struct buffer **ret_buffer)
{
    struct buffer *buffer;
    int r = 0;

    pthread_mutex_lock(&file->lock);
    while ((buffer = buffer_find(file, chunk)) && buffer->busy)
        wait_idle(file, split);
    if (!buffer) {
        pthread_mutex_unlock(&file->lock);
        buffer_wait_for_room(file, split);
        pthread_mutex_lock(&file->lock);
        r = buffer_new(file, chunk, &buffer); /* nobody else makes one: `content` is held exclusively */
    }
    pthread_mutex_unlock(&file->lock);
    if (r == 0)
        *ret_buffer = buffer;
    return r;
}

static void mark_busy(struct buffer *buffer)
{
    buffer->busy = true;
    buffer->file->busy_count++;
}

static void hand_over(struct buffer *buffer, struct split *split)
{
    if (!workers_offer(buffer->file->store, buffer))
        buffer_write(buffer, split);
}

void buffer_submit(struct buffer *buffer, struct split *split)
{
    struct store_file *file = buffer->file;

    pthread_mutex_lock(&file->lock);
    mark_busy(buffer);
    pthread_mutex_unlock(&file->lock);
    hand_over(buffer, split);
}

void buffer_submit_old(struct store_file *file, uint64_t before_ns)
{
    pthread_mutex_lock(&file->lock);
    for (size_t i = 0; i < file->buffer_count; i++) {
        struct buffer *buffer = file->buffers[i];

        if (buffer->busy || buffer->dirtied_ns > before_ns)
            continue;
        mark_busy(buffer);
        workers_queue(file->store, buffer);
    }
    pthread_mutex_unlock(&file->lock);
}

/* The first buffer from `chunk` on that is not busy, marked busy; NULL when there is none. With the lock held. */
static struct buffer *take_next(struct store_file *file, uint64_t chunk, bool *ret_more)
{
    struct buffer *found = NULL;

    *ret_more = false;
    for (size_t i = lower_bound(file, chunk); i < file->buffer_count; i++) {
        if (file->buffers[i]->busy)
            continue;
        if (found) {
            *ret_more = true;
            break;
        }
        found = file->buffers[i];
    }
    if (found)
        mark_busy(found);
    return found;
}

/* The frame that records a size which no data frame has: after zeros, which store nothing, or a failed frame. */
static int record_size(struct store_file *file, struct split *split)
{
    uint64_t size = atomic_load(&file->size), lower_offset;
    struct format_header header = {.type = FORMAT_TRUNC, .logical_offset = size, .logical_size = size};
    uint8_t frame[FORMAT_HEADER_BYTES];
    int r;

    r = append_frame(file, split, &header, frame, &lower_offset);
    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    file->log.logical_size = size;
    file->size_lost = false;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

void buffer_drain(struct store_file *file, struct split *split)
{
    struct buffer *buffer;
    uint64_t next = 0;
    bool more;
    int r = 0;

    pthread_mutex_lock(&file->lock);
    while ((buffer = take_next(file, next, &more))) {
        next = buffer->chunk + 1;
        pthread_mutex_unlock(&file->lock);
        /* The last one is written here: it has to be waited for anyway. */
        if (more)
            hand_over(buffer, split);
        else
            buffer_write(buffer, split);
        pthread_mutex_lock(&file->lock);
    }
    while (file->busy_count)
        wait_idle(file, split);
    if (!file->read_only && (file->log.logical_size != atomic_load(&file->size) || file->size_lost)) {
        pthread_mutex_unlock(&file->lock);
        r = record_size(file, split);
        pthread_mutex_lock(&file->lock);
    }
    if (r < 0 && file->error == 0)
        file->error = r;
    pthread_mutex_unlock(&file->lock);
}

void buffer_settle(struct store_file *file, struct split *split)
{
    pthread_mutex_lock(&file->lock);
    while (file->busy_count)
        wait_idle(file, split);
    pthread_mutex_unlock(&file->lock);
}

void buffer_discard(struct store_file *file)
{
    pthread_mutex_lock(&file->lock);
    while (file->buffer_count)
        buffer_drop(file->buffers[file->buffer_count - 1]);
    pthread_mutex_unlock(&file->lock);
}

void buffer_wait_for_room(struct store_file *file, struct split *split)
{
    struct store *store = file->store;
    struct buffer *buffer;
    bool more;

    pthread_mutex_lock(&store->lock);
    while (store->dirty_bytes + file->chunk_bytes > store->config.dirty_limit_bytes) {
        pthread_mutex_unlock(&store->lock);
        pthread_mutex_lock(&file->lock);
        buffer = take_next(file, 0, &more);
        pthread_mutex_unlock(&file->lock);
        if (buffer)
            hand_over(buffer, split);
        pthread_mutex_lock(&store->lock);
        if (buffer)
            continue;
        if (store->in_flight == 0)
            break; /* what is left are single chunks of other files, a second old at most */
        if (store->dirty_bytes + file->chunk_bytes > store->config.dirty_limit_bytes) {
            uint64_t began_ns = split_begin(split);

            pthread_cond_wait(&store->room, &store->lock);
            split_end_wait(split, began_ns);
        }
    }
    pthread_mutex_unlock(&store->lock);
}
