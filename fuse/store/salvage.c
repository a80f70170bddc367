/* The state of a container from its index, or from all its frames and what old indexes say about frames that are gone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/regions.h"
#include "util/cleanup.h"

void salvage_free(struct salvage *salvage)
{
    log_state_free(&salvage->state);
    free(salvage->damage.items);
}

/* The file id, from the first header or the trailer: a walk would take that of the first frame that is whole. */
static int find_file_id(struct backend *lower, uint64_t lower_bytes, uint64_t *ret_file_id, bool *ret_begins_badly)
{
    uint8_t encoded[FORMAT_HEADER_BYTES];
    struct format_trailer trailer;
    struct format_header header;
    int r = log_read(lower, NULL, encoded, sizeof(encoded), 0);

    if (r == 0)
        r = format_header_decode(encoded, &header);
    *ret_begins_badly = r < 0;
    if (r == 0)
        *ret_file_id = header.file_id;
    if (r == 0 || (r != -EBADMSG && r != -EIO))
        return r;
    *ret_file_id = 0;
    if (lower_bytes < FORMAT_TRAILER_BYTES)
        return 0;
    r = log_read(lower, NULL, encoded, FORMAT_TRAILER_BYTES, lower_bytes - FORMAT_TRAILER_BYTES);
    if (r == 0)
        r = format_trailer_decode(encoded, &trailer);
    if (r == 0)
        *ret_file_id = trailer.file_id;
    return r == -EBADMSG || r == -EIO ? 0 : r;
}

static int by_sequence(const void *left, const void *right)
{
    const struct log_frame *a = left, *b = right;

    return (a->header.sequence > b->header.sequence) - (a->header.sequence < b->header.sequence);
}

static bool has_sequence(const struct log_frames *frames, size_t count, uint64_t sequence)
{
    const struct log_frame key = {.header.sequence = sequence};

    return count && bsearch(&key, frames->frames, count, sizeof(key), by_sequence);
}

struct gathering {
    struct store *store;
    struct backend *lower;
    struct salvage *salvage;
    struct log_frames frames; /* found ones, then those that indexes tell of */
    size_t found;
    uint64_t durable_sequence; /* the highest that some index calls durable */
    uint64_t spare_records;    /* how many more may be read: a hostile file could hold many indexes within one another */
};

static int add_frame(struct log_frames *frames, const struct log_frame *frame)
{
    if (frames->count == frames->capacity) {
        size_t capacity = frames->capacity ? frames->capacity * 2 : 16;
        struct log_frame *larger = reallocarray(frames->frames, capacity, sizeof(*larger));

        if (!larger)
            return -ENOMEM;
        frames->frames = larger;
        frames->capacity = capacity;
    }
    frames->frames[frames->count++] = *frame;
    return 0;
}

/* Takes from a record the frame that it names, if that was not found and was not given back to the file system either. */
static int take_record(struct gathering *gathering, const struct format_record *record, uint64_t logical_size)
{
    const struct log_frame frame = {
        .header = {
            .sequence = record->sequence,
            .logical_offset = record->logical_offset,
            .raw_length = record->raw_length,
            .logical_size = logical_size,
            .stored_length = record->stored_length,
            .type = FORMAT_DATA,
            .codec = record->codec,
            .chunk_shift = (uint8_t)gathering->salvage->state.map.chunk_shift,
        },
        .lower_offset = record->lower_offset,
        .broken = true,
    };

    if (record->codec == FORMAT_RECORD_ZERO || record->codec == FORMAT_RECORD_LOST ||
        record->logical_offset + record->raw_length > logical_size ||
        has_sequence(&gathering->frames, gathering->found, record->sequence))
        return 0;
    if (region_is_punched(gathering->lower, record->lower_offset, format_frame_bytes(record->stored_length)))
        return 0;
    return add_frame(&gathering->frames, &frame);
}

static int take_index(struct gathering *gathering, const struct log_frame *index, uint8_t *payload)
{
    unsigned chunk_shift = gathering->salvage->state.map.chunk_shift;
    size_t count = (index->header.stored_length - FORMAT_INDEX_PREFIX_BYTES) / FORMAT_RECORD_BYTES;
    uint64_t logical_size = index->header.logical_size, durable;
    struct format_index_prefix prefix;
    bool this_boot;
    int r = log_read(gathering->lower, NULL, payload, index->header.stored_length,
                     index->lower_offset + FORMAT_HEADER_BYTES);

    if (r < 0 || format_checksum(payload, index->header.stored_length) != index->header.payload_checksum)
        return r == -EBADMSG || r == -EIO ? 0 : r;
    format_index_prefix_decode(payload, &prefix);
    this_boot = memcmp(prefix.boot_id, gathering->store->boot_id, sizeof(prefix.boot_id)) == 0;
    durable = prefix.durable_sequence < index->header.sequence ? prefix.durable_sequence : index->header.sequence;
    if (this_boot)
        durable = index->header.sequence; /* no power has failed since */
    if (durable > gathering->durable_sequence)
        gathering->durable_sequence = durable;
    for (size_t i = 0; r == 0 && i < count && gathering->spare_records; i++, gathering->spare_records--) {
        struct format_record record;

        if (format_record_decode(payload + FORMAT_INDEX_PREFIX_BYTES + i * FORMAT_RECORD_BYTES, chunk_shift,
                                 &record) < 0)
            break;
        if (record.sequence <= durable)
            r = take_record(gathering, &record, logical_size);
    }
    return r;
}

