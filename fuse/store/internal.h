/*
 * What the sources of the store share.
 *
 * Lock order, first to last:
 *   store_file.content   readers and drains shared, writers exclusive; held over I/O
 *   store_file.lock      the map, the log's end, the list of buffers; not held over I/O but for cutting a failed write off
 *   store.lock           files, the workers' queue, the count of buffered bytes
 * The caches' locks are leaves.
 */
#ifndef TALLY_STORE_INTERNAL_H
#define TALLY_STORE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/cache.h"
#include "store/log.h"
#include "store/scratch.h"
#include "store/store.h"

/* More extents on a chunk, or more bytes in deltas than in the base, and the chunk is written anew. */
#define DELTAS_MAX 8

/* Memory of config.chunk_bytes that nobody uses. */
struct spare {
    struct spare *next;
};

#define SPARES_FOR_WORKER 4

struct store {
    struct store_config config;
    uint8_t boot_id[16];
    uint64_t dead_free_bytes;  /* so much of a file may always be dead */
    uint64_t checkpoint_bytes; /* written to a file between two trailers while it is open */
    struct scratch_pool scratches;
    struct cache *cache;

    pthread_mutex_t lock;
    pthread_cond_t work;         /* a buffer was queued, or there is work to share, or stopping */
    pthread_cond_t shared;       /* a worker has left what it shared */
    pthread_cond_t room;         /* buffered bytes were given back, or a file's last pin */
    pthread_cond_t watch;        /* something was buffered after nothing was, or stopping */
    pthread_cond_t reclaim;      /* a file wants its space back, or stopping */
    struct buffer *queue_first, *queue_last;
    struct share *shares;        /* work that is still to be taken */
    struct spare *spares;
    size_t spare_count;
    size_t dirty_bytes;
    size_t in_flight;            /* buffers queued or with a worker */
    struct store_file *files;
    uint64_t file_count;         /* opened so far */
    bool stopping;
    unsigned thread_count;       /* workers, then the one that watches ages and the one that reclaims */
    pthread_t *threads;
};

/*
 * Bytes of one chunk that are not in the log yet. While `busy` it is being written and nothing in it changes but
 * `loaded`; else it changes under the file's content lock held exclusively.
 */
struct buffer {
    struct store_file *file;
    struct buffer *queue_next;
    uint64_t chunk;
    uint32_t begin, end; /* written bytes lie within */
    bool loaded;         /* all of the chunk's bytes are right, else only those within [begin, end) */
    bool busy;
    bool gone;           /* no longer in the list: the last pin frees it */
    unsigned pins;
    uint64_t dirtied_ns;
    uint8_t *data;       /* chunk_bytes */
};

struct store_file {
    struct backend backend;
    struct store *store;
    struct backend *lower;
    struct tally_codec_choice choice;
    _Atomic bool read_only; /* becomes false once, with `content` held exclusively */
    uint32_t chunk_bytes;
    uint64_t cache_id;
    struct store_file *next, **link; /* in store.files, with its lock */
    unsigned pins;                   /* by those who walk store.files, with its lock */
    bool reclaim_wanted;             /* in the background, with store.lock */

    pthread_rwlock_t content;
    _Atomic uint64_t size; /* as programs see it; changes with `content` held exclusively */

    pthread_mutex_t lock;
    pthread_cond_t idle;     /* a buffer is done */
    struct log_state log;
    uint64_t written_end;    /* of the lower file: ends of the frames that were written wholly */
    unsigned writes;         /* of frames, under way */
    bool garbage;            /* the lower file has bytes beyond the tail, of a crash or a failed write */
    bool gap;                /* frames since the newest index may not follow one another: one failed */
    bool copied;             /* frames were moved, and their copies may not be on the medium yet */
    uint64_t complete_from;  /* number of an index behind the last gap: what it names is all that there was */
    bool size_lost;          /* the frame that was to record the size failed */
    uint64_t trailer_end;    /* the tail when the newest trailer was written, or the file opened */
    uint64_t used_bytes;     /* of the lower file, as far as is known without asking */
    uint64_t reclaim_above;  /* dead bytes that are worth another round */
    bool reclaiming;         /* a round waits for the medium or punches; it began with `content` held exclusively */
    bool cannot_punch;       /* the lower file system */
    bool sync_failed;        /* then nothing is known to be on the medium, whatever a later sync says */
    struct buffer **buffers; /* by chunk */
    size_t buffer_count, buffer_capacity;
    size_t busy_count;
    int error;               /* of background work, until it was reported */
    unsigned raw_run;        /* chunks in a row that did not compress */
};

