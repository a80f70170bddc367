/*
 * Giving the space of dead frames back while the file is in use.
 *
 * A round first moves needed frames out of blocks that are mostly dead and writes an index; then, with nothing locked,
 * waits until all that is on the medium, and punches what the index does not name. So whatever a crash leaves of the
 * punches, the index says what counts, a HOLE or TRUNC frame that it has made needless included.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/internal.h"

#define DEAD_SHARE 4 /* a quarter of what is needed may be dead */
#define BLOCK_BYTES UINT64_C(4096)
#define BLOCK_BYTES_MAX UINT64_C(65536)

/* Needed frames in a row of less than so many blocks are moved: what is lost at their ends is too much for them. */
#define SHORT_RUN_BLOCKS 16

/* Lower bytes that nobody needs. */
struct dead_run {
    uint64_t begin, end;
};

struct round {
    struct live live;
    uint64_t block;
    struct dead_run *runs;
    size_t run_count;
    uint64_t file_id;
    uint64_t sequence; /* all up to it is to be on the medium before the first punch */
    uint64_t freed;    /* bytes in whole blocks of the runs */
    uint64_t log_end, used_bytes, live_bytes;
};

static uint64_t live_bytes(const struct store_file *file)
{
    uint64_t index = file->log.index_offset == FORMAT_INDEX_FIRST ? 0 : file->log.index_end - file->log.index_begin;

    return file->log.map.stored_bytes + index + FORMAT_TRAILER_BYTES;
}

static uint64_t dead_limit(const struct store_file *file)
{
    uint64_t share = live_bytes(file) / DEAD_SHARE;

    return share > file->store->dead_free_bytes ? share : file->store->dead_free_bytes;
}

static uint64_t dead_bytes(const struct store_file *file)
{
    uint64_t live = live_bytes(file);

    return file->used_bytes > live ? file->used_bytes - live : 0;
}

static bool can_reclaim(const struct store_file *file)
{
    return !file->read_only && file->log.tail && !file->cannot_punch && !file->sync_failed &&
           file->log.lost_sequence == 0;
}

static uint64_t block_bytes(struct store_file *file, struct split *split)
{
    struct stat attributes;
    uint64_t block;

    if (backend_stat(file->lower, split, &attributes) < 0)
        return BLOCK_BYTES;
    block = (uint64_t)attributes.st_blksize;
    return block > BLOCK_BYTES && block <= BLOCK_BYTES_MAX && (block & (block - 1)) == 0 ? block : BLOCK_BYTES;
}

static uint64_t block_begin(const struct round *round, uint64_t offset)
{
    return offset & ~(round->block - 1);
}

static uint64_t block_end(const struct round *round, uint64_t offset)
{
    return block_begin(round, offset + round->block - 1);
}

/* The frames from `from` on that follow one another without a gap: the index behind the last. */
static size_t run_of(const struct live *live, size_t from, uint64_t *ret_end)
{
    uint64_t end = live->frames[from].lower_offset + live->frames[from].bytes;
    size_t to = from + 1;

    while (to < live->count && live->frames[to].lower_offset <= end) {
        uint64_t frame_end = live->frames[to].lower_offset + live->frames[to].bytes;

        end = frame_end > end ? frame_end : end;
        to++;
    }
    *ret_end = end;
    return to;
}

/* What dead bytes stay in blocks that are needed in part. */
static uint64_t lost_at_ends(const struct round *round)
{
    uint64_t lost = 0, end;

    for (size_t i = 0; i < round->live.count;) {
        uint64_t begin = round->live.frames[i].lower_offset;

        i = run_of(&round->live, i, &end);
        lost += begin - block_begin(round, begin) + block_end(round, end) - end;
    }
    return lost;
}

static int by_place(const void *left, const void *right)
{
    const struct live_frame *a = left, *b = right;

    return (a->lower_offset > b->lower_offset) - (a->lower_offset < b->lower_offset);
}

