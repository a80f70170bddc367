/* Reading, and finding data and holes. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "store/internal.h"

/* A piece of a request within one chunk. */
struct piece {
    uint64_t chunk;
    uint32_t begin, end;
    bool to_file_end;
    uint8_t *out;
    uint32_t out_capacity; /* what the request has room for from `out` on */
};

/* What a chunk is made of at one moment. */
struct view {
    struct buffer *buffer; /* pinned; NULL when there is none */
    bool loaded;
    struct extent extents[MAP_EXTENTS_MAX];
    uint32_t count;
};

static void view_take(struct store_file *file, uint64_t chunk, struct view *view)
{
    const struct map_chunk *entry;

    pthread_mutex_lock(&file->lock);
    view->buffer = buffer_find(file, chunk);
    view->loaded = false;
    view->count = 0;
    if (view->buffer) {
        view->buffer->pins++;
        view->loaded = view->buffer->loaded;
    }
    entry = view->loaded ? NULL : map_find(&file->log.map, chunk);
    if (entry) {
        view->count = entry->count;
        memcpy(view->extents, entry->extents, entry->count * sizeof(*entry->extents));
    }
    pthread_mutex_unlock(&file->lock);
}

static void view_release(struct store_file *file, struct view *view)
{
    if (!view->buffer)
        return;
    pthread_mutex_lock(&file->lock);
    buffer_unpin(view->buffer);
    pthread_mutex_unlock(&file->lock);
}

static uint64_t version_of(const struct view *view)
{
    uint64_t newest = 0;

    for (uint32_t i = 0; i < view->count; i++)
        if (view->extents[i].sequence > newest)
            newest = view->extents[i].sequence;
    return newest;
}

static int decode(struct store_file *file, struct split *split, const struct view *view, uint64_t chunk, uint8_t *out,
                  uint32_t capacity)
{
    struct scratch *scratch = scratch_get(&file->store->scratches);
    int r;

    if (!scratch)
        return -ENOMEM;
    r = decode_chunk(file, split, scratch, chunk, view->extents, view->count, out, capacity);
    scratch_put(&file->store->scratches, scratch);
    return r;
}

/* A part of a chunk: decodes all of it into the cache, since its other parts are often read next. */
static int read_by_cache(struct store_file *file, struct split *split, const struct view *view,
                         const struct piece *piece)
{
    struct cache *cache = file->store->cache;
    const struct cache_key key = {file->cache_id, piece->chunk, version_of(view)};
    struct cached *cached = cache_find(cache, &key);
    int r = 0;

    if (!cached) {
        cached = cache_new(cache, &key, file->chunk_bytes);
        if (!cached)
            return -ENOMEM;
        r = decode(file, split, view, piece->chunk, cached_data(cached), file->chunk_bytes);
        if (r == 0)
            cache_publish(cache, cached);
    }
    if (r == 0)
        memcpy(piece->out, cached_data(cached) + piece->begin, piece->end - piece->begin);
    cache_release(cache, cached);
    return r;
}

static int read_below(struct store_file *file, struct split *split, const struct view *view, const struct piece *piece)
{
    if (view->count == 0) {
        if (!decode_is_known(file, piece->chunk, NULL, 0))
            return -EIO;
        memset(piece->out, 0, piece->end - piece->begin);
        return 0;
    }
    if (piece->begin == 0 && piece->out_capacity >= file->chunk_bytes)
        return decode(file, split, view, piece->chunk, piece->out, file->chunk_bytes);
    if (piece->begin == 0 && (piece->end == file->chunk_bytes || piece->to_file_end))
        return decode(file, split, view, piece->chunk, piece->out, piece->end);
    return read_by_cache(file, split, view, piece);
}

static int read_piece(struct store_file *file, struct split *split, const struct piece *piece)
{
    const struct buffer *buffer;
    struct view view;
    uint32_t begin, end;
    int r = 0;

    view_take(file, piece->chunk, &view);
    buffer = view.buffer;
    begin = buffer && !view.loaded && buffer->begin > piece->begin ? buffer->begin : piece->begin;
    end = buffer && !view.loaded && buffer->end < piece->end ? buffer->end : piece->end;
    if (!buffer || begin > piece->begin || end < piece->end)
        r = read_below(file, split, &view, piece);
    if (r == 0 && buffer && begin < end)
        memcpy(piece->out + (begin - piece->begin), buffer->data + begin, end - begin);
    view_release(file, &view);
    return r;
}

/* Pieces of a request that are read as one. */
#define PIECES_MAX 64

