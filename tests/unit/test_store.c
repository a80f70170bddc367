/* The compressed store against a plain array of bytes, for every codec and several chunk sizes. */
#include <errno.h>
#include <sys/stat.h>

#include "store_model.h"

#define SPAN (3u << 20) /* offsets of the random operations lie below */

struct pair {
    struct store *store;
    const char *codec;
    int fd;
    struct backend *file;
    uint8_t *model; /* SPAN bytes, zero beyond size */
    uint8_t *scratch;
    size_t size;
    uint64_t random;
};

static void pair_open(struct pair *pair, struct store *store, const char *codec, uint64_t seed)
{
    *pair = (struct pair){.store = store, .codec = codec, .fd = memory_file(), .random = seed};
    pair->model = calloc(1, SPAN);
    pair->scratch = malloc(SPAN);
    CHECK(pair->model && pair->scratch);
    CHECK_EQ(open_container(store, pair->fd, codec, false, &pair->file), 0);
}

static void compare(struct pair *pair, size_t offset, size_t size)
{
    size_t expected = offset >= pair->size ? 0 : size < pair->size - offset ? size : pair->size - offset;
    ssize_t got = backend_pread(pair->file, NULL, pair->scratch, size, (off_t)offset);

    CHECK_EQ(got, expected);
    for (size_t i = 0; i < expected; i++)
        if (pair->scratch[i] != pair->model[offset + i])
            FAIL("byte %zu of a read of %zu at %zu is %02x, not %02x", i, size, offset, pair->scratch[i],
                 pair->model[offset + i]);
}

static void check_size(struct pair *pair)
{
    struct stat attributes;
    off_t size;

    CHECK_EQ(backend_size(pair->file, NULL, &size), 0);
    CHECK_EQ(size, pair->size);
    CHECK_EQ(backend_stat(pair->file, NULL, &attributes), 0);
    CHECK_EQ(attributes.st_size, pair->size);
}

static void reopen(struct pair *pair, bool closed_cleanly)
{
    struct store_probe probe;
    struct stat attributes;

    CHECK_EQ(backend_close(pair->file, NULL), 0);
    CHECK_EQ(fstat(pair->fd, &attributes), 0);
    if (!closed_cleanly && attributes.st_size > 64) { /* as if the last bytes had not been written */
        CHECK_EQ(ftruncate(pair->fd, attributes.st_size - 16), 0);
        CHECK_EQ(fstat(pair->fd, &attributes), 0);
    }
    CHECK_EQ(store_probe(pair->fd, NULL, &attributes, &probe), 0);
    CHECK_EQ(probe.is_container, attributes.st_size > 0);
    if (closed_cleanly && probe.is_container)
        CHECK_EQ(probe.logical_bytes, pair->size);
    CHECK_EQ(open_container(pair->store, pair->fd, pair->codec, false, &pair->file), 0);
}

static void pair_close(struct pair *pair)
{
    compare(pair, 0, SPAN);
    reopen(pair, true);
    check_size(pair);
    compare(pair, 0, SPAN);
    CHECK_EQ(backend_close(pair->file, NULL), 0);
    close(pair->fd);
    free(pair->model);
    free(pair->scratch);
}

static void do_write(struct pair *pair, size_t offset, size_t size, bool append)
{
    if (append)
        offset = pair->size;
    if (offset + size > SPAN)
        return;
    fill(pair->scratch, size, &pair->random);
    CHECK_EQ(backend_pwrite(pair->file, NULL, pair->scratch, size, append ? 0 : (off_t)offset, append), size);
    memcpy(pair->model + offset, pair->scratch, size);
    if (size && offset + size > pair->size)
        pair->size = offset + size;
}

static void do_truncate(struct pair *pair, size_t size)
{
    CHECK_EQ(backend_truncate(pair->file, NULL, (off_t)size), 0);
    if (size < pair->size)
        memset(pair->model + size, 0, pair->size - size);
    pair->size = size;
}

