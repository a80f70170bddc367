/* One open container. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "store/internal.h"

void content_lock_shared(struct store_file *file, struct split *split)
{
    uint64_t began_ns;

    if (pthread_rwlock_tryrdlock(&file->content) == 0)
        return;
    began_ns = split_begin(split);
    pthread_rwlock_rdlock(&file->content);
    split_end_wait(split, began_ns);
}

void content_lock(struct store_file *file, struct split *split)
{
    uint64_t began_ns;

    if (pthread_rwlock_trywrlock(&file->content) == 0)
        return;
    began_ns = split_begin(split);
    pthread_rwlock_wrlock(&file->content);
    split_end_wait(split, began_ns);
}

void content_unlock(struct store_file *file)
{
    pthread_rwlock_unlock(&file->content);
}

void file_keep_error(struct store_file *file, int error)
{
    pthread_mutex_lock(&file->lock);
    if (file->error == 0)
        file->error = error;
    pthread_mutex_unlock(&file->lock);
}

int file_take_error(struct store_file *file)
{
    int error;

    pthread_mutex_lock(&file->lock);
    error = file->error;
    file->error = 0;
    pthread_mutex_unlock(&file->lock);
    return error;
}

int file_recover(struct store_file *file, struct split *split)
{
    struct log_state whole;
    int r;

    if (!file->log.suspect)
        return -EIO;
    r = log_recover(file->lower, split, file->log.tail, file->store->boot_id, &whole);
    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    map_clear(&file->log.map);
    file->log = whole;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static int file_size(struct backend *backend, struct split *split, off_t *ret_size)
{
    (void)split;
    *ret_size = (off_t)atomic_load(&file_of(backend)->size);
    return 0;
}

/* An index that is due goes in here and not in the last close, which comes after the program's own close has returned. */
static int file_flush(struct backend *backend, struct split *split)
{
    struct store_file *file = file_of(backend);
    int r;

    content_lock_shared(file, split);
    buffer_drain(file, split);
    content_unlock(file);
    reclaim_if_due(file, split);
    if (checkpoint_is_due(file, true)) {
        content_lock(file, split);
        buffer_drain(file, split);
        checkpoint_write(file, split); /* only a short cut: the frames are there without it */
        content_unlock(file);
    }
    r = file_take_error(file);
    if (r == 0 && !file->read_only)
        r = backend_flush(file->lower, split);
    return r;
}

int file_sync_log(struct store_file *file, struct split *split, bool data_only, uint64_t file_id, uint64_t sequence)
{
    int r = backend_sync(file->lower, split, data_only);

    pthread_mutex_lock(&file->lock);
    if (r < 0)
        file->sync_failed = true;
    else if (!file->sync_failed && file->log.file_id == file_id && sequence > file->log.durable_sequence)
        file->log.durable_sequence = sequence;
    pthread_mutex_unlock(&file->lock);
    return r;
}

/* The content lock is not held over the wait for the medium: others go on, what they write is not part of this sync. */
static int file_sync(struct backend *backend, struct split *split, bool data_only)
{
    struct store_file *file = file_of(backend);
    uint64_t sequence, file_id;
    int r, error;

    content_lock_shared(file, split);
    buffer_drain(file, split);
    pthread_mutex_lock(&file->lock);
    sequence = file->writes ? 0 : file->log.sequence; /* another drain may be recording the size */
    file_id = file->log.file_id;
    pthread_mutex_unlock(&file->lock);
    error = file_take_error(file);
    content_unlock(file);
    r = file_sync_log(file, split, data_only, file_id, sequence);
    if (r == 0)
        reclaim_if_due(file, split);
    return error ? error : r;
}

