/*
 * Putting the needed frames of a log together, in the same lower file, so that it can be cut off behind them. Works
 * without holes being punched. At every moment the end of the lower file has an index whose frames are whole: the old
 * ones are overwritten only when copies of them are on the medium, and the cut comes last.
 */
#include <errno.h>
#include <stdlib.h>

#include "store/internal.h"

static uint64_t total_bytes(const struct live *live, size_t from)
{
    uint64_t total = 0;

    for (size_t i = from; i < live->count; i++)
        if (i == from || live->frames[i].lower_offset != live->frames[i - 1].lower_offset)
            total += live->frames[i].bytes;
    return total;
}

static int sync_all(struct store_file *file, struct split *split)
{
    uint64_t sequence, file_id;
    int r;

    pthread_mutex_lock(&file->lock);
    sequence = file->log.sequence;
    file_id = file->log.file_id;
    pthread_mutex_unlock(&file->lock);
    r = file_sync_log(file, split, true, file_id, sequence);
    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    file->copied = false;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

/* An index over everything at the log's end, on the medium. */
static int secure(struct store_file *file, struct split *split)
{
    int r = checkpoint_write_index(file, split, NULL);

    return r < 0 ? r : sync_all(file, split);
}

/* Moves all frames from the list's `from` on to `base`, before the first of them, and the log's end behind them. */
static int move_down(struct store_file *file, struct split *split, struct live *live, size_t from, uint64_t base)
{
    uint64_t end = base;
    struct log_state old;
    int r = live_move(file, split, live, from, live->count, &end);

    if (r < 0)
        return r;
    old = file->log;
    r = checkpoint_write_index(file, split, &end);
    if (r == 0)
        r = sync_all(file, split);
    if (r == 0)
        r = backend_truncate(file->lower, split, (off_t)end);
    pthread_mutex_lock(&file->lock);
    if (r == 0) {
        file->log.tail = end;
        file->log.clean = true;
        file->written_end = end;
        file->trailer_end = end;
        file->used_bytes = end;
        file->reclaim_above = 0;
        file->garbage = false;
    } else {
        /* The old index stands, at the end of the file; its frames are there, as are their copies. */
        file->log.index_begin = old.index_begin;
        file->log.index_offset = old.index_offset;
        file->log.index_end = old.index_end;
    }
    pthread_mutex_unlock(&file->lock);
    return r;
}

/* Frames that may be moved; the first of the file stays where it is, or its place stays empty. */
static size_t movable(const struct live *live, uint64_t base)
{
    size_t from = 0;

    while (from < live->count && live->frames[from].lower_offset < base)
        from++;
    return from;
}

static int compact(struct store_file *file, struct split *split, struct live *live)
{
    uint64_t base = file->log.first_end ? file->log.first_end : FORMAT_HEADER_BYTES, needed;
    size_t from = movable(live, base);
    int r;

    needed = total_bytes(live, from) + checkpoint_bytes(file);
    if (base + needed >= file->log.tail)
        return 0;
    r = secure(file, split);
    /* Where there is no room before the first, all are copied behind the last to make some. */
    if (r == 0 && from < live->count && live->frames[from].lower_offset - base < needed) {
        r = live_move(file, split, live, from, live->count, NULL);
        if (r == 0)
            r = secure(file, split);
    }
    return r < 0 ? r : move_down(file, split, live, from, base);
}

int store_file_compact(struct backend *backend, struct split *split)
{
    struct store_file *file = file_of(backend);
    struct kept_time kept;
    struct live live = {0};
    int r;

    if (file->read_only)
        return -EROFS;
    content_lock(file, split);
    buffer_drain(file, split);
    reclaim_settle(file, split);
    r = file_take_error(file);
    if (r == 0 && file->log.lost_sequence)
        r = -EIO;
    if (r == 0 && file->log.tail) {
        kept = checkpoint_keep_time(file, split);
        r = live_list(file, split, &live);
        if (r == 0)
            r = compact(file, split, &live);
        checkpoint_give_time_back(&kept, split);
    }
    content_unlock(file);
    free(live.frames);
    return r;
}
