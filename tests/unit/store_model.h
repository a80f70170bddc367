/* A store over a memory file beside a plain array of bytes: whatever is done to both must look the same. */
#ifndef TALLY_TESTS_STORE_MODEL_H
#define TALLY_TESTS_STORE_MODEL_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "store/store.h"
#include "tally/format.h"

/* splitmix64: a small generator with known good mixing. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9E3779B97F4A7C15));

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return random_next(state) % limit;
}

/* Text-like, random, constant or zero bytes, so that every kind of frame comes up. */
static inline void fill(uint8_t *data, size_t size, uint64_t *state)
{
    uint64_t kind = random_below(state, 8);

    for (size_t i = 0; i < size; i++) {
        if (kind < 4)
            data[i] = (uint8_t)('a' + (random_next(state) >> 60));
        else if (kind < 6)
            data[i] = (uint8_t)(random_next(state) >> 32);
        else
            data[i] = kind == 6 ? 0 : 'x';
    }
}

static inline struct store *make_store(uint32_t chunk_bytes, unsigned workers)
{
    const struct store_config config = {
        .chunk_bytes = chunk_bytes,
        .dirty_limit_bytes = 4u << 20,
        .cache_limit_bytes = 2u << 20,
        .worker_count = workers,
    };
    struct store *store;

    CHECK_EQ(store_create(&config, &store), 0);
    return store;
}

static inline struct tally_codec_choice choose(const char *text)
{
    struct tally_codec_choice choice;

    CHECK_EQ(tally_codec_parse(text, &choice), 0);
    return choice;
}

static inline int memory_file(void)
{
    int fd = memfd_create("container", MFD_CLOEXEC);

    CHECK(fd >= 0);
    return fd;
}

/* Opens the container in `fd`, which stays the caller's. */
static inline int open_container(struct store *store, int fd, const char *codec, bool read_only,
                                 struct backend **ret_file)
{
    const struct tally_codec_choice choice = choose(codec);
    struct backend *raw;
    int copy = dup(fd), r;

    CHECK(copy >= 0);
    CHECK_EQ(raw_backend_create(copy, NULL, &raw), 0);
    r = store_file_open(store, NULL, raw, &choice, read_only, ret_file);
    if (r < 0)
        backend_close(raw, NULL);
    return r;
}

#endif