static void do_zero(struct pair *pair, int mode, size_t offset, size_t length)
{
    size_t end = offset + length;

    if (end > SPAN)
        return;
    CHECK_EQ(backend_allocate(pair->file, NULL, mode, (off_t)offset, (off_t)length), 0);
    if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) && offset < pair->size)
        memset(pair->model + offset, 0, (end < pair->size ? end : pair->size) - offset);
    if (!(mode & FALLOC_FL_KEEP_SIZE) && end > pair->size)
        pair->size = end;
}

/* A hole must read as zeros and what is not zero must be found as data; where exactly a hole begins is free. */
static void do_seek(struct pair *pair, size_t offset)
{
    off_t data = backend_seek(pair->file, NULL, (off_t)offset, SEEK_DATA);
    off_t hole = backend_seek(pair->file, NULL, (off_t)offset, SEEK_HOLE);
    size_t end;

    if (offset >= pair->size) {
        CHECK_EQ(data, -ENXIO);
        CHECK_EQ(hole, -ENXIO);
        return;
    }
    CHECK(data >= (off_t)offset || data == -ENXIO);
    CHECK(data < (off_t)pair->size);
    CHECK(hole >= (off_t)offset && hole <= (off_t)pair->size);
    end = data == -ENXIO ? pair->size : (size_t)data;
    for (size_t i = offset; i < end; i++)
        CHECK_EQ(pair->model[i], 0);
    if (data != (off_t)offset)
        CHECK_EQ(hole, offset);
}

static size_t pick_size(struct pair *pair)
{
    static const size_t limits[] = {1, 100, 4096, 5000, 20000, 140000, 600000};

    return random_below(&pair->random, limits[random_below(&pair->random, sizeof(limits) / sizeof(limits[0]))]) + 1;
}

/* Offsets at and around multiples of block and chunk sizes, or anywhere. */
static size_t pick_offset(struct pair *pair)
{
    static const size_t grains[] = {1, 4096, 16384, 131072};
    size_t offset = random_below(&pair->random, random_below(&pair->random, 3) ? pair->size + 1 : SPAN);

    offset -= offset % grains[random_below(&pair->random, 4)];
    return random_below(&pair->random, 8) ? offset : offset + random_below(&pair->random, 3);
}

static void random_operation(struct pair *pair)
{
    static const int modes[] = {
        0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE,
        FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
    };

    switch (random_below(&pair->random, 20)) {
    case 0 ... 5:
        do_write(pair, pick_offset(pair), pick_size(pair), false);
        break;
    case 6 ... 7:
        do_write(pair, 0, pick_size(pair), true);
        break;
    case 8 ... 12:
        compare(pair, pick_offset(pair), pick_size(pair));
        break;
    case 13:
        do_truncate(pair, random_below(&pair->random, 6) ? pick_offset(pair) % SPAN : 0);
        break;
    case 14:
        do_zero(pair, modes[random_below(&pair->random, 5)], pick_offset(pair), pick_size(pair));
        break;
    case 15:
        do_seek(pair, pick_offset(pair));
        break;
    case 16:
        CHECK_EQ(backend_flush(pair->file, NULL), 0);
        break;
    case 17:
        CHECK_EQ(backend_sync(pair->file, NULL, true), 0);
        break;
    case 18:
        reopen(pair, true);
        break;
    default:
        check_size(pair);
    }
}

static const char *const codecs[] = {"none", "lz4", "lz4hc:3", "zstd:3", "zstd:6", "zstd:-1", "gzip:1"};
static const uint32_t chunk_sizes[] = {FORMAT_CHUNK_MIN, 128u << 10, FORMAT_CHUNK_MAX};

/* What the random test is at, to be said when it fails. */
static char random_place[80];

