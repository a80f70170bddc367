#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "fuzz.h"
#include "store/store.h"
#include "tally/format.h"
#include "util/endian.h"

struct store *fuzz_store(void)
{
    static const struct store_config config = {
        .chunk_bytes = FORMAT_CHUNK_MIN, .dirty_limit_bytes = 4u << 20, .cache_limit_bytes = 1u << 20};
    static struct store *store;

    if (!store && store_create(&config, &store) < 0)
        abort();
    return store;
}

static void fix_self(uint8_t *at, size_t size)
{
    store_le32(at + 4, (uint32_t)XXH3_64bits_withSeed(at + 8, size - 8, at[3]));
}

void fuzz_fix_checksums(uint8_t *data, size_t size)
{
    for (size_t at = 0; at + FORMAT_TRAILER_BYTES <= size; at += FORMAT_ALIGN) {
        uint8_t *here = data + at;

        if (at + FORMAT_HEADER_BYTES <= size && memcmp(here, "\xF7TL", 3) == 0) {
            uint32_t stored = load_le32(here + 56);

            if (stored <= size - at - FORMAT_HEADER_BYTES)
                store_le64(here + 48, format_checksum(here + FORMAT_HEADER_BYTES, stored));
            fix_self(here, FORMAT_HEADER_BYTES);
        } else if (memcmp(here, "\xF7TX", 3) == 0) {
            fix_self(here, FORMAT_TRAILER_BYTES);
        }
    }
}
