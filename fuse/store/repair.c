/* Making a damaged container whole: what is lost is marked, the index is written anew. */
#include <errno.h>

#include "store/salvage.h"

/* Nothing to be done about: it is marked, or the lower file system has to do something first. */
static bool is_final(enum store_damage_kind kind)
{
    return kind == STORE_DAMAGE_MARKED || kind == STORE_DAMAGE_UNREADABLE;
}

static bool is_to_be_marked(const struct store_damage *damage)
{
    return damage->logical_length && store_damage_is_loss(damage->kind) && !is_final(damage->kind);
}

/* Whether a frame may be put at the beginning, where there is none. A hostile file only has something in the way. */
static bool can_begin(const struct salvage *salvage)
{
    const struct map *map = &salvage->state.map;
    const struct map_chunk *entry;
    uint64_t next = 0;

    if (!salvage->begins_badly || salvage->state.tail < FORMAT_HEADER_BYTES)
        return false;
    while ((entry = map_next(map, next))) {
        for (uint32_t i = 0; i < entry->count; i++)
            if (entry->extents[i].lower_offset < FORMAT_HEADER_BYTES)
                return false;
        next = entry->chunk + 1;
    }
    return true;
}

static bool is_needed(const struct salvage *salvage)
{
    if (salvage->state.tail == 0)
        return false; /* no frame is whole, and none is known to have been: there is nothing to make whole */
    if (!salvage->is_indexed)
        return true;
    for (size_t i = 0; i < salvage->damage.count; i++) {
        enum store_damage_kind kind = salvage->damage.items[i].kind;

        if (!is_final(kind) && (kind != STORE_DAMAGE_BEGINNING || can_begin(salvage)))
            return true;
    }
    return false;
}

static int mark_piece(struct store_file *file, uint64_t offset, uint64_t length)
{
    uint32_t chunk_bytes = file->chunk_bytes;
    uint64_t start = offset & ~(uint64_t)(chunk_bytes - 1), left = file->log.logical_size - start;
    struct format_header header = {.type = FORMAT_LOST, .logical_offset = offset, .raw_length = length};
    const struct map_chunk *entry = map_find(&file->log.map, offset >> file->log.map.chunk_shift);
    uint8_t frame[FORMAT_HEADER_BYTES];
    uint64_t lower_offset;
    int r;

    if (entry && entry->count >= MAP_EXTENTS_MAX) {
        /* There is no room for one more; no byte of the chunk can be read as it is. */
        header.logical_offset = start;
        header.raw_length = left < chunk_bytes ? left : chunk_bytes;
    }
    r = append_frame(file, NULL, &header, frame, &lower_offset);
    return r < 0 ? r : log_apply(&file->log, &header, lower_offset);
}

static int mark_lost(struct store_file *file, const struct store_damage *damage)
{
    uint64_t at = damage->logical_offset, end = at + damage->logical_length;
    int r = 0;

    while (at < end && r == 0) {
        uint64_t next = (at | (file->chunk_bytes - 1)) + 1;

        next = next < end ? next : end;
        r = mark_piece(file, at, next - at);
        at = next;
    }
    return r;
}

/*
 * In the place of a frame that is lost: a frame that changes nothing, so that the file begins like a container. Only where
 * it does not, since a crash could take what is left of the beginning.
 */
static int write_beginning(struct store_file *file)
{
    struct format_header header = {
        .file_id = file->log.file_id,
        .sequence = ++file->log.sequence,
        .logical_offset = file->log.logical_size,
        .logical_size = file->log.logical_size,
        .type = FORMAT_TRUNC,
        .chunk_shift = (uint8_t)file->log.map.chunk_shift,
    };
    uint8_t frame[FORMAT_HEADER_BYTES];
    ssize_t written;

    format_header_encode(&header, frame);
    written = backend_pwrite(file->lower, NULL, frame, sizeof(frame), 0, false);
    if (written < 0)
        return (int)written;
    return written == sizeof(frame) ? 0 : -EIO;
}

/* First what is lost, on the medium, and then the index that no longer names it. */
static int write_repair(struct store_file *file, const struct store_report *report, bool begin)
{
    int r = 0;

    for (size_t i = 0; i < report->damage_count && r == 0; i++)
        if (is_to_be_marked(&report->damage[i]))
            r = mark_lost(file, &report->damage[i]);
    if (r == 0 && begin)
        r = write_beginning(file);
    if (r == 0)
        r = backend_sync(&file->backend, NULL, false);
    /* All frames of the map were read and are whole, so the index can say that they are on the medium. */
    file->gap = false;
    file->complete_from = 0;
    if (r == 0)
        r = checkpoint_write(file, NULL);
    return r < 0 ? r : backend_sync(file->lower, NULL, false);
}

static int repair(struct store *store, struct backend *lower, struct salvage *salvage,
                  const struct store_report *report, bool begin)
{
    struct store_file *file;
    int r, s;

    salvage->state.index_offset = FORMAT_INDEX_FIRST;
    salvage->state.first_end = 0; /* what is left after a cut may be one frame, and not one that the map has: an index says */
    salvage->state.clean = false;
    salvage->state.suspect = false;
    salvage->state.lost_sequence = 0; /* what is doubtful has been reported, and can be read from now on */
    r = file_open_state(store, lower, (off_t)salvage->lower_bytes, &salvage->state, &file);
    if (r < 0) {
        backend_close(lower, NULL);
        return r;
    }
    r = write_repair(file, report, begin);
    if (r < 0)
        file->read_only = true; /* or closing it would write an index without what could not be marked */
    s = backend_close(&file->backend, NULL);
    return r < 0 ? r : s;
}

int store_repair(struct store *store, struct backend *lower, struct store_report *ret_report)
{
    struct store_report report;
    struct salvage salvage;
    bool needed, begin;
    int r = salvage_assess(store, lower, &salvage);

    if (r < 0) {
        backend_close(lower, NULL);
        return r;
    }
    needed = is_needed(&salvage);
    begin = can_begin(&salvage);
    salvage_report(&salvage, &report);
    report.is_repaired = needed;
    r = needed ? repair(store, lower, &salvage, &report, begin) : backend_close(lower, NULL);
    salvage_free(&salvage);
    if (r < 0)
        store_report_free(&report);
    else
        *ret_report = report;
    return r;
}