static void random_run(const char *codec, uint32_t chunk_bytes, unsigned workers, uint64_t seed, unsigned operations)
{
    struct store *store = make_store(chunk_bytes, workers);
    struct pair pair;

    pair_open(&pair, store, codec, seed);
    for (unsigned i = 0; i < operations; i++)
        random_operation(&pair);
    pair_close(&pair);
    store_destroy(store);
}

static void matches_an_array_when_operations_are_random(void)
{
    unsigned rounds = getenv("TALLY_TEST_ROUNDS") ? (unsigned)atoi(getenv("TALLY_TEST_ROUNDS")) : 3;

    for (size_t c = 0; c < sizeof(codecs) / sizeof(codecs[0]); c++) {
        for (size_t s = 0; s < sizeof(chunk_sizes) / sizeof(chunk_sizes[0]); s++) {
            for (uint64_t seed = 1; seed <= rounds; seed++) {
                unsigned workers = seed % 2 ? 2 : 0;

                snprintf(random_place, sizeof(random_place), "%s, chunk %u, %u workers, seed %" PRIu64, codecs[c],
                         chunk_sizes[s], workers, seed);
                random_run(codecs[c], chunk_sizes[s], workers, seed, 120);
            }
        }
    }
    random_place[0] = 0;
}

static void reads_back_when_the_size_is_near_a_boundary(void)
{
    static const int around[] = {-2, -1, 0, 1, 2};
    struct store *store = make_store(FORMAT_CHUNK_MIN, 0);

    for (size_t c = 0; c < sizeof(codecs) / sizeof(codecs[0]); c++) {
        for (size_t base = 4096; base <= 65536; base += 4096) {
            for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
                struct pair pair;

                pair_open(&pair, store, codecs[c], base + i);
                do_write(&pair, 0, (size_t)((int)base + around[i]), false);
                pair_close(&pair);
            }
        }
    }
    store_destroy(store);
}

static void reads_back_when_the_size_is_small(void)
{
    struct store *store = make_store(128u << 10, 0);

    for (size_t size = 1; size <= 4097; size += size < 140 ? 1 : 29) {
        struct pair pair;

        pair_open(&pair, store, "zstd:3", size);
        do_write(&pair, 0, size, false);
        pair_close(&pair);
    }
    store_destroy(store);
}

/* Random bytes with ever more zeros behind: compressed sizes pass through the raw size and the block less. */
static void reads_back_when_compression_just_fails_or_just_works(void)
{
    for (size_t c = 1; c < sizeof(codecs) / sizeof(codecs[0]); c++) {
        struct store *store = make_store(FORMAT_CHUNK_MIN, 0);

        for (size_t zeros = 0; zeros < 5200; zeros += 13) {
            struct pair pair;

            pair_open(&pair, store, codecs[c], zeros);
            for (size_t i = 0; i < FORMAT_CHUNK_MIN; i++)
                pair.scratch[i] = i + zeros < FORMAT_CHUNK_MIN ? (uint8_t)(random_next(&pair.random) >> 20) : 0;
            memcpy(pair.model, pair.scratch, FORMAT_CHUNK_MIN);
            CHECK_EQ(backend_pwrite(pair.file, NULL, pair.model, FORMAT_CHUNK_MIN, 0, false), FORMAT_CHUNK_MIN);
            pair.size = FORMAT_CHUNK_MIN;
            pair_close(&pair);
        }
        store_destroy(store);
    }
}