static int take_indexes(struct gathering *gathering)
{
    AUTO_FREE uint8_t *payload = malloc(FORMAT_PAYLOAD_MAX);
    int r = 0;

    if (!payload)
        return -ENOMEM;
    gathering->found = gathering->frames.count;
    gathering->spare_records = gathering->salvage->lower_bytes / FORMAT_RECORD_BYTES;
    /* From the newest: of several records for a frame the first stays, all the same. */
    for (size_t i = gathering->found; i-- > 0 && r == 0;)
        if (gathering->frames.frames[i].header.type == FORMAT_INDEX && !gathering->frames.frames[i].broken)
            r = take_index(gathering, &gathering->frames.frames[i], payload);
    if (gathering->frames.count > gathering->found)
        qsort(gathering->frames.frames, gathering->frames.count, sizeof(*gathering->frames.frames), by_sequence);
    return r;
}

/* Of frames with one sequence number the whole one stays, or the first. Frames of another chunk size go. */
static void drop_doubles(struct log_frames *frames, unsigned chunk_shift)
{
    size_t kept = 0;

    for (size_t i = 0; i < frames->count; i++) {
        const struct log_frame *frame = &frames->frames[i];
        struct log_frame *last = kept ? &frames->frames[kept - 1] : NULL;

        if (frame->header.chunk_shift != chunk_shift)
            continue;
        if (last && last->header.sequence == frame->header.sequence && (last->broken || frame->broken)) {
            if (last->broken)
                *last = *frame;
            continue;
        }
        frames->frames[kept++] = *frame;
    }
    frames->count = kept;
}

/* A broken frame that no index calls durable: a power failure may have torn it, so what was there before counts. */
static bool is_torn(const struct gathering *gathering, const struct log_frame *frame)
{
    return frame->broken && frame->header.sequence > gathering->durable_sequence;
}

static int apply_frames(struct gathering *gathering)
{
    struct log_state *state = &gathering->salvage->state;
    int r = 0;

    for (size_t i = 0; i < gathering->frames.count && r == 0; i++) {
        const struct log_frame *frame = &gathering->frames.frames[i];
        uint64_t end = frame->lower_offset + format_frame_bytes(frame->header.stored_length);

        if (is_torn(gathering, frame) || (frame->broken && frame->header.type == FORMAT_INDEX))
            continue;
        r = log_apply(state, &frame->header, frame->lower_offset);
        if (r == -EOVERFLOW)
            r = -EIO;
        if (!frame->broken && end > state->tail)
            state->tail = end;
        if (!frame->broken && frame->lower_offset == 0)
            state->first_end = end;
    }
    return r;
}

/* What of a torn frame is not covered by newer ones. */
static int add_torn(struct salvage *salvage, const struct log_frame *frame)
{
    const struct format_header *header = &frame->header;
    unsigned shift = salvage->state.map.chunk_shift;
    uint64_t chunk = header->logical_offset >> shift, start = chunk << shift;
    const struct map_chunk *entry = map_find(&salvage->state.map, chunk);
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
        end = end < header->logical_offset + header->raw_length ? end : header->logical_offset + header->raw_length;
        end = end < salvage->state.logical_size ? end : salvage->state.logical_size;
        damage.logical_offset = begin;
        damage.logical_length = end > begin ? end - begin : 0;
        if (damage.logical_length && pieces[i].sequence < header->sequence)
            r = damage_add(&salvage->damage, &damage);
    }
    return r;
}

static int gather(struct gathering *gathering)
{
    struct salvage *salvage = gathering->salvage;
    size_t first = 0;
    int r;

    while (first < gathering->frames.count && gathering->frames.frames[first].broken)
        first++;
    if (first == gathering->frames.count)
        return -EIO;
    map_init(&salvage->state.map, gathering->frames.frames[first].header.chunk_shift);
    salvage->state.file_id = salvage->file_id;
    salvage->state.index_offset = FORMAT_INDEX_FIRST;
    r = take_indexes(gathering);
    if (r < 0)
        return r;
    drop_doubles(&gathering->frames, salvage->state.map.chunk_shift);
    r = apply_frames(gathering);
    for (size_t i = 0; i < gathering->frames.count && r == 0; i++) {
        const struct log_frame *frame = &gathering->frames.frames[i];

        if (is_torn(gathering, frame) && frame->header.type == FORMAT_DATA && frame->lower_offset < salvage->state.tail)
            r = add_torn(salvage, frame);
    }
    salvage->state.durable_sequence = gathering->durable_sequence < salvage->state.sequence
                                          ? gathering->durable_sequence
                                          : salvage->state.sequence;
    if (r == 0)
        r = regions_check(gathering->lower, &gathering->frames, salvage);
    return r;
}

static int begin(struct backend *lower, struct salvage *salvage)
{
    off_t lower_size;
    int r = backend_size(lower, NULL, &lower_size);

    if (r < 0)
        return r;
    *salvage = (struct salvage){.lower_bytes = (uint64_t)lower_size};
    return find_file_id(lower, salvage->lower_bytes, &salvage->file_id, &salvage->begins_badly);
}

int salvage_walk(struct store *store, struct backend *lower, struct salvage *ret_salvage)
{
    struct salvage salvage;
    struct gathering gathering = {.store = store, .lower = lower, .salvage = &salvage};
    int r = begin(lower, &salvage);

    if (r == 0)
        r = log_scan_all(lower, NULL, 0, salvage.lower_bytes, &salvage.file_id, &gathering.frames);
    if (r == 0)
        r = gather(&gathering);
    free(gathering.frames.frames);
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
        return salvage_walk(store, lower, ret_salvage);
    if (r < 0)
        return r;
    salvage.is_indexed = true;
    salvage.file_id = salvage.state.file_id;
    *ret_salvage = salvage;
    return 0;
}
