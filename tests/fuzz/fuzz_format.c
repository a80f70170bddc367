/* Any bytes as header, trailer, index prefix and record: what decodes encodes to the same bytes again. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tally/format.h"

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void try_header(const uint8_t in[static FORMAT_HEADER_BYTES])
{
    uint8_t again[FORMAT_HEADER_BYTES];
    struct format_header header;

    if (format_header_decode(in, &header) < 0)
        return;
    require(format_looks_like_container(in));
    format_header_encode(&header, again);
    require(memcmp(in, again, sizeof(again)) == 0);
    require(format_frame_bytes(header.stored_length) <= FORMAT_HEADER_BYTES + FORMAT_PAYLOAD_MAX);
}

static void try_trailer(const uint8_t in[static FORMAT_TRAILER_BYTES])
{
    uint8_t again[FORMAT_TRAILER_BYTES];
    struct format_trailer trailer;

    if (format_trailer_decode(in, &trailer) < 0)
        return;
    format_trailer_encode(&trailer, again);
    require(memcmp(in, again, sizeof(again)) == 0);
}

static void try_record(const uint8_t in[static FORMAT_RECORD_BYTES])
{
    for (unsigned shift = FORMAT_CHUNK_SHIFT_MIN; shift <= FORMAT_CHUNK_SHIFT_MAX; shift++) {
        uint8_t again[FORMAT_RECORD_BYTES];
        struct format_record record;

        if (format_record_decode(in, shift, &record) < 0)
            continue;
        require(record.logical_offset >> shift == (record.logical_offset + record.raw_length - 1) >> shift);
        format_record_encode(&record, again);
        require(memcmp(in, again, sizeof(again)) == 0);
    }
}

/* One wrong byte is put right, if it is one. */
static void try_mending(uint8_t bytes[static FORMAT_HEADER_BYTES], size_t at)
{
    struct format_header header, mended;

    if (format_header_decode(bytes, &header) < 0)
        return;
    bytes[at % FORMAT_HEADER_BYTES] ^= (uint8_t)(1 + at / FORMAT_HEADER_BYTES % 255);
    if (format_header_mend(bytes, header.file_id, &mended) == 0)
        require(mended.file_id == header.file_id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t bytes[2 * FORMAT_HEADER_BYTES] = {0};

    memcpy(bytes, data, size < sizeof(bytes) ? size : sizeof(bytes));
    try_header(bytes);
    try_trailer(bytes);
    try_record(bytes);
    memcpy(bytes, "\xF7TL\1", 4);
    fuzz_fix_checksums(bytes, FORMAT_HEADER_BYTES);
    try_header(bytes);
    try_mending(bytes, bytes[FORMAT_HEADER_BYTES] | (size_t)bytes[FORMAT_HEADER_BYTES + 1] << 8);
    memcpy(bytes, "\xF7TX\1", 4);
    fuzz_fix_checksums(bytes, FORMAT_HEADER_BYTES);
    try_trailer(bytes);
    return 0;
}
