/* Finding the frames of a lower file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/log.h"
#include "util/cleanup.h"

#define WINDOW_BYTES (64u * 1024)
#define MENDS_MAX 256
#define UNREADABLE_BYTES UINT64_C(4096) /* skipped where the lower file system cannot read */

struct scan {
    struct backend *lower;
    struct split *split;
    uint64_t end;
    uint64_t file_id;
    bool strict;
    bool keep_broken;
    bool pending;        /* garbage, of which it is not known yet whether a frame follows */
    uint64_t explained;  /* up to here bytes are of a frame whose payload is damaged */
    unsigned mends_left;
    uint64_t verify_budget_bytes;
    uint8_t *payload; /* log_payload_room(end) bytes */
    struct log_frames found;
};

static int keep_frame(struct log_frames *found, const struct format_header *header, uint64_t offset, bool broken)
{
    if (found->count == found->capacity) {
        size_t capacity = found->capacity ? found->capacity * 2 : 16;
        struct log_frame *frames = reallocarray(found->frames, capacity, sizeof(*frames));

        if (!frames)
            return -ENOMEM;
        found->frames = frames;
        found->capacity = capacity;
    }
    found->frames[found->count++] = (struct log_frame){*header, offset, broken};
    return 0;
}

/* 0 with the header when a frame of this file, not reaching past the end, begins at `offset`; else -EBADMSG. */
static int frame_at(struct scan *scan, const uint8_t *encoded, uint64_t offset, struct format_header *ret_header)
{
    struct format_header header;
    int r = format_header_decode(encoded, &header);

    if (r < 0)
        return r;
    if (scan->file_id && header.file_id != scan->file_id)
        return -EBADMSG;
    if (format_frame_bytes(header.stored_length) > scan->end - offset)
        return -EBADMSG;
    *ret_header = header;
    return 0;
}

/*
 * 1 when the payload is whole, 0 when not. Headers inside one another's payloads could make a hostile file cost the
 * square of its size, hence the budget: above it nothing is read, and the frame does not count.
 */
static int payload_is_whole(struct scan *scan, const struct format_header *header, uint64_t offset)
{
    int r;

    if (header->stored_length == 0)
        return 1;
    if (scan->verify_budget_bytes < header->stored_length)
        return 0;
    scan->verify_budget_bytes -= header->stored_length;
    r = log_read(scan->lower, scan->split, scan->payload, header->stored_length, offset + FORMAT_HEADER_BYTES);
    if (r < 0)
        return r == -EBADMSG || r == -EIO ? 0 : r;
    return format_checksum(scan->payload, header->stored_length) == header->payload_checksum;
}

/* Bytes at which no frame begins. */
static void pass_over(struct scan *scan, const uint8_t *bytes, uint64_t offset)
{
    struct format_trailer trailer;

    if (offset < scan->explained || (bytes[0] == 0 && memcmp(bytes, bytes + 1, FORMAT_ALIGN - 1) == 0))
        return;
    if (format_trailer_decode(bytes, &trailer) == 0 && trailer.file_id == scan->file_id) {
        scan->explained = offset + FORMAT_TRAILER_BYTES;
        return;
    }
    scan->pending = true;
}

/* The next place from `offset` on where a frame of this file begins, or the end. Holes cost nothing. */
static int search(struct scan *scan, uint64_t offset, uint64_t *ret_offset)
{
    AUTO_FREE uint8_t *window = malloc(WINDOW_BYTES);

    if (!window)
        return -ENOMEM;
    while (offset + FORMAT_HEADER_BYTES <= scan->end) {
        off_t data = backend_seek(scan->lower, scan->split, (off_t)offset, SEEK_DATA);
        struct format_header header;
        ssize_t got;

        if (data == -ENXIO)
            break;
        if (data > (off_t)offset) /* one header may begin before the data does, but not by a whole header */
            offset = (uint64_t)data & ~(uint64_t)(FORMAT_ALIGN - 1);
        got = backend_pread(scan->lower, scan->split, window, WINDOW_BYTES, (off_t)offset);
        if (got == -EIO) {
            scan->pending = true;
            offset = (offset | (UNREADABLE_BYTES - 1)) + 1;
            continue;
        }
        if (got < 0)
            return (int)got;
        if ((size_t)got < FORMAT_HEADER_BYTES)
            break;
        for (size_t at = 0; at + FORMAT_HEADER_BYTES <= (size_t)got; at += FORMAT_ALIGN) {
            if (offset + at + FORMAT_HEADER_BYTES <= scan->end &&
                frame_at(scan, window + at, offset + at, &header) == 0) {
                *ret_offset = offset + at;
                return 0;
            }
            pass_over(scan, window + at, offset + at);
        }
        offset += ((size_t)got - FORMAT_HEADER_BYTES) / FORMAT_ALIGN * FORMAT_ALIGN + FORMAT_ALIGN;
    }
    *ret_offset = scan->end;
    return 0;
}