static int file_stat(struct backend *backend, struct split *split, struct stat *ret_attributes)
{
    struct store_file *file = file_of(backend);
    struct stat attributes;
    int r = backend_stat(file->lower, split, &attributes);

    if (r < 0)
        return r;
    attributes.st_size = (off_t)atomic_load(&file->size);
    pthread_mutex_lock(&file->lock);
    for (size_t i = 0; i < file->buffer_count; i++)
        attributes.st_blocks += (file->buffers[i]->end - file->buffers[i]->begin + 511) / 512;
    if (attributes.st_blocks == 0 && file->log.map.chunk_count)
        attributes.st_blocks = 1;
    pthread_mutex_unlock(&file->lock);
    *ret_attributes = attributes;
    return 0;
}

static int file_descriptor(struct backend *backend)
{
    return backend_descriptor(file_of(backend)->lower);
}

/* What is known of the lower file once its log has been loaded. */
static void adopt_log(struct store_file *file, struct split *split, off_t lower_size)
{
    struct stat attributes;

    file->chunk_bytes = UINT32_C(1) << file->log.map.chunk_shift;
    file->written_end = file->log.tail;
    file->trailer_end = file->log.clean ? file->log.tail : file->log.index_end;
    file->used_bytes = file->log.tail;
    if (backend_stat(file->lower, split, &attributes) == 0 && (uint64_t)attributes.st_blocks * 512 < file->log.tail)
        file->used_bytes = (uint64_t)attributes.st_blocks * 512;
    file->garbage = file->log.tail < (uint64_t)lower_size;
    file->gap = !file->log.clean;
    file->complete_from = file->log.sequence;
    atomic_store(&file->size, file->log.logical_size);
}

int store_file_begin_writing(struct backend *backend, struct split *split, const struct tally_codec_choice *choice)
{
    struct store_file *file = file_of(backend);
    off_t lower_size;
    int r = 0;

    if (!file->read_only)
        return 0;
    content_lock(file, split);
    if (file->log.suspect) {
        r = backend_size(file->lower, split, &lower_size);
        if (r == 0)
            r = file_recover(file, split);
        if (r == 0)
            adopt_log(file, split, lower_size);
    }
    if (r == 0) {
        file->choice = *choice;
        file->read_only = false;
    }
    content_unlock(file);
    return r;
}

