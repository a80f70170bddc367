/*
 * What the frames of a lower file say: the state that opening a container begins with. Not thread-safe; I/O goes to the
 * backend that is given.
 */
#ifndef TALLY_STORE_LOG_H
#define TALLY_STORE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "store/backend.h"
#include "store/map.h"
#include "tally/format.h"

struct log_state {
    uint64_t file_id;
    uint64_t sequence;         /* the highest used */
    uint64_t durable_sequence; /* frames up to this one are known to be on the medium */
    uint64_t logical_size;
    uint64_t tail;             /* where the next frame goes; what the lower file has beyond is garbage */
    uint64_t first_end;        /* where the frame at offset 0 ends; 0 unless known */
    uint64_t index_begin;      /* of the newest index's first part */
    uint64_t index_offset;     /* of its last part, FORMAT_INDEX_FIRST when there is none */
    uint64_t index_end;        /* where the frames that it does not know begin */
    uint8_t codec;             /* of the newest data frame that is not raw */
    bool clean;                /* the file says by itself what its size is: one frame, or a valid trailer at its end */
    uint64_t lost_sequence;    /* frames up to this one may be missing: older contents cannot be trusted; 0 for none */
    bool suspect;              /* from an index that may have reached the medium before its frames did */
    struct map map;
};

struct log_frame {
    struct format_header header;
    uint64_t lower_offset;
    bool broken; /* the payload does not verify; only log_scan_all keeps such */
};

struct log_frames {
    struct log_frame *frames;
    size_t count;
    size_t capacity;
};

void log_state_free(struct log_state *state);

/*
 * Reads the state of a lower file of `lower_size` bytes: from its only frame, from its trailer and index, or else from a
 * walk over all frames. `boot_id` is that of the running kernel. 0; -EIO when no frame can be found; -EPROTONOSUPPORT;
 * -ENOMEM; other -errno from below.
 */
int log_load(struct backend *lower, struct split *split, uint64_t lower_size, const uint8_t boot_id[static 16],
             struct log_state *ret_state);

/* The same for a file of one frame, which needs no trailer: its header says all. -EBADMSG where it is not that. */
int log_load_single(struct backend *lower, struct split *split, uint64_t lower_size, struct log_state *ret_state);

/* The same by walking the frames and checking their payloads, whatever an index says. */
int log_walk(struct backend *lower, struct split *split, uint64_t lower_size, struct log_state *ret_state);

/* Applies one frame that lies at `lower_offset` to the map and the size. 0 or an error of map_add. */
int log_apply(struct log_state *state, const struct format_header *header, uint64_t lower_offset);

/* Reads `size` bytes wholly. 0; -EBADMSG where the file ends before; other -errno. */
int log_read(struct backend *lower, struct split *split, void *data, size_t size, uint64_t offset);

/*
 * The frames of one file in [from, to), in the order of their sequence. Strict: they must follow one another, with old
 * trailers between them, else -EBADMSG; payloads are not read. Else what is damaged or torn is left out. A file id of 0
 * in *file_id takes the first frame's. 0, -EBADMSG, -ENOMEM, or -errno from below. The frames are the caller's to free.
 */
int log_scan(struct backend *lower, struct split *split, uint64_t from, uint64_t to, bool strict, uint64_t *file_id,
             struct log_frames *ret_frames);

/*
 * Not strict, and with the frames of which only the header is right. Costs no more than the walk of a mount: a frame is
 * broken, too, where the budget for payloads is used up.
 */
int log_scan_all(struct backend *lower, struct split *split, uint64_t from, uint64_t to, uint64_t *file_id,
                 struct log_frames *ret_frames);

/*
 * Loads the index that the trailer names, and the frames written after it. 0; -EBADMSG when there is none or it is not
 * sound; -EIO when a frame after it is damaged and must not be left out; other -errno.
 */
int log_load_index(struct backend *lower, struct split *split, uint64_t lower_size, const uint8_t boot_id[static 16],
                   struct log_state *ret_state);

#endif