/*
 * The file's first frame stays: its header says what the file is. A damaged frame stays for a repair to look at. On a full
 * disk nothing is moved: punching what is dead already helps most there.
 */
static int move_short_runs(struct store_file *file, struct split *split, struct round *round)
{
    struct live *live = &round->live;
    uint64_t end;
    int r = 0;

    if (lost_at_ends(round) <= dead_limit(file) / 4)
        return 0;
    for (size_t i = 0, next; i < live->count && r == 0; i = next) {
        uint64_t begin = live->frames[i].lower_offset;

        next = run_of(live, i, &end);
        if (begin == 0 || end - begin >= SHORT_RUN_BLOCKS * round->block)
            continue;
        r = live_move(file, split, live, i, next, NULL);
        if (r == -EIO)
            r = 0;
    }
    if (r == -ENOSPC || r == -EDQUOT)
        r = 0;
    qsort(live->frames, live->count, sizeof(*live->frames), by_place);
    return r;
}

static void add_run(struct round *round, uint64_t begin, uint64_t end)
{
    uint64_t first = block_end(round, begin), last = block_begin(round, end);

    if (begin >= end)
        return;
    round->runs[round->run_count++] = (struct dead_run){begin, end};
    if (first < last)
        round->freed += last - first;
}

/* What lies before the index and is not named by it. */
static int find_runs(struct round *round, uint64_t index_begin)
{
    uint64_t at = FORMAT_HEADER_BYTES, end;

    round->runs = calloc(round->live.count + 1, sizeof(*round->runs));
    if (!round->runs)
        return -ENOMEM;
    for (size_t i = 0; i < round->live.count;) {
        uint64_t begin = round->live.frames[i].lower_offset;

        i = run_of(&round->live, i, &end);
        add_run(round, at, begin < index_begin ? begin : index_begin);
        at = end > at ? end : at;
    }
    add_run(round, at, index_begin);
    return 0;
}

/* Punching beyond the end changes nothing. */
static int try_punch(struct store_file *file, struct split *split, const struct round *round)
{
    uint64_t beyond = block_end(round, file->log.tail) + round->block;

    if (beyond > FORMAT_SIZE_MAX - round->block)
        return -EFBIG;
    return backend_allocate(file->lower, split, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)beyond,
                            (off_t)round->block);
}

/* With `content` held exclusively. */
static int prepare(struct store_file *file, struct split *split, struct round *round)
{
    int r;

    round->block = block_bytes(file, split);
    r = try_punch(file, split, round);
    if (r == 0)
        r = live_list(file, split, &round->live);
    if (r == 0)
        r = move_short_runs(file, split, round);
    if (r == 0)
        r = checkpoint_write_index(file, split, NULL);
    if (r == 0)
        r = find_runs(round, file->log.index_begin);
    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    round->sequence = file->log.sequence;
    round->file_id = file->log.file_id;
    round->log_end = file->log.tail;
    round->used_bytes = file->used_bytes;
    round->live_bytes = live_bytes(file);
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static bool is_zero_on_disk(struct store_file *file, struct split *split, uint64_t begin, uint64_t end)
{
    uint8_t bytes[BLOCK_BYTES];

    while (begin < end) {
        size_t size = end - begin < sizeof(bytes) ? (size_t)(end - begin) : sizeof(bytes);

        if (log_read(file->lower, split, bytes, size, begin) < 0)
            return false;
        for (size_t i = 0; i < size; i++)
            if (bytes[i])
                return false;
        begin += size;
    }
    return true;
}

/* Whether it was punched before. */
static bool is_hole(struct store_file *file, struct split *split, const struct round *round, const struct dead_run *run)
{
    uint64_t first = block_end(round, run->begin), last = block_begin(round, run->end);
    off_t data;

    if (first >= last)
        return is_zero_on_disk(file, split, run->begin, run->end);
    data = backend_seek(file->lower, split, (off_t)first, SEEK_DATA);
    if (data >= 0 ? (uint64_t)data < last : data != -ENXIO)
        return false;
    return is_zero_on_disk(file, split, run->begin, first) && is_zero_on_disk(file, split, last, run->end);
}

/* To the byte, so that no dead frame can be taken for one that counts when the index is gone. */
static int punch(struct store_file *file, struct split *split, const struct round *round)
{
    int r = 0;

    for (size_t i = 0; i < round->run_count && r == 0; i++) {
        const struct dead_run *run = &round->runs[i];

        if (!is_hole(file, split, round, run))
            r = backend_allocate(file->lower, split, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)run->begin,
                                 (off_t)(run->end - run->begin));
    }
    return r;
}

