/* Whether the frames that a map names are whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/salvage.h"

#define WHOLE STORE_DAMAGE_KINDS

static int not_read(int error, enum store_damage_kind *ret_kind)
{
    *ret_kind = error == -EIO ? STORE_DAMAGE_UNREADABLE : STORE_DAMAGE_HEADER;
    return error == -EIO || error == -EBADMSG ? 0 : error;
}

/* Reads an extent's frame and decompresses it. 0 with its kind of damage, or WHOLE; -errno when that cannot be told. */
static int verify_extent(struct backend *lower, uint64_t file_id, unsigned chunk_shift, uint64_t chunk,
                         const struct extent *extent, struct scratch *scratch, enum store_damage_kind *ret_kind)
{
    const uint8_t *payload = scratch->frame + FORMAT_HEADER_BYTES;
    struct format_header header;
    int r;

    *ret_kind = extent->codec == FORMAT_RECORD_LOST ? STORE_DAMAGE_MARKED : WHOLE;
    if (extent->codec == FORMAT_RECORD_LOST || extent->codec == FORMAT_RECORD_ZERO)
        return 0;
    /* The header first: many records of a hostile index may name one large frame. */
    r = log_read(lower, NULL, scratch->frame, FORMAT_HEADER_BYTES, extent->lower_offset);
    if (r < 0)
        return not_read(r, ret_kind);
    *ret_kind = STORE_DAMAGE_HEADER;
    if (format_header_decode(scratch->frame, &header) < 0 || header.type != FORMAT_DATA ||
        header.file_id != file_id || header.sequence != extent->sequence ||
        header.logical_offset != (chunk << chunk_shift) + extent->begin || header.raw_length != extent->raw_length ||
        header.stored_length != extent->stored_length || header.codec != extent->codec)
        return 0;
    r = log_read(lower, NULL, scratch->frame + FORMAT_HEADER_BYTES, header.stored_length,
                 extent->lower_offset + FORMAT_HEADER_BYTES);
    if (r < 0)
        return not_read(r, ret_kind);
    *ret_kind = STORE_DAMAGE_PAYLOAD;
    if (format_checksum(payload, header.stored_length) != header.payload_checksum)
        return 0;
    *ret_kind = WHOLE;
    if (header.codec == TALLY_CODEC_RAW)
        return 0;
    r = scratch_decompress(scratch, header.codec, payload, header.stored_length, scratch->chunk,
                           (size_t)header.raw_length);
    if (r == -EIO)
        *ret_kind = STORE_DAMAGE_CODEC;
    return r == -EIO ? 0 : r;
}

