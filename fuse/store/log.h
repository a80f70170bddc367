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
    bool garbage;          /* bytes before the last frame that are none, nor zeros, nor a trailer */
    bool garbage_at_end;   /* the same after it */
};

/* Where an index is, and what of the file was written by then. */
struct log_checkpoint {
    uint64_t file_id;
    uint64_t index_offset; /* of its last part */
    uint64_t limit;        /* the index and the frames behind it end here at the latest */
    uint64_t logical_size; /* where there is a trailer at the limit */
    bool has_trailer;
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

/*
 * The same where the end is not sound, or its index suspect: from the newest index that can be trusted and the frames
 * behind it, or from all frames. What must be there and is not cannot be read from then on; a frame that a power failure
 * may have taken is left out. The state is not suspect. 0; -EIO; -EPROTONOSUPPORT; -ENOMEM; other -errno from below.
 */
int log_recover(struct backend *lower, struct split *split, uint64_t lower_size, const uint8_t boot_id[static 16],
                struct log_state *ret_state);

/* An empty log. */
void log_begin(struct log_state *state, uint64_t file_id, unsigned chunk_shift);

/* The header at the beginning of the lower file. 0 or an error of log_read or format_header_decode. */
int log_first_header(struct backend *lower, struct split *split, struct format_header *ret_header);

/* Applies one frame that lies at `lower_offset` to the map and the size. 0 or an error of map_add. */
int log_apply(struct log_state *state, const struct format_header *header, uint64_t lower_offset);

/*
 * The same for a frame behind an index of number `base`. One that is not newer than the index is a copy of one that the
 * index names; the copy counts, since the place of the other may be given back.
 */
int log_apply_behind(struct log_state *state, uint64_t base, const struct format_header *header, uint64_t lower_offset);

/*
 * Bytes that the largest payload takes which lies in a range of `bytes` of a lower file. Small files are opened often, and
 * a megabyte of fresh memory costs more than all else of that.
 */
size_t log_payload_room(uint64_t bytes);

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
 * Loads an index and, where a trailer is behind it, the frames between. Does not set first_end, tail and clean. Errors as
 * log_load_index.
 */
int log_load_checkpoint(struct backend *lower, struct split *split, const struct log_checkpoint *checkpoint,
                        const uint8_t boot_id[static 16], struct log_state *ret_state);

/*
 * Loads the index that the trailer names, and the frames written after it. 0; -EBADMSG when there is none or it is not
 * sound; -EIO when a frame after it is damaged and must not be left out; other -errno.
 */
int log_load_index(struct backend *lower, struct split *split, uint64_t lower_size, const uint8_t boot_id[static 16],
                   struct log_state *ret_state);

#endif
