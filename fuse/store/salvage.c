/* The state of a container as a mount would find it, and what beside it a mount does not tell. */
#include <errno.h>
#include <stdlib.h>

#include "store/regions.h"

void salvage_free(struct salvage *salvage)
{
    log_state_free(&salvage->state);
    free(salvage->damage.items);
}

/* What of [begin, end) of a chunk older extents show. */
static int add_torn_pieces(struct salvage *salvage, const struct log_frame *frame)
{
    const struct format_header *header = &frame->header;
    unsigned shift = salvage->state.map.chunk_shift;
    uint64_t start = header->logical_offset >> shift << shift, frame_end = header->logical_offset + header->raw_length;
    const struct map_chunk *entry = map_find(&salvage->state.map, header->logical_offset >> shift);
    struct piece_of_chunk pieces[PIECES_MAX];
    uint32_t count = pieces_of_chunk(entry ? entry->extents : NULL, entry ? entry->count : 0, UINT32_C(1) << shift,
                                     pieces);
    int r = 0;

    for (uint32_t i = 0; i < count && r == 0; i++) {
        uint64_t begin = start + pieces[i].begin, end = start + pieces[i].end;
        struct store_damage damage = {
            .kind = STORE_DAMAGE_TORN,
            .lower_offset = frame->lower_offset,
            .lower_length = format_frame_bytes(header->stored_length),
        };

        begin = begin > header->logical_offset ? begin : header->logical_offset;
        end = end < frame_end ? end : frame_end;
        end = end < salvage->state.logical_size ? end : salvage->state.logical_size;
        damage.logical_offset = begin;
        damage.logical_length = end > begin ? end - begin : 0;
        if (damage.logical_length && pieces[i].sequence < header->sequence)
            r = damage_add(&salvage->damage, &damage);
    }
    return r;
}

static bool is_in_map(const struct map *map, const struct log_frame *frame)
{
    const struct map_chunk *entry = map_find(map, frame->header.logical_offset >> map->chunk_shift);

    for (uint32_t i = 0; entry && i < entry->count; i++)
        if (entry->extents[i].sequence == frame->header.sequence)
            return true;
    return false;
}

/* Frames that recovery left out, because the power may have taken them; not those at the end, which are cut off. */
static int add_torn(struct salvage *salvage, const struct log_frames *frames)
{
    int r = 0;

    for (size_t i = 0; i < frames->count && r == 0; i++) {
        const struct log_frame *frame = &frames->frames[i];

        if (frame->broken && frame->header.type == FORMAT_DATA && frame->lower_offset < salvage->state.tail &&
            frame->header.chunk_shift == salvage->state.map.chunk_shift && !is_in_map(&salvage->state.map, frame))
            r = add_torn_pieces(salvage, frame);
    }
    return r;
}

/* Whether what shows in [begin, end) of a chunk is newer than any frame that is missing. */
static bool piece_is_known(const struct salvage *salvage, const struct piece_of_chunk *piece)
{
    return piece->newest > salvage->state.lost_sequence;
}

static int add_doubt(struct salvage *salvage, uint64_t begin, uint64_t end)
{
    struct store_damage damage = {.kind = STORE_DAMAGE_DOUBTFUL, .logical_offset = begin};

    end = end < salvage->state.logical_size ? end : salvage->state.logical_size;
    if (begin >= end)
        return 0;
    damage.logical_length = end - begin;
    return damage_add(&salvage->damage, &damage);
}

static int add_doubts_of_chunk(struct salvage *salvage, const struct map_chunk *entry)
{
    unsigned shift = salvage->state.map.chunk_shift;
    uint64_t start = entry->chunk << shift;
    struct piece_of_chunk pieces[PIECES_MAX];
    uint32_t count = pieces_of_chunk(entry->extents, entry->count, UINT32_C(1) << shift, pieces);
    int r = 0;

    for (uint32_t i = 0; i < count && r == 0; i++)
        if (!piece_is_known(salvage, &pieces[i]))
            r = add_doubt(salvage, start + pieces[i].begin, start + pieces[i].end);
    return r;
}

/* A frame about which nothing is known is missing: all that is not newer may have been something else. */
static int add_doubts(struct salvage *salvage)
{
    const struct map_chunk *entry;
    uint64_t at = 0;
    int r = 0;

    if (salvage->state.lost_sequence == 0)
        return 0;
    while (r == 0 && at < salvage->state.logical_size) {
        uint64_t start = salvage->state.logical_size, next = start;

        entry = map_next(&salvage->state.map, at >> salvage->state.map.chunk_shift);
        if (entry) {
            start = entry->chunk << salvage->state.map.chunk_shift;
            next = start + (UINT64_C(1) << salvage->state.map.chunk_shift);
        }
        r = add_doubt(salvage, at, start);
        if (r == 0 && entry)
            r = add_doubts_of_chunk(salvage, entry);
        at = next;
    }
    return r;
}

/* Behind the index that recovery began with; before it, what the index does not name is dead. */
static int look_behind_index(struct backend *lower, struct salvage *salvage)
{
    struct log_frames frames = {0};
    uint64_t from = salvage->state.index_offset == FORMAT_INDEX_FIRST ? 0 : salvage->state.index_end;
    uint64_t file_id = salvage->state.file_id;
    int r = log_scan_all(lower, NULL, from, salvage->lower_bytes, &file_id, &frames);

    if (r == 0)
        r = add_torn(salvage, &frames);
    if (r == 0)
        r = add_doubts(salvage);
    if (r == 0)
        r = regions_check(lower, &frames, from, salvage);
    free(frames.frames);
    return r;
}

static int begin(struct backend *lower, struct salvage *ret_salvage)
{
    struct salvage salvage = {0};
    uint8_t first[FORMAT_HEADER_BYTES];
    off_t lower_size;
    int r = backend_size(lower, NULL, &lower_size);

    if (r < 0)
        return r;
    salvage.lower_bytes = (uint64_t)lower_size;
    r = log_read(lower, NULL, first, sizeof(first), 0);
    salvage.begins_badly = r < 0 || !format_looks_like_container(first);
    *ret_salvage = salvage;
    return r == -EBADMSG || r == -EIO ? 0 : r;
}

int salvage_recover(struct store *store, struct backend *lower, struct salvage *ret_salvage)
{
    struct salvage salvage;
    int r = begin(lower, &salvage);

    if (r == 0)
        r = log_recover(lower, NULL, salvage.lower_bytes, store->boot_id, &salvage.state);
    if (r < 0)
        return r;
    r = look_behind_index(lower, &salvage);
    if (r < 0)
        salvage_free(&salvage);
    else
        *ret_salvage = salvage;
    return r;
}

int salvage_load(struct store *store, struct backend *lower, struct salvage *ret_salvage)
{
    struct salvage salvage;
    int r = begin(lower, &salvage);

    if (r < 0)
        return r;
    r = log_load_single(lower, NULL, salvage.lower_bytes, &salvage.state);
    if (r == -EBADMSG || r == -EIO)
        r = log_load_index(lower, NULL, salvage.lower_bytes, store->boot_id, &salvage.state);
    if (r == -EBADMSG || r == -EIO)
        return salvage_recover(store, lower, ret_salvage);
    if (r < 0)
        return r;
    salvage.is_indexed = true;
    *ret_salvage = salvage;
    return 0;
}