/* In a strict scan: past the trailer of this file that begins at *offset. */
static int skip_trailer(struct scan *scan, uint64_t *offset)
{
    uint8_t encoded[FORMAT_TRAILER_BYTES];
    struct format_trailer trailer;
    int r = log_read(scan->lower, scan->split, encoded, sizeof(encoded), *offset);

    if (r == 0)
        r = format_trailer_decode(encoded, &trailer);
    if (r == 0 && trailer.file_id != scan->file_id)
        r = -EBADMSG;
    if (r == 0)
        *offset += FORMAT_TRAILER_BYTES;
    return r;
}

/* A header of which one byte is wrong still tells what is lost. */
static int mend(struct scan *scan, const uint8_t *encoded, uint64_t offset, struct format_header *ret_header)
{
    struct format_header header;
    int r = format_header_mend(encoded, scan->file_id, &header);

    if (r > 0)
        return -EBADMSG;
    scan->mends_left--;
    if (r < 0)
        return r;
    if (format_frame_bytes(header.stored_length) > scan->end - offset)
        return -EBADMSG;
    *ret_header = header;
    return 0;
}

/* Takes the frame at *offset if there is a whole one, and moves on. */
static int step(struct scan *scan, uint64_t *offset)
{
    uint8_t encoded[FORMAT_HEADER_BYTES];
    struct format_header header = {0};
    int r = -EBADMSG, whole;

    if (scan->end - *offset >= FORMAT_HEADER_BYTES)
        r = log_read(scan->lower, scan->split, encoded, sizeof(encoded), *offset);
    if (r == 0)
        r = frame_at(scan, encoded, *offset, &header);
    if (r < 0 && scan->strict)
        return skip_trailer(scan, offset);
    if (r == -EPROTONOSUPPORT && *offset > 0)
        r = -EBADMSG;
    if (r == -EBADMSG && skip_trailer(scan, offset) == 0)
        return 0;
    if (r == -EBADMSG && scan->file_id && scan->mends_left && scan->end - *offset >= FORMAT_HEADER_BYTES)
        r = mend(scan, encoded, *offset, &header);
    if (r == -EBADMSG || r == -EIO)
        return search(scan, *offset, offset);
    if (r < 0)
        return r;
    whole = scan->strict ? 1 : payload_is_whole(scan, &header, *offset);
    if (whole < 0)
        return whole;
    if (whole) {
        if (!scan->file_id)
            scan->file_id = header.file_id;
        r = keep_frame(&scan->found, &header, *offset, false);
        scan->found.garbage |= scan->pending;
        scan->pending = false;
        *offset += format_frame_bytes(header.stored_length);
        return r;
    }
    if (scan->keep_broken && scan->file_id) {
        r = keep_frame(&scan->found, &header, *offset, true);
        if (r < 0)
            return r;
        scan->explained = *offset + format_frame_bytes(header.stored_length);
    }
    return search(scan, *offset + FORMAT_ALIGN, offset);
}

static int by_sequence(const void *left, const void *right)
{
    const struct log_frame *a = left, *b = right;

    if (a->header.sequence != b->header.sequence)
        return a->header.sequence < b->header.sequence ? -1 : 1;
    return (a->lower_offset > b->lower_offset) - (a->lower_offset < b->lower_offset);
}

static int scan_range(struct scan *scan, uint64_t from, uint64_t *file_id, struct log_frames *ret_frames)
{
    AUTO_FREE uint8_t *payload = scan->strict ? NULL : malloc(log_payload_room(scan->end));
    int r = 0;

    if (!scan->strict && !payload)
        return -ENOMEM;
    scan->payload = payload;
    scan->mends_left = MENDS_MAX;
    scan->verify_budget_bytes = 4 * (scan->end - from) + FORMAT_PAYLOAD_MAX;
    while (r == 0 && from < scan->end)
        r = step(scan, &from);
    if (r < 0) {
        free(scan->found.frames);
        return r;
    }
    if (scan->found.count)
        qsort(scan->found.frames, scan->found.count, sizeof(*scan->found.frames), by_sequence);
    scan->found.garbage_at_end = scan->pending;
    *file_id = scan->file_id;
    *ret_frames = scan->found;
    return 0;
}

int log_scan(struct backend *lower, struct split *split, uint64_t from, uint64_t to, bool strict, uint64_t *file_id,
             struct log_frames *ret_frames)
{
    struct scan scan = {.lower = lower, .split = split, .end = to, .file_id = *file_id, .strict = strict};

    return scan_range(&scan, from, file_id, ret_frames);
}

int log_scan_all(struct backend *lower, struct split *split, uint64_t from, uint64_t to, uint64_t *file_id,
                 struct log_frames *ret_frames)
{
    struct scan scan = {.lower = lower, .split = split, .end = to, .file_id = *file_id, .keep_broken = true};

    return scan_range(&scan, from, file_id, ret_frames);
}