static inline struct store_file *file_of(struct backend *backend)
{
    return (struct store_file *)backend;
}

/* file.c: the content lock, with the wait counted. */
void content_lock_shared(struct store_file *file, struct split *split);
void content_lock(struct store_file *file, struct split *split);
void content_unlock(struct store_file *file);

/* append.c */

/* 0 or -errno; on failure some of it may be there. */
int write_fully(struct store_file *file, struct split *split, const uint8_t *data, size_t size, uint64_t offset);

/*
 * Takes the rest of a crash or of a failed write off the lower file, with the file's lock held, unless a frame is under
 * way. 0 or -errno.
 */
int append_cut_garbage(struct store_file *file, struct split *split);

/*
 * All frames up to this one are on the medium, none missing; 0 when that cannot be said, because one failed or was taken
 * by the power and no index that says so is on the medium yet. With the file's lock held.
 */
uint64_t append_durable(const struct store_file *file);

/* The header's number and what else the log gives it, with the file's lock held. */
void append_number(struct store_file *file, struct format_header *header);

/* Puts header and padding around the payload at frame + 64. The frame's bytes. */
size_t append_encode(const struct format_header *header, uint8_t *frame);

/*
 * Writes the frame that `header` describes (all but file id, sequence, chunk shift; logical size too for TRUNC and else
 * set here) with its payload at frame + 64; `frame` has room for the padding. The frame's place and number go to
 * *ret_header and *ret_lower_offset. Not with the file's lock held. 0 or -errno; the log is as before then.
 */
int append_frame(struct store_file *file, struct split *split, struct format_header *header, uint8_t *frame,
                 uint64_t *ret_lower_offset);

/* Writes bytes that are ready at the log's end: a frame that there is already, or a trailer. 0 or -errno. */
int append_copy(struct store_file *file, struct split *split, const uint8_t *frame, size_t total,
                uint64_t *ret_lower_offset);

/* checkpoint.c */

/* What an index and its trailer take now. With the file's lock, or `content` exclusively. */
uint64_t checkpoint_bytes(const struct store_file *file);

/* Whether it is time for one: before the last close, or while the file is open. */
bool checkpoint_is_due(struct store_file *file, bool closing);

/*
 * Makes the log's end say the size and, if enough was written since the last one, writes an index. With `content` held
 * exclusively and nothing under way. 0 or -errno.
 */
int checkpoint_write(struct store_file *file, struct split *split);

/* Writes an index and a trailer, at *at, which is moved on, or at the log's end where `at` is NULL. */
int checkpoint_write_index(struct store_file *file, struct split *split, uint64_t *at);

/* What changes no contents leaves the lower file the time of its last change. */
struct kept_time {
    int fd;
    struct timespec mtime;
};

struct kept_time checkpoint_keep_time(struct store_file *file, struct split *split);
void checkpoint_give_time_back(const struct kept_time *kept, struct split *split);

/* live.c */

/* A frame that is needed, and one chunk that needs it. */
struct live_frame {
    uint64_t lower_offset;
    uint64_t sequence;
    uint64_t chunk;
    uint64_t bytes; /* with header and padding */
};

/* By their place; a frame that two chunks need is there twice. */
struct live {
    struct live_frame *frames;
    size_t count;
};

/* With `content` held exclusively and nothing under way. 0 or -errno. The frames are the caller's to free. */
int live_list(struct store_file *file, struct split *split, struct live *ret_live);

/*
 * Copies frames [from, to) of the list, to *at, which is moved on, or to the log's end where `at` is NULL, and makes the
 * map and the list name the copies. 0; -EIO for a frame that is damaged, which stays where it is; other -errno.
 */
int live_move(struct store_file *file, struct split *split, struct live *live, size_t from, size_t to, uint64_t *at);

/* reclaim.c */

/* Gives dead space back if there is too much of it. Without `content`. What goes wrong is kept in the file. */
void reclaim_if_due(struct store_file *file, struct split *split);

/* Whether a round is worth it, and whether at once or some time soon. */
bool reclaim_is_due(struct store_file *file, bool *ret_urgent);

/* One round, whatever there is. Without `content`. 0 or -errno; the contents stand. */
int reclaim_round(struct store_file *file, struct split *split);

/* Waits until no round is under way. With `content` held exclusively none begins after that. */
void reclaim_settle(struct store_file *file, struct split *split);

/* file.c */

/*
 * Where an index may name frames that a power failure took: takes the map from the frames that are whole. The size stays
 * as it was shown. With `content` held exclusively, or before anybody else knows the file. 0; -EIO when there is no such
 * doubt, so what does not read is damaged; other -errno.
 */