static void keeps_its_size_when_only_truncated(void)
{
    struct store *store = make_store(128u << 10, 0);
    struct store_probe probe;
    struct stat attributes;
    struct backend *file;
    int fd = memory_file();
    off_t size = (INT64_C(1) << 62) + 5;
    char byte = 1;

    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    CHECK_EQ(backend_truncate(file, NULL, size), 0);
    CHECK_EQ(backend_close(file, NULL), 0);
    CHECK_EQ(fstat(fd, &attributes), 0);
    CHECK_EQ(attributes.st_size, 64);
    CHECK_EQ(store_probe(fd, NULL, &attributes, &probe), 0);
    CHECK_EQ(probe.logical_bytes, size);
    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    CHECK_EQ(backend_pread(file, NULL, &byte, 1, size - 1), 1);
    CHECK_EQ(byte, 0);
    CHECK_EQ(backend_pwrite(file, NULL, "end", 3, INT64_MAX - 3, false), 3);
    CHECK_EQ(backend_pwrite(file, NULL, "end", 3, INT64_MAX, false), -EFBIG);
    CHECK_EQ(backend_close(file, NULL), 0);
    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    CHECK_EQ(backend_seek(file, NULL, 0, SEEK_DATA), INT64_MAX / 131072 * 131072);
    CHECK_EQ(backend_pread(file, NULL, &byte, 1, INT64_MAX - 1), 1);
    CHECK_EQ(byte, 'd');
    CHECK_EQ(backend_close(file, NULL), 0);
    close(fd);
    store_destroy(store);
}

/* Emptying begins a new log with the same sequence numbers: what was decoded of the old one must not come back. */
static void reads_new_bytes_when_emptied_and_written_again(void)
{
    struct store *store = make_store(65536, 1);
    int fd = memory_file();
    struct backend *file;

    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    for (int i = 0; i < 3; i++) {
        char data[1000], found[10];

        memset(data, 'a' + i, sizeof(data));
        CHECK_EQ(backend_truncate(file, NULL, 0), 0);
        CHECK_EQ(backend_pwrite(file, NULL, data, sizeof(data), 0, false), sizeof(data));
        CHECK_EQ(backend_flush(file, NULL), 0);
        CHECK_EQ(backend_pread(file, NULL, found, sizeof(found), 5), sizeof(found));
        CHECK_EQ(memcmp(found, data, sizeof(found)), 0);
    }
    CHECK_EQ(backend_close(file, NULL), 0);
    store_destroy(store);
    close(fd);
}

static void stays_empty_when_nothing_is_written(void)
{
    struct store *store = make_store(128u << 10, 2);
    struct stat attributes;
    struct backend *file;
    int fd = memory_file();
    char byte;

    CHECK_EQ(open_container(store, fd, "zstd:3", false, &file), 0);
    CHECK_EQ(backend_pread(file, NULL, &byte, 1, 0), 0);
    CHECK_EQ(backend_sync(file, NULL, false), 0);
    CHECK_EQ(backend_close(file, NULL), 0);
    CHECK_EQ(fstat(fd, &attributes), 0);
    CHECK_EQ(attributes.st_size, 0);
    close(fd);
    store_destroy(store);
}

