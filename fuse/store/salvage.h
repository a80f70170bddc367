/* What is still known of a damaged container: shared by check and repair. Not thread-safe. */
#ifndef TALLY_STORE_SALVAGE_H
#define TALLY_STORE_SALVAGE_H

#include "store/check.h"
#include "store/internal.h"

struct damage_list {
    struct store_damage *items;
    size_t count, capacity;
};

/* 0 or -ENOMEM. What continues the last item is joined to it. */
int damage_add(struct damage_list *list, const struct store_damage *damage);

/* Those with a logical range first, by it; then by lower offset. What was guessed twice stays once. */
void damage_sort(struct damage_list *list);

struct salvage {
    uint64_t lower_bytes;
    bool is_indexed;    /* the state is from a trailer's index, or from the only frame */
    bool has_trailer;   /* though its index cannot be used */
    bool begins_badly;  /* not like a container */
    struct log_state state; /* with frames that are known but not whole; verify_map takes them out */
    struct damage_list damage;
};

void salvage_free(struct salvage *salvage);

/*
 * From the only frame or the index if it is sound, else by recovery, with the damage that recovery finds. 0; -EIO without
 * any frame; -EPROTONOSUPPORT; other -errno.
 */
int salvage_load(struct store *store, struct backend *lower, struct salvage *ret_salvage);

/* The same, by recovery. */
int salvage_recover(struct store *store, struct backend *lower, struct salvage *ret_salvage);

/* A piece of a chunk and the extent that shows there. */
struct piece_of_chunk {
    uint32_t begin, end;
    uint64_t sequence; /* of its frame; 0: no extent, or zeros */
    uint64_t newest;   /* the same, but of zeros' frame, too */
    uint32_t extent;   /* index of it, where sequence is not 0 */
};

#define PIECES_MAX (2 * MAP_EXTENTS_MAX + 1)

/* What shows of each extent, in order, all of the chunk. The number of pieces. */
uint32_t pieces_of_chunk(const struct extent *extents, uint32_t count, uint32_t chunk_bytes,
                         struct piece_of_chunk ret_pieces[static PIECES_MAX]);

/*
 * Verifies the frames of all extents. Those that are not whole are taken out of the map, unless they could not be read, and
 * what showed of them goes to the damage. *ret_newest_bad: the highest sequence number of one, 0 for none. 0 or -errno.
 */
int verify_map(struct store *store, struct backend *lower, struct salvage *salvage, uint64_t *ret_newest_bad);

/*
 * All that store_check finds, with a state whose frames are whole. The damage is sorted. Errors as store_check.
 */
int salvage_assess(struct store *store, struct backend *lower, struct salvage *ret_salvage);

/* The report of it, which takes the damage. */
void salvage_report(struct salvage *salvage, struct store_report *ret_report);

#endif
