/* Writing the index and the trailer that names it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "store/internal.h"

/*
 * An index costs at most a sixteenth of what was written since the last, unless it fits into one block of the lower
 * file system. Until then a trailer names the last one, and the frames behind it are read when the file is opened.
 */
#define INDEX_SHARE 16
#define INDEX_SMALL_BYTES 4096

uint64_t checkpoint_bytes(const struct store_file *file)
{
    uint64_t records = file->log.map.extent_count;

    return (records / FORMAT_RECORDS_MAX + 1) * (FORMAT_HEADER_BYTES + FORMAT_INDEX_PREFIX_BYTES) +
           records * FORMAT_RECORD_BYTES + FORMAT_TRAILER_BYTES;
}

static bool index_is_worth_it(const struct store_file *file)
{
    uint64_t size = checkpoint_bytes(file);

    return file->log.index_offset == FORMAT_INDEX_FIRST || file->gap || size <= INDEX_SMALL_BYTES ||
           file->log.tail - file->log.index_end >= INDEX_SHARE * size;
}

/* Without knowing what was lost an index would declare it zeros. */
static bool may_write(const struct store_file *file)
{
    return !file->read_only && !file->log.clean && file->log.tail && file->log.lost_sequence == 0;
}

bool checkpoint_is_due(struct store_file *file, bool closing)
{
    uint64_t since;
    bool due;

    pthread_mutex_lock(&file->lock);
    since = file->log.tail - file->trailer_end;
    due = may_write(file) && (closing ? index_is_worth_it(file) : file->gap || since >= file->store->checkpoint_bytes);
    pthread_mutex_unlock(&file->lock);
    return due;
}

struct index_writer {
    struct store_file *file;
    struct split *split;
    uint8_t *frame;
    uint64_t *at; /* where to write instead of at the log's end, or NULL */
    uint32_t records;
    uint64_t begin, offset, end; /* of the first part, of the last one */
    struct format_index_prefix prefix;
};

static uint32_t part_bytes(const struct index_writer *writer)
{
    return FORMAT_INDEX_PREFIX_BYTES + writer->records * FORMAT_RECORD_BYTES;
}

static int place_frame(struct index_writer *writer, struct format_header *header, uint64_t *ret_offset)
{
    struct store_file *file = writer->file;
    size_t total;
    int r;

    if (!writer->at)
        return append_frame(file, writer->split, header, writer->frame, ret_offset);
    pthread_mutex_lock(&file->lock);
    append_number(file, header);
    pthread_mutex_unlock(&file->lock);
    total = append_encode(header, writer->frame);
    r = write_fully(file, writer->split, writer->frame, total, *writer->at);
    if (r < 0)
        return r;
    *ret_offset = *writer->at;
    *writer->at += total;
    return 0;
}

static int write_part(struct index_writer *writer, bool last)
{
    struct format_header header = {.type = FORMAT_INDEX, .durable_distance = last};
    uint8_t *payload = writer->frame + FORMAT_HEADER_BYTES;
    int r;

    header.stored_length = part_bytes(writer);
    header.raw_length = header.stored_length;
    if (last) /* nothing else is written meanwhile */
        header.logical_offset = writer->at ? *writer->at : writer->file->log.tail;
    writer->prefix.previous_offset = writer->begin == FORMAT_INDEX_FIRST ? FORMAT_INDEX_FIRST : writer->offset;
    format_index_prefix_encode(&writer->prefix, payload);
    header.payload_checksum = format_checksum(payload, header.stored_length);
    r = place_frame(writer, &header, &writer->offset);
    if (r < 0)
        return r;
    if (writer->begin == FORMAT_INDEX_FIRST)
        writer->begin = writer->offset;
    writer->end = writer->offset + format_frame_bytes(header.stored_length);
    writer->records = 0;
    return 0;
}