static void writes_nothing_when_opened_read_only(void)
{
    struct store *store = make_store(FORMAT_CHUNK_MIN, 0);
    struct stat before, after;
    struct pair pair;
    uint8_t byte;

    pair_open(&pair, store, "lz4", 7);
    do_write(&pair, 0, 100000, false);
    CHECK_EQ(backend_flush(pair.file, NULL), 0);
    CHECK_EQ(backend_close(pair.file, NULL), 0);
    CHECK_EQ(fstat(pair.fd, &before), 0);
    CHECK_EQ(ftruncate(pair.fd, before.st_size - 20), 0); /* damaged: a writer would repair it */
    CHECK_EQ(fstat(pair.fd, &before), 0);
    CHECK_EQ(open_container(store, pair.fd, "lz4", true, &pair.file), 0);
    compare(&pair, 0, SPAN);
    CHECK_EQ(backend_pwrite(pair.file, NULL, &byte, 1, 0, false), -EROFS);
    CHECK_EQ(backend_truncate(pair.file, NULL, 0), -EROFS);
    CHECK_EQ(backend_close(pair.file, NULL), 0);
    CHECK_EQ(fstat(pair.fd, &after), 0);
    CHECK_EQ(after.st_size, before.st_size);
    CHECK_EQ(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    close(pair.fd);
    free(pair.model);
    free(pair.scratch);
    store_destroy(store);
}

/* One byte in each of so many chunks that the index takes more than one part. */
#define SPARSE_CHUNKS (FORMAT_RECORDS_MAX + 2000)

static void check_sparse(struct store *store, int fd, struct backend **ret_file)
{
    struct backend *file;
    uint8_t bytes[2];

    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    for (uint64_t chunk = 0; chunk < SPARSE_CHUNKS; chunk += 7) {
        CHECK_EQ(backend_pread(file, NULL, bytes, 2, (off_t)(chunk * FORMAT_CHUNK_MIN + 5)), 2);
        CHECK_EQ(bytes[0], chunk % 255 + 1);
        CHECK_EQ(bytes[1], 0);
    }
    *ret_file = file;
}

static off_t lower_size(int fd)
{
    struct stat attributes;

    CHECK_EQ(fstat(fd, &attributes), 0);
    return attributes.st_size;
}

static void reads_back_when_the_index_has_parts_and_frames_behind_it(void)
{
    struct store *store = make_store(FORMAT_CHUNK_MIN, 0);
    off_t indexed, grown, end = (off_t)SPARSE_CHUNKS * FORMAT_CHUNK_MIN;
    struct backend *file;
    int fd = memory_file();
    char text[5];

    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    for (uint64_t chunk = 0; chunk < SPARSE_CHUNKS; chunk++) {
        uint8_t byte = (uint8_t)(chunk % 255 + 1);

        CHECK_EQ(backend_pwrite(file, NULL, &byte, 1, (off_t)(chunk * FORMAT_CHUNK_MIN + 5), false), 1);
    }
    CHECK_EQ(backend_truncate(file, NULL, end), 0);
    CHECK_EQ(backend_close(file, NULL), 0);
    indexed = lower_size(fd);
    check_sparse(store, fd, &file);
    CHECK_EQ(backend_pwrite(file, NULL, "more", 4, 0, true), 4);
    CHECK_EQ(backend_close(file, NULL), 0);
    CHECK_EQ(lower_size(fd), indexed + 80 + 32); /* a frame and a trailer, no second index */
    check_sparse(store, fd, &file);
    CHECK_EQ(backend_pwrite(file, NULL, "again", 5, end + 100, false), 5);
    CHECK_EQ(backend_close(file, NULL), 0);
    grown = lower_size(fd);
    CHECK_EQ(grown, indexed + 80 + 32 + (off_t)format_frame_bytes(105) + 32); /* both in one frame now */
    check_sparse(store, fd, &file);
    CHECK_EQ(backend_pread(file, NULL, text, 4, end), 4);
    CHECK_EQ(memcmp(text, "more", 4), 0);
    CHECK_EQ(backend_pread(file, NULL, text, 5, end + 100), 5);
    CHECK_EQ(memcmp(text, "again", 5), 0);
    CHECK_EQ(backend_close(file, NULL), 0);
    CHECK_EQ(lower_size(fd), grown); /* reading writes nothing */
    close(fd);
    store_destroy(store);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(stays_empty_when_nothing_is_written),
        CASE(keeps_its_size_when_only_truncated),
        CASE(reads_new_bytes_when_emptied_and_written_again),
        CASE(reads_back_when_the_size_is_small),
        CASE(reads_back_when_the_size_is_near_a_boundary),
        CASE(reads_back_when_compression_just_fails_or_just_works),
        CASE(writes_nothing_when_opened_read_only),
        CASE(reads_back_when_the_index_has_parts_and_frames_behind_it),
        CASE(matches_an_array_when_operations_are_random),
    };

    int status = RUN_CASES(cases);

    if (random_place[0])
        fprintf(stderr, "failed with %s\n", random_place);
    return status;
}
