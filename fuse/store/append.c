/* Writing frames at the end of the log. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "store/internal.h"
#include "util/cleanup.h"

static int write_fully(struct store_file *file, struct split *split, const uint8_t *data, size_t size, uint64_t offset)
{
    while (size) {
        ssize_t written = backend_pwrite(file->lower, split, data, size, (off_t)offset, false);

        if (written < 0)
            return (int)written;
        if (written == 0)
            return -EIO;
        data += written;
        size -= (size_t)written;
        offset += (size_t)written;
    }
    return 0;
}

/*
 * Takes the rest of a crash or of a failed write off the lower file, with the file's lock held and no frame under way.
 * A lower file whose size is no multiple of FORMAT_ALIGN would not be taken for a container.
 */
static int cut_garbage(struct store_file *file, struct split *split)
{
    int r;

    if (!file->garbage || file->writes)
        return 0;
    file->log.tail = file->written_end;
    r = backend_truncate(file->lower, split, (off_t)file->written_end);
    if (r == 0)
        file->garbage = false;
    return r;
}

int append_frame(struct store_file *file, struct split *split, struct format_header *header, uint8_t *frame,
                 uint64_t *ret_lower_offset)
{
    uint64_t total = format_frame_bytes(header->stored_length), lower_offset;
    int r;

    pthread_mutex_lock(&file->lock);
    r = cut_garbage(file, split);
    if (r < 0) {
        pthread_mutex_unlock(&file->lock);
        return r;
    }
    header->file_id = file->log.file_id;
    header->chunk_shift = (uint8_t)file->log.map.chunk_shift;
    header->sequence = ++file->log.sequence;
    if (header->type == FORMAT_DATA && header->logical_offset + header->raw_length > file->log.logical_size)
        file->log.logical_size = header->logical_offset + header->raw_length;
    if (header->type != FORMAT_TRUNC)
        header->logical_size = file->log.logical_size;
    lower_offset = file->log.tail;
    file->log.tail += total;
    file->log.clean = false;
    file->writes++;
    pthread_mutex_unlock(&file->lock);

    format_header_encode(header, frame);
    memset(frame + FORMAT_HEADER_BYTES + header->stored_length, 0,
           (size_t)total - FORMAT_HEADER_BYTES - header->stored_length);
    r = write_fully(file, split, frame, (size_t)total, lower_offset);

    pthread_mutex_lock(&file->lock);
    file->writes--;
    if (r < 0) {
        file->garbage = true;
        file->gap = true;
        file->size_lost = true;
    } else {
        if (lower_offset + total > file->written_end)
            file->written_end = lower_offset + total;
        if (lower_offset == 0)
            file->log.first_end = total;
        *ret_lower_offset = lower_offset;
    }
    if (file->garbage)
        cut_garbage(file, split);
    pthread_mutex_unlock(&file->lock);
    return r;
}

static uint64_t index_bytes(const struct store_file *file)
{
    return FORMAT_HEADER_BYTES + FORMAT_INDEX_PREFIX_BYTES + FORMAT_TRAILER_BYTES +
           file->log.map.extent_count * FORMAT_RECORD_BYTES;
}

/*
 * An index costs at most a sixteenth of what was written since the last, unless it fits into one block of the lower
 * file system. Until then a trailer names the last one, and the frames behind it are read when the file is opened.
 */
#define INDEX_SHARE 16
#define INDEX_SMALL_BYTES 4096

static bool index_is_worth_it(const struct store_file *file)
{
    uint64_t size = index_bytes(file);

    return file->log.index_offset == FORMAT_INDEX_FIRST || file->gap || size <= INDEX_SMALL_BYTES ||
           file->log.tail - file->indexed_end >= INDEX_SHARE * size;
}

bool append_index_is_due(struct store_file *file)
{
    bool due;

    pthread_mutex_lock(&file->lock);
    due = !file->read_only && !file->log.clean && file->log.tail && index_is_worth_it(file);
    pthread_mutex_unlock(&file->lock);
    return due;
}

struct index_writer {
    struct store_file *file;
    struct split *split;
    uint8_t *frame;
    uint32_t records;
    struct format_index_prefix prefix;
};

static uint32_t part_bytes(const struct index_writer *writer)
{
    return FORMAT_INDEX_PREFIX_BYTES + writer->records * FORMAT_RECORD_BYTES;
}