/* All that the round wrote is on the medium, or it ends here. */
static int make_durable(struct store_file *file, struct split *split, const struct round *round)
{
    int r = file_sync_log(file, split, true, round->file_id, round->sequence);

    pthread_mutex_lock(&file->lock);
    if (r == 0)
        file->copied = false;
    pthread_mutex_unlock(&file->lock);
    if (r < 0)
        file_keep_error(file, r); /* the lower file system tells it once */
    return r;
}

static void finish(struct store_file *file, const struct round *round, int r)
{
    uint64_t left = round->log_end - round->freed;

    pthread_mutex_lock(&file->lock);
    if (r == 0)
        file->used_bytes += left - round->used_bytes;
    if (r == -EOPNOTSUPP)
        file->cannot_punch = true;
    /* What could not be given back now will not be given back by trying again at once. */
    file->reclaim_above = r < 0 ? dead_bytes(file) : left > round->live_bytes ? left - round->live_bytes : 0;
    file->reclaim_above += dead_limit(file) / 2;
    file->reclaiming = false;
    pthread_cond_broadcast(&file->idle);
    pthread_mutex_unlock(&file->lock);
    free(round->live.frames);
    free(round->runs);
}

int reclaim_round(struct store_file *file, struct split *split)
{
    struct round round = {0};
    bool begun;
    int r;

    content_lock(file, split);
    buffer_settle(file, split);
    pthread_mutex_lock(&file->lock);
    begun = can_reclaim(file) && !file->reclaiming;
    if (begun)
        file->reclaiming = true;
    pthread_mutex_unlock(&file->lock);
    if (!begun) {
        content_unlock(file);
        return 0;
    }
    r = prepare(file, split, &round);
    content_unlock(file);
    if (r == 0)
        r = make_durable(file, split, &round);
    if (r == 0)
        r = punch(file, split, &round);
    finish(file, &round, r);
    return r;
}

void reclaim_settle(struct store_file *file, struct split *split)
{
    uint64_t began_ns;

    pthread_mutex_lock(&file->lock);
    began_ns = file->reclaiming ? split_begin(split) : 0;
    while (file->reclaiming)
        pthread_cond_wait(&file->idle, &file->lock);
    if (began_ns)
        split_end_wait(split, began_ns);
    pthread_mutex_unlock(&file->lock);
}

bool reclaim_is_due(struct store_file *file, bool *ret_urgent)
{
    uint64_t dead, limit;
    bool due;

    pthread_mutex_lock(&file->lock);
    dead = dead_bytes(file);
    limit = dead_limit(file);
    due = dead > limit / 2 && dead > file->reclaim_above && can_reclaim(file);
    *ret_urgent = dead > limit || file->store->config.worker_count == 0;
    pthread_mutex_unlock(&file->lock);
    return due;
}

void reclaim_if_due(struct store_file *file, struct split *split)
{
    bool urgent;

    while (reclaim_is_due(file, &urgent)) {
        if (!urgent) {
            workers_want_reclaim(file);
            return;
        }
        reclaim_settle(file, split); /* one under way may do */
        if (reclaim_is_due(file, &urgent) && urgent)
            (void)reclaim_round(file, split); /* what a program must know of it is kept in the file */
    }
}