static int by_value(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

uint32_t pieces_of_chunk(const struct extent *extents, uint32_t count, uint32_t chunk_bytes,
                         struct piece_of_chunk ret_pieces[static PIECES_MAX])
{
    uint32_t edges[PIECES_MAX + 1], edge_count = 0, pieces = 0;

    edges[edge_count++] = 0;
    edges[edge_count++] = chunk_bytes;
    for (uint32_t i = 0; i < count; i++) {
        edges[edge_count++] = extents[i].begin;
        edges[edge_count++] = extents[i].begin + extents[i].raw_length;
    }
    qsort(edges, edge_count, sizeof(edges[0]), by_value);
    for (uint32_t e = 0; e + 1 < edge_count; e++) {
        struct piece_of_chunk piece = {.begin = edges[e], .end = edges[e + 1]};
        struct piece_of_chunk *last = pieces ? &ret_pieces[pieces - 1] : NULL;

        if (piece.begin == piece.end)
            continue;
        for (uint32_t i = count; i-- > 0;) {
            if (extents[i].begin > piece.begin || extents[i].begin + extents[i].raw_length < piece.end)
                continue;
            piece.newest = extents[i].sequence;
            if (extents[i].codec != FORMAT_RECORD_ZERO) {
                piece.sequence = extents[i].sequence;
                piece.extent = i;
            }
            break;
        }
        if (last && last->sequence == piece.sequence && last->newest == piece.newest)
            last->end = piece.end;
        else
            ret_pieces[pieces++] = piece;
    }
    return pieces;
}

struct verifier {
    struct backend *lower;
    struct salvage *salvage;
    struct scratch *scratch;
    struct map whole;
    uint64_t newest_bad;
};

static struct store_damage damage_of(const struct map *map, const struct map_chunk *entry, const struct extent *extent,
                                     enum store_damage_kind kind, uint32_t begin, uint32_t end)
{
    return (struct store_damage){
        .kind = kind,
        .logical_offset = (entry->chunk << map->chunk_shift) + begin,
        .logical_length = end - begin,
        .lower_offset = extent->lower_offset,
        .lower_length = format_frame_bytes(extent->stored_length),
    };
}

/* What shows of an extent, up to the end of the file. */
static int add_damage(struct verifier *verifier, const struct map_chunk *entry, uint32_t bad,
                      enum store_damage_kind kind)
{
    const struct map *map = &verifier->salvage->state.map;
    uint64_t left = verifier->salvage->state.logical_size - (entry->chunk << map->chunk_shift);
    uint32_t chunk_bytes = UINT32_C(1) << map->chunk_shift;
    struct piece_of_chunk pieces[PIECES_MAX];
    uint32_t count = pieces_of_chunk(entry->extents, entry->count, chunk_bytes, pieces);
    bool shows = false;

    for (uint32_t i = 0; i < count; i++) {
        struct store_damage damage;
        uint32_t end = pieces[i].end < left ? pieces[i].end : (uint32_t)left;
        int r;

        if (!pieces[i].sequence || pieces[i].extent != bad || pieces[i].begin >= end)
            continue;
        damage = damage_of(map, entry, &entry->extents[bad], kind, pieces[i].begin, end);
        r = damage_add(&verifier->salvage->damage, &damage);
        if (r < 0)
            return r;
        shows = true;
    }
    if (!shows && kind != STORE_DAMAGE_MARKED && kind != STORE_DAMAGE_UNREADABLE) {
        const struct extent *extent = &entry->extents[bad];
        struct store_damage damage = damage_of(map, entry, extent, STORE_DAMAGE_HIDDEN, extent->begin,
                                               extent->begin + extent->raw_length);

        return damage_add(&verifier->salvage->damage, &damage);
    }
    return 0;
}

static int verify_chunk(struct verifier *verifier, const struct map_chunk *entry)
{
    const struct salvage *salvage = verifier->salvage;
    int r = 0;

    if (entry->chunk << salvage->state.map.chunk_shift >= salvage->state.logical_size)
        return 0; /* a hostile map only: nobody can read it */
    for (uint32_t i = 0; i < entry->count && r == 0; i++) {
        const struct extent *extent = &entry->extents[i];
        enum store_damage_kind kind;

        r = verify_extent(verifier->lower, salvage->state.file_id, salvage->state.map.chunk_shift, entry->chunk, extent,
                          verifier->scratch, &kind);
        if (r == 0 && kind != WHOLE)
            r = add_damage(verifier, entry, i, kind);
        /* What the disk does not give today it may give tomorrow. */
        if (r == 0 && (kind == WHOLE || kind == STORE_DAMAGE_MARKED || kind == STORE_DAMAGE_UNREADABLE))
            r = map_add(&verifier->whole, entry->chunk, extent);
        else if (r == 0 && extent->sequence > verifier->newest_bad)
            verifier->newest_bad = extent->sequence;
    }
    return r;
}

int verify_map(struct store *store, struct backend *lower, struct salvage *salvage, uint64_t *ret_newest_bad)
{
    struct verifier verifier = {.lower = lower, .salvage = salvage, .scratch = scratch_get(&store->scratches)};
    struct map *map = &salvage->state.map;
    const struct map_chunk *entry;
    uint64_t next = 0;
    int r = 0;

    if (!verifier.scratch)
        return -ENOMEM;
    map_init(&verifier.whole, map->chunk_shift);
    while (r == 0 && (entry = map_next(map, next))) {
        r = verify_chunk(&verifier, entry);
        next = entry->chunk + 1;
    }
    scratch_put(&store->scratches, verifier.scratch);
    if (r < 0) {
        map_clear(&verifier.whole);
        return r;
    }
    map_clear(map);
    *map = verifier.whole;
    *ret_newest_bad = verifier.newest_bad;
    return 0;
}