static int write_part(struct index_writer *writer)
{
    struct format_header header = {.type = FORMAT_INDEX};
    uint8_t *payload = writer->frame + FORMAT_HEADER_BYTES;
    uint64_t offset;
    int r;

    header.stored_length = part_bytes(writer);
    header.raw_length = header.stored_length;
    format_index_prefix_encode(&writer->prefix, payload);
    header.payload_checksum = format_checksum(payload, header.stored_length);
    r = append_frame(writer->file, writer->split, &header, writer->frame, &offset);
    if (r < 0)
        return r;
    writer->prefix.previous_offset = offset;
    writer->records = 0;
    return 0;
}

static int add_chunk(struct index_writer *writer, const struct map_chunk *entry)
{
    const struct map *map = &writer->file->log.map;

    if (writer->records + entry->count > FORMAT_RECORDS_MAX) {
        int r = write_part(writer);

        if (r < 0)
            return r;
    }
    for (uint32_t i = 0; i < entry->count; i++) {
        const struct extent *extent = &entry->extents[i];
        const struct format_record record = {
            .logical_offset = (entry->chunk << map->chunk_shift) + extent->begin,
            .lower_offset = extent->lower_offset,
            .sequence = extent->sequence,
            .raw_length = extent->raw_length,
            .stored_length = extent->stored_length,
            .codec = extent->codec,
        };

        format_record_encode(&record, writer->frame + FORMAT_HEADER_BYTES + part_bytes(writer));
        writer->records++;
    }
    return 0;
}

/* With `content` held exclusively and nothing under way the map stands still, so its lock is not needed. */
static int write_index(struct store_file *file, struct split *split, struct scratch *scratch)
{
    struct index_writer writer = {
        .file = file,
        .split = split,
        .frame = scratch->frame,
        .prefix.previous_offset = FORMAT_INDEX_FIRST,
        .prefix.durable_sequence =
            file->log.durable_sequence == file->log.sequence ? UINT64_MAX : file->log.durable_sequence,
    };
    const struct map_chunk *entry;
    uint64_t next = 0;
    int r = 0;

    memcpy(writer.prefix.boot_id, file->store->boot_id, sizeof(writer.prefix.boot_id));
    while (r == 0 && (entry = map_next(&file->log.map, next))) {
        r = add_chunk(&writer, entry);
        next = entry->chunk + 1;
    }
    if (r == 0)
        r = write_part(&writer);
    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    file->log.index_offset = writer.prefix.previous_offset;
    file->log.index_end = file->log.tail;
    file->indexed_end = file->log.tail;
    file->gap = false;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static int write_trailer(struct store_file *file, struct split *split)
{
    const struct format_trailer trailer = {
        .file_id = file->log.file_id,
        .index_offset = file->log.index_offset,
        .logical_size = file->log.logical_size,
    };
    uint8_t encoded[FORMAT_TRAILER_BYTES];
    int r;

    format_trailer_encode(&trailer, encoded);
    r = write_fully(file, split, encoded, sizeof(encoded), file->log.tail);
    pthread_mutex_lock(&file->lock);
    if (r == 0) {
        file->log.tail += sizeof(encoded);
        file->written_end = file->log.tail;
        file->log.clean = true;
    } else {
        file->garbage = true;
        cut_garbage(file, split);
    }
    pthread_mutex_unlock(&file->lock);
    return r;
}

int append_index(struct store_file *file, struct split *split)
{
    struct scratch *scratch;
    struct stat before;
    int fd, r = 0;

    if (file->read_only || file->log.clean || file->log.tail == 0)
        return 0;
    pthread_mutex_lock(&file->lock);
    r = cut_garbage(file, split);
    if (r == 0 && file->log.tail == file->log.first_end && !file->size_lost)
        file->log.clean = true;
    pthread_mutex_unlock(&file->lock);
    if (r < 0 || file->log.clean)
        return r;
    scratch = scratch_get(&file->store->scratches);
    if (!scratch)
        return -ENOMEM;
    /* An index is no change of the contents: the time of the last one stays. */
    fd = backend_descriptor(file->lower);
    if (fd >= 0 && LOWER(split, fstat(fd, &before)) < 0)
        fd = -1;
    if (index_is_worth_it(file))
        r = write_index(file, split, scratch);
    if (r == 0)
        r = write_trailer(file, split);
    scratch_put(&file->store->scratches, scratch);
    if (fd >= 0) {
        const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, before.st_mtim};
        int kept = LOWER(split, futimens(fd, times)); /* not ours to set where the file is another user's */

        (void)kept;
    }
    return r;
}
