/*
 * Any bytes as the payload of an index, in a container that is sound apart from that: it loads or it does not, and what
 * loads reads, without more memory than the file has bytes for.
 */
#include <string.h>

#include "fuzz.h"
#include "store/log.h"
#include "store_model.h"

#define DATA_BYTES 4000u
#define PAYLOAD_MAX 65536u
#define FILE_ID UINT64_C(0x1234567890ABCDEF)

static void put(int fd, uint64_t *at, struct format_header *header, const uint8_t *payload)
{
    static uint8_t frame[FORMAT_HEADER_BYTES + PAYLOAD_MAX + FORMAT_ALIGN];
    size_t total = (size_t)format_frame_bytes(header->stored_length);

    header->file_id = FILE_ID;
    header->chunk_shift = FORMAT_CHUNK_SHIFT_MIN;
    header->payload_checksum = format_checksum(payload, header->stored_length);
    memset(frame, 0, total);
    memcpy(frame + FORMAT_HEADER_BYTES, payload, header->stored_length);
    format_header_encode(header, frame);
    if (pwrite(fd, frame, total, (off_t)*at) != (ssize_t)total)
        abort();
    *at += total;
}

/* Some frames for the records to name. */
static void put_data(int fd, uint64_t *at, uint64_t logical_size)
{
    static uint8_t bytes[DATA_BYTES];

    for (uint64_t chunk = 0; chunk < 4; chunk++) {
        struct format_header header = {
            .sequence = chunk + 1,
            .logical_offset = chunk * FORMAT_CHUNK_MIN,
            .raw_length = DATA_BYTES,
            .logical_size = logical_size,
            .stored_length = DATA_BYTES,
            .type = FORMAT_DATA,
        };

        put(fd, at, &header, bytes);
    }
}

static void put_index(int fd, uint64_t *at, const uint8_t *payload, size_t size, uint64_t logical_size)
{
    struct format_header header = {
        .sequence = 5,
        .logical_offset = *at,
        .raw_length = size,
        .logical_size = logical_size,
        .stored_length = (uint32_t)size,
        .type = FORMAT_INDEX,
        .durable_distance = 1,
    };
    const struct format_trailer trailer = {.file_id = FILE_ID, .index_offset = *at, .logical_size = logical_size};
    uint8_t encoded[FORMAT_TRAILER_BYTES];

    put(fd, at, &header, payload);
    format_trailer_encode(&trailer, encoded);
    if (pwrite(fd, encoded, sizeof(encoded), (off_t)*at) != sizeof(encoded))
        abort();
}

static void look_around(struct backend *file)
{
    static uint8_t bytes[FORMAT_CHUNK_MIN];
    off_t at = 0;

    for (unsigned i = 0; i < 64 && at >= 0; i++) {
        at = backend_seek(file, NULL, at, SEEK_DATA);
        if (at < 0)
            break;
        backend_pread(file, NULL, bytes, sizeof(bytes), at);
        at = at < INT64_MAX - FORMAT_CHUNK_MIN ? at + FORMAT_CHUNK_MIN : -1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t payload[PAYLOAD_MAX];
    struct store *store = fuzz_store();
    uint64_t at = 0, logical_size = size > 0 && data[0] & 1 ? INT64_MAX : 4 * FORMAT_CHUNK_MIN;
    struct backend *file;
    int fd = memory_file();

    size = size < PAYLOAD_MAX ? size : PAYLOAD_MAX;
    memcpy(payload, data, size);
    size = size < FORMAT_INDEX_PREFIX_BYTES
               ? FORMAT_INDEX_PREFIX_BYTES
               : size - (size - FORMAT_INDEX_PREFIX_BYTES) % FORMAT_RECORD_BYTES;
    put_data(fd, &at, logical_size);
    put_index(fd, &at, payload, size, logical_size);
    if (open_container(store, fd, "none", true, &file) == 0) {
        look_around(file);
        backend_close(file, NULL);
    }
    close(fd);
    return 0;
}