int store_file_info(struct backend *backend, struct split *split, struct store_file_info *ret_info)
{
    struct store_file *file = file_of(backend);
    struct stat attributes;
    int r = backend_stat(file->lower, split, &attributes);

    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    *ret_info = (struct store_file_info){
        .logical_bytes = atomic_load(&file->size),
        .data_bytes = file->log.map.data_bytes,
        .live_bytes = file->log.map.stored_bytes,
        .stored_bytes = (uint64_t)attributes.st_blocks * 512,
        .chunks = file->log.map.chunk_count,
        .frames = file->log.map.extent_count,
        .chunk_bytes = file->chunk_bytes,
        .codec = file->log.codec,
    };
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static void enlist(struct store_file *file)
{
    struct store *store = file->store;

    pthread_mutex_lock(&store->lock);
    file->cache_id = ++store->file_count;
    file->next = store->files;
    file->link = &store->files;
    if (file->next)
        file->next->link = &file->next;
    store->files = file;
    pthread_mutex_unlock(&store->lock);
}

static void delist(struct store_file *file, struct split *split)
{
    struct store *store = file->store;
    uint64_t began_ns;

    pthread_mutex_lock(&store->lock);
    began_ns = file->pins ? split_begin(split) : 0;
    while (file->pins)
        pthread_cond_wait(&store->room, &store->lock);
    if (began_ns)
        split_end_wait(split, began_ns);
    *file->link = file->next;
    if (file->next)
        file->next->link = file->link;
    pthread_mutex_unlock(&store->lock);
}

static void file_free(struct store_file *file)
{
    log_state_free(&file->log);
    pthread_rwlock_destroy(&file->content);
    pthread_mutex_destroy(&file->lock);
    pthread_cond_destroy(&file->idle);
    free(file->buffers);
    free(file);
}

static int file_close(struct backend *backend, struct split *split)
{
    struct store_file *file = file_of(backend);
    int r, error;

    delist(file, split);
    content_lock(file, split);
    buffer_drain(file, split);
    content_unlock(file);
    reclaim_if_due(file, split);
    content_lock(file, split);
    checkpoint_write(file, split);
    content_unlock(file);
    error = file_take_error(file);
    r = backend_close(file->lower, split);
    file_free(file);
    return error ? error : r;
}

static const struct backend_operations file_operations = {
    .pread = file_pread,
    .pwrite = file_pwrite,
    .size = file_size,
    .truncate = file_truncate,
    .flush = file_flush,
    .sync = file_sync,
    .allocate = file_allocate,
    .seek = file_seek,
    .stat = file_stat,
    .descriptor = file_descriptor,
    .close = file_close,
};

int file_begin_log(struct store_file *file)
{
    uint64_t file_id = 0;

    while (file_id == 0)
        if (getrandom(&file_id, sizeof(file_id), 0) != sizeof(file_id) && errno != EINTR)
            return -errno;
    pthread_mutex_lock(&file->lock);
    map_clear(&file->log.map);
    file->log = (struct log_state){
        .file_id = file_id,
        .index_offset = FORMAT_INDEX_FIRST,
        .map.chunk_shift = (unsigned)__builtin_ctz(file->chunk_bytes),
    };
    file->written_end = 0;
    file->trailer_end = 0;
    file->used_bytes = 0;
    file->reclaim_above = 0;
    file->sync_failed = false;
    file->garbage = false;
    file->gap = false;
    file->complete_from = 0;
    file->copied = false;
    file->size_lost = false;
    file->raw_run = 0;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static int read_log(struct store_file *file, struct split *split)
{
    off_t lower_size;
    int r = backend_size(file->lower, split, &lower_size);

    if (r < 0)
        return r;
    if (lower_size == 0) {
        file->chunk_bytes = file->store->config.chunk_bytes;
        return file_begin_log(file);
    }
    r = log_load(file->lower, split, (uint64_t)lower_size, file->store->boot_id, &file->log);
    if (r < 0)
        return r;
    /* Whoever writes on makes what is there count as durable, so what the power took has to be known before. */
    if (file->log.suspect && !file->read_only)
        r = file_recover(file, split);
    if (r == 0)
        adopt_log(file, split, lower_size);
    return r;
}

static void init_locks(struct store_file *file)
{
    pthread_rwlockattr_t writers_first;

    pthread_rwlockattr_init(&writers_first);
    pthread_rwlockattr_setkind_np(&writers_first, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&file->content, &writers_first);
    pthread_rwlockattr_destroy(&writers_first);
    pthread_mutex_init(&file->lock, NULL);
    pthread_cond_init(&file->idle, NULL);
}

static struct store_file *file_new(struct store *store, struct backend *lower, bool read_only)
{
    struct store_file *file = calloc(1, sizeof(*file));

    if (!file)
        return NULL;
    file->backend.operations = &file_operations;
    file->store = store;
    file->lower = lower;
    file->read_only = read_only;
    init_locks(file);
    return file;
}

int store_file_open(struct store *store, struct split *split, struct backend *lower,
                    const struct tally_codec_choice *choice, bool read_only, struct backend **ret_file)
{
    struct store_file *file = file_new(store, lower, read_only);
    int r;

    if (!file)
        return -ENOMEM;
    file->choice = *choice;
    r = read_log(file, split);
    if (r < 0) {
        file_free(file);
        return r;
    }
    enlist(file);
    *ret_file = &file->backend;
    return 0;
}

int file_open_state(struct store *store, struct backend *lower, off_t lower_size, struct log_state *state,
                    struct store_file **ret_file)
{
    struct store_file *file = file_new(store, lower, false);

    if (!file)
        return -ENOMEM;
    file->log = *state;
    map_init(&state->map, state->map.chunk_shift);
    adopt_log(file, NULL, lower_size);
    enlist(file);
    *ret_file = file;
    return 0;
}