static int add_chunk(struct index_writer *writer, const struct map_chunk *entry)
{
    const struct map *map = &writer->file->log.map;

    if (writer->records + entry->count > FORMAT_RECORDS_MAX) {
        int r = write_part(writer, false);

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
static int write_index(struct store_file *file, struct split *split, struct scratch *scratch, uint64_t *at)
{
    struct index_writer writer = {
        .file = file,
        .split = split,
        .frame = scratch->frame,
        .at = at,
        .begin = FORMAT_INDEX_FIRST,
        .prefix.durable_sequence = file->copied ? 0 : append_durable(file),
    };
    const struct map_chunk *entry;
    uint64_t next = 0;
    int r = 0;

    if (writer.prefix.durable_sequence && writer.prefix.durable_sequence == file->log.sequence)
        writer.prefix.durable_sequence = UINT64_MAX;
    memcpy(writer.prefix.boot_id, file->store->boot_id, sizeof(writer.prefix.boot_id));
    while (r == 0 && (entry = map_next(&file->log.map, next))) {
        r = add_chunk(&writer, entry);
        next = entry->chunk + 1;
    }
    if (r == 0)
        r = write_part(&writer, true);
    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    file->log.index_begin = writer.begin;
    file->log.index_offset = writer.offset;
    file->log.index_end = writer.end;
    if (file->gap)
        file->complete_from = file->log.sequence;
    file->gap = false;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static int write_trailer(struct store_file *file, struct split *split, uint64_t *at)
{
    const struct format_trailer trailer = {
        .file_id = file->log.file_id,
        .index_offset = file->log.index_offset,
        .logical_size = file->log.logical_size,
    };
    uint8_t encoded[FORMAT_TRAILER_BYTES];
    uint64_t offset;
    int r;

    format_trailer_encode(&trailer, encoded);
    if (at) {
        r = write_fully(file, split, encoded, sizeof(encoded), *at);
        if (r == 0)
            *at += sizeof(encoded);
        return r;
    }
    r = append_copy(file, split, encoded, sizeof(encoded), &offset);
    if (r < 0)
        return r;
    pthread_mutex_lock(&file->lock);
    file->trailer_end = offset + sizeof(encoded);
    file->log.clean = true;
    pthread_mutex_unlock(&file->lock);
    return 0;
}

static int write_both(struct store_file *file, struct split *split, bool index, uint64_t *at)
{
    struct scratch *scratch = index ? scratch_get(&file->store->scratches) : NULL;
    int r = 0;

    if (index && !scratch)
        return -ENOMEM;
    if (index) {
        pthread_mutex_lock(&file->lock);
        r = append_cut_garbage(file, split); /* the tail stays where it is from here on */
        pthread_mutex_unlock(&file->lock);
    }
    if (index && r == 0)
        r = write_index(file, split, scratch, at);
    if (scratch)
        scratch_put(&file->store->scratches, scratch);
    return r < 0 ? r : write_trailer(file, split, at);
}

struct kept_time checkpoint_keep_time(struct store_file *file, struct split *split)
{
    int fd = backend_descriptor(file->lower);
    struct stat before;

    if (fd < 0 || LOWER(split, fstat(fd, &before)) < 0)
        return (struct kept_time){.fd = -1};
    return (struct kept_time){fd, before.st_mtim};
}

void checkpoint_give_time_back(const struct kept_time *kept, struct split *split)
{
    const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, kept->mtime};

    if (kept->fd >= 0) {
        int r = LOWER(split, futimens(kept->fd, times)); /* not ours to set where the file is another user's */

        (void)r;
    }
}

int checkpoint_write(struct store_file *file, struct split *split)
{
    struct kept_time kept;
    int r = 0;

    if (!may_write(file))
        return 0;
    pthread_mutex_lock(&file->lock);
    r = append_cut_garbage(file, split);
    if (r == 0 && file->log.tail == file->log.first_end && !file->size_lost && !file->gap)
        file->log.clean = true;
    pthread_mutex_unlock(&file->lock);
    if (r < 0 || file->log.clean)
        return r;
    kept = checkpoint_keep_time(file, split);
    r = write_both(file, split, index_is_worth_it(file), NULL);
    checkpoint_give_time_back(&kept, split);
    return r;
}

int checkpoint_write_index(struct store_file *file, struct split *split, uint64_t *at)
{
    return write_both(file, split, true, at);
}
