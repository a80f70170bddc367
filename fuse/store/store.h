/*
 * The compressed store: files kept as a log of frames (tally/format.h) in one lower file each. `struct store` is what
 * the files of one mount share: codec contexts, workers, the cache of decoded chunks, the limit on buffered data.
 *
 * Thread safety: everything here may be called from any thread.
 */
#ifndef TALLY_STORE_STORE_H
#define TALLY_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/backend.h"
#include "tally/codec.h"

struct store;

/* What the store's own threads do, as the observer sees it. */
enum store_background {
    STORE_BACKGROUND_COMPRESS,
    STORE_BACKGROUND_RECLAIM,
    STORE_BACKGROUND_DECODE, /* chunks of a read of several, which waits for it; bytes are not told */
    STORE_BACKGROUND_COUNT
};

struct store_config {
    uint32_t chunk_bytes;      /* of new files: a power of two, FORMAT_CHUNK_MIN to FORMAT_CHUNK_MAX */
    size_t dirty_limit_bytes;  /* buffered and not yet written, over all files; writers wait above it */
    size_t cache_limit_bytes;  /* decoded chunks kept for reading, over all files */
    unsigned worker_count;     /* threads that compress in the background; 0: the writer's own thread does */

    /* Told of each piece of background work; may be NULL. Called from worker threads, must not block. */
    void (*observe)(void *user, enum store_background work, const struct split *split, uint64_t bytes, int error);
    void *user;
};

/* 0; -EINVAL for a value outside its range; -ENOMEM; -EAGAIN when threads cannot be started. Starts the workers. */
int store_create(const struct store_config *config, struct store **ret_store);

/* Ends the workers. All files must have been closed. */
void store_destroy(struct store *store);

/* Drains the buffers of all open files, without syncing. The first error found; other files are drained all the same. */
int store_drain(struct store *store, struct split *split);

/* What all files together use. The first two count from store_create on. */
struct store_usage {
    uint64_t cache_hits;     /* chunks that a read found decoded */
    uint64_t cache_misses;   /* chunks that a read had to decode */
    uint64_t cache_bytes;    /* of decoded chunks */
    uint64_t buffered_bytes; /* of buffers that are not yet written */
};

void store_usage(struct store *store, struct store_usage *ret_usage);

/* How an existing lower file is to be served. */
struct store_probe {
    bool is_container;
    off_t logical_bytes; /* the file's size as programs see it, where is_container */
};

/*
 * Looks at a lower file through `fd`, opened for reading, whose attributes are `attributes`. Costs nothing for a file
 * that cannot be a container by its size; otherwise one small read, or two; walks the frames only after a crash.
 * 0; -EIO where the file starts as a container but its size cannot be told; other -errno from reading.
 */
int store_probe(int fd, struct split *split, const struct stat *attributes, struct store_probe *ret_probe);

/*
 * Whether `size` bytes written at `offset` to the plain file `fd` would make its beginning look like a container, which
 * would be read back as something else. 1, 0 or -errno. Cheap unless it is so.
 */
int store_would_mimic(int fd, struct split *split, const void *data, size_t size, off_t offset);

/*
 * Opens a container, or makes one of an empty lower file. Takes ownership of `lower` on success. One open container
 * must have one store file only: the caller shares it between all opens of an inode.
 *
 * choice: codec for data written from now on; what is there is read with whatever codec wrote it. A NULL codec
 * ("none") writes raw frames. read_only: nothing is written to `lower`, not even a repair of a torn tail, until
 * store_file_begin_writing. Before, the caller claims the lower file (store/claim.h), for writing unless read_only.
 *
 * 0; -EIO when it is damaged beyond walking; -EPROTONOSUPPORT for a newer format; -ENOMEM; other -errno from below.
 */
int store_file_open(struct store *store, struct split *split, struct backend *lower,
                    const struct tally_codec_choice *choice, bool read_only, struct backend **ret_file);

/*
 * A file that was opened read_only may be written from now on, with `choice` as for opening; its lower file must allow
 * it. What the power took is found out first. Nothing happens to a file that may be written already. 0; -EIO or another
 * -errno as for opening.
 */
int store_file_begin_writing(struct backend *file, struct split *split, const struct tally_codec_choice *choice);

/* What a container is made of, for user.tallyfs.file.* and tallyctl. */
struct store_file_info {
    uint64_t logical_bytes;   /* the size programs see */
    uint64_t data_bytes;      /* logical bytes that are not holes */
    uint64_t live_bytes;      /* of the lower file: frames that are still needed, headers included */
    uint64_t stored_bytes;    /* of the lower file: allocated, st_blocks * 512 */
    uint64_t chunks;          /* chunks with data */
    uint64_t frames;          /* live frames */
    uint32_t chunk_bytes;
    enum tally_codec_id codec; /* of the newest data frame that is not raw, or raw */
};

/*
 * Puts what is needed of a file together in the same lower file and cuts the rest off; dead space goes also where holes
 * cannot be punched. Takes for a while at most as much room as the file's live frames. Whatever happens, the contents
 * stand. 0, also where there is nothing to gain; -EROFS; -ENOSPC; -EIO where a frame that is needed is damaged; other
 * -errno.
 */
int store_file_compact(struct backend *file, struct split *split);

/* `file` must come from store_file_open. 0 or -errno. */
int store_file_info(struct backend *file, struct split *split, struct store_file_info *ret_info);

#endif