struct request {
    struct store_file *file;
    struct piece pieces[PIECES_MAX];
    size_t count;
};

static int read_one(void *user, struct split *split, size_t number)
{
    const struct request *request = user;

    return read_piece(request->file, split, &request->pieces[number]);
}

/* Copying what is not compressed is faster than waking somebody to help. */
static bool has_compressed(struct store_file *file)
{
    bool compressed;

    pthread_mutex_lock(&file->lock);
    compressed = file->log.codec != TALLY_CODEC_RAW;
    pthread_mutex_unlock(&file->lock);
    return compressed;
}

static int read_pieces(struct request *request, struct split *split)
{
    int r = 0;

    if (request->count > 1 && has_compressed(request->file))
        return workers_share(request->file->store, split, request->count, read_one, request);
    for (size_t i = 0; i < request->count && r == 0; i++)
        r = read_one(request, split, i);
    return r;
}

static ssize_t read_range(struct store_file *file, struct split *split, uint8_t *data, size_t size, uint64_t at)
{
    uint64_t file_size = atomic_load(&file->size);
    struct request request;
    size_t done = 0;

    if (at >= file_size)
        return 0;
    if (size > file_size - at)
        size = (size_t)(file_size - at);
    request.file = file;
    request.count = 0;
    while (done < size) {
        uint64_t position = at + done;
        uint32_t begin = (uint32_t)(position & (file->chunk_bytes - 1));
        uint32_t length = file->chunk_bytes - begin < size - done ? file->chunk_bytes - begin : (uint32_t)(size - done);

        request.pieces[request.count++] = (struct piece){
            .chunk = position >> file->log.map.chunk_shift,
            .begin = begin,
            .end = begin + length,
            .to_file_end = position + length == file_size,
            .out = data + done,
            .out_capacity = size - done < UINT32_MAX ? (uint32_t)(size - done) : UINT32_MAX,
        };
        done += length;
        if (done == size || request.count == PIECES_MAX) {
            int r = read_pieces(&request, split);

            if (r < 0)
                return r;
            request.count = 0;
        }
    }
    return (ssize_t)done;
}

/*
 * All or an error: whoever gets fewer bytes than asked for takes it for the end of the file. The kernel asks again
 * page by page after an error, so a bad chunk does not take its neighbours along.
 */
ssize_t file_pread(struct backend *backend, struct split *split, void *data, size_t size, off_t offset)
{
    struct store_file *file = file_of(backend);
    ssize_t got;

    if (offset < 0)
        return -EINVAL;
    content_lock_shared(file, split);
    got = read_range(file, split, data, size, (uint64_t)offset);
    content_unlock(file);
    if (got != -EIO || !file->read_only)
        return got;
    content_lock(file, split);
    if (file_recover(file, split) == 0)
        got = read_range(file, split, data, size, (uint64_t)offset);
    content_unlock(file);
    return got;
}

/* Whether there is data in the chunk, and otherwise which next chunk has some; UINT64_MAX for none. */
static uint64_t next_data(struct store_file *file, uint64_t chunk)
{
    const struct map_chunk *entry;
    uint64_t next = UINT64_MAX;

    pthread_mutex_lock(&file->lock);
    entry = map_next(&file->log.map, chunk);
    if (entry)
        next = entry->chunk;
    for (size_t i = 0; i < file->buffer_count; i++)
        if (file->buffers[i]->chunk >= chunk && file->buffers[i]->chunk < next)
            next = file->buffers[i]->chunk;
    pthread_mutex_unlock(&file->lock);
    return next;
}

off_t file_seek(struct backend *backend, struct split *split, off_t offset, int whence)
{
    struct store_file *file = file_of(backend);
    unsigned shift = file->log.map.chunk_shift;
    uint64_t at = (uint64_t)offset, chunk, next, size;

    if (whence != SEEK_DATA && whence != SEEK_HOLE)
        return -EINVAL;
    content_lock_shared(file, split);
    size = atomic_load(&file->size);
    if (offset < 0 || at >= size) {
        content_unlock(file);
        return -ENXIO;
    }
    chunk = at >> shift;
    next = next_data(file, chunk);
    if (whence == SEEK_HOLE) {
        while (next == chunk && chunk << shift < size) {
            chunk++;
            next = next_data(file, chunk);
        }
        next = chunk;
    }
    content_unlock(file);
    if (next == at >> shift)
        return offset;
    if (next > size >> shift || next << shift >= size)
        return whence == SEEK_DATA ? -ENXIO : (off_t)size;
    return (off_t)(next << shift);
}