int file_recover(struct store_file *file, struct split *split);

/* decode.c */

/* False where a frame is missing that may have changed what these extents do not cover. */
bool decode_is_known(struct store_file *file, uint64_t chunk, const struct extent *extents, uint32_t count);

/* The chunk's first `capacity` bytes from its extents. 0; -EIO for damage; other -errno. */
int decode_chunk(struct store_file *file, struct split *split, struct scratch *scratch, uint64_t chunk,
                 const struct extent *extents, uint32_t count, uint8_t *out, uint32_t capacity);

/* buffer.c */

/* The buffer of a chunk or NULL, with the file's lock held. */
struct buffer *buffer_find(struct store_file *file, uint64_t chunk);

/* The buffer of a chunk that the caller, with `content` held exclusively, may change; made if there is none. */
int buffer_for_writing(struct store_file *file, struct split *split, uint64_t chunk, struct buffer **ret_buffer);

/* Takes a buffer off the list, with the file's lock held. The data stays for readers who have it pinned. */
void buffer_drop(struct buffer *buffer);

/* Gives a pin back, with the file's lock held. */
void buffer_unpin(struct buffer *buffer);

/* Has a buffer written by a worker, or at once where there is none. With `content` held. */
void buffer_submit(struct buffer *buffer, struct split *split);

/* Has the workers write all buffers dirtied before `before_ns`, without waiting for it. With `content` held. */
void buffer_submit_old(struct store_file *file, uint64_t before_ns);

/* Writes all buffers, waits, and records the size. The error stays in the file. With `content` held. */
void buffer_drain(struct store_file *file, struct split *split);

/* Waits until no buffer is busy. With `content` held exclusively none gets busy after that. */
void buffer_settle(struct store_file *file, struct split *split);

/* Drops all buffers unwritten. With `content` held exclusively and none busy. */
void buffer_discard(struct store_file *file);

/* Waits while more is buffered than allowed; writes the file's own buffers if need be. */
void buffer_wait_for_room(struct store_file *file, struct split *split);

/* writeout.c */

/* Fills what of the chunk was not written from the log. With `content` held exclusively. 0; -EIO for damage; -errno. */
int buffer_load(struct store_file *file, struct split *split, struct buffer *buffer);

/* Compresses and writes a busy buffer, publishes it and drops it; keeps the error in the file and returns it. */
int buffer_write(struct buffer *buffer, struct split *split);

/* workers.c */
int workers_start(struct store *store);
void workers_stop(struct store *store);
void workers_queue(struct store *store, struct buffer *buffer);

/* The same unless there are no workers, or they have enough to do: then false, and the caller had better help. */
bool workers_offer(struct store *store, struct buffer *buffer);

/*
 * Calls work(user, split, number) for every number below `count`, from this thread and from workers that have nothing else
 * to do, until one fails; they have all returned when it does. 0 or the error of one. No lock that the work takes may be
 * held. What the workers' calls take is the observer's, not in `split`.
 */
int workers_share(struct store *store, struct split *split, size_t count,
                  int (*work)(void *user, struct split *split, size_t number), void *user);

/* Has a round of reclaim done in the background. */
void workers_want_reclaim(struct store_file *file);

/* A new and empty log, under a new file id. 0 or -errno from the random numbers. */
int file_begin_log(struct store_file *file);

/*
 * As store_file_open for writing, with what the log says given: the state is taken, the next frame goes to its tail. 0 or
 * -ENOMEM.
 */
int file_open_state(struct store *store, struct backend *lower, off_t lower_size, struct log_state *state,
                    struct store_file **ret_file);

/*
 * Waits for the medium, and keeps in mind that the frames of log `file_id` up to `sequence`, written before, are on it. 0
 * or -errno.
 */
int file_sync_log(struct store_file *file, struct split *split, bool data_only, uint64_t file_id, uint64_t sequence);

/* Has an error reported to the program's next write, fsync or close, unless there is one already. */
void file_keep_error(struct store_file *file, int error);

/* The error to report, once. */
int file_take_error(struct store_file *file);

/* The operations, by source. */
ssize_t file_pread(struct backend *backend, struct split *split, void *data, size_t size, off_t offset);
ssize_t file_pwrite(struct backend *backend, struct split *split, const void *data, size_t size, off_t offset,
                    bool append);
int file_truncate(struct backend *backend, struct split *split, off_t size);
int file_allocate(struct backend *backend, struct split *split, int mode, off_t offset, off_t length);
off_t file_seek(struct backend *backend, struct split *split, off_t offset, int whence);

#endif
