/* What happens to a container when bytes of its lower file change, or when its end is lost. */
#include <errno.h>
#include <sys/stat.h>

#include "store_model.h"

#define CHUNK FORMAT_CHUNK_MIN

struct image {
    uint8_t *bytes;
    size_t size;
};

static struct image take_image(int fd)
{
    struct stat attributes;
    struct image image;

    CHECK_EQ(fstat(fd, &attributes), 0);
    image.size = (size_t)attributes.st_size;
    image.bytes = malloc(image.size + 1);
    CHECK_EQ(pread(fd, image.bytes, image.size, 0), image.size);
    return image;
}

static int file_of_image(const struct image *image, size_t size)
{
    int fd = memory_file();

    CHECK_EQ(pwrite(fd, image->bytes, size, 0), size);
    return fd;
}

/* Chunks of every kind: compressed, raw, a hole, zeros, deltas, a short last one. */
static size_t write_sample(struct backend *file, uint8_t *model)
{
    uint64_t random = 99;
    size_t size = 5 * CHUNK + 777;

    memset(model, 0, size);
    for (size_t i = 0; i < CHUNK; i++) {
        model[i] = (uint8_t)("abcd"[random_next(&random) & 3]);
        model[CHUNK + i] = (uint8_t)random_next(&random);
        model[3 * CHUNK + i] = (uint8_t)(i / 64);
    }
    memset(model + 5 * CHUNK, 'z', 777);
    CHECK_EQ(backend_pwrite(file, NULL, model, 2 * CHUNK, 0, false), 2 * CHUNK);
    CHECK_EQ(backend_pwrite(file, NULL, model + 3 * CHUNK, CHUNK, 3 * CHUNK, false), CHUNK);
    CHECK_EQ(backend_pwrite(file, NULL, model + 5 * CHUNK, 777, 5 * CHUNK, false), 777);
    CHECK_EQ(backend_flush(file, NULL), 0);
    memset(model + 100, 'D', 50);
    CHECK_EQ(backend_pwrite(file, NULL, model + 100, 50, 100, false), 50);
    CHECK_EQ(backend_flush(file, NULL), 0);
    return size;
}

/* Reads chunk by chunk; each is right or -EIO. The number of bad ones, or all when the file cannot be opened at all. */
static size_t count_bad(struct store *store, int fd, const uint8_t *model, size_t size)
{
    uint8_t *got = malloc(CHUNK);
    size_t bad = 0;
    struct backend *file;
    off_t found_size;
    int r = open_container(store, fd, "lz4", true, &file);

    if (r < 0) {
        CHECK(r == -EIO || r == -EPROTONOSUPPORT);
        free(got);
        return size / CHUNK + 1;
    }
    CHECK_EQ(backend_size(file, NULL, &found_size), 0);
    CHECK_EQ(found_size, size);
    for (size_t at = 0; at < size; at += CHUNK) {
        size_t wanted = size - at < CHUNK ? size - at : CHUNK;
        ssize_t n = backend_pread(file, NULL, got, CHUNK, (off_t)at);

        if (n == -EIO) {
            bad++;
            continue;
        }
        CHECK_EQ(n, wanted);
        if (memcmp(got, model + at, wanted) != 0)
            FAIL("wrong data in the chunk at %zu", at);
    }
    CHECK_EQ(backend_close(file, NULL), 0);
    free(got);
    return bad;
}

static struct image make_sample(struct store *store, const char *codec, uint8_t *model, size_t *ret_size)
{
    int fd = memory_file();
    struct backend *file;
    struct image image;

    CHECK_EQ(open_container(store, fd, codec, false, &file), 0);
    *ret_size = write_sample(file, model);
    CHECK_EQ(backend_close(file, NULL), 0);
    image = take_image(fd);
    close(fd);
    return image;
}

static void gives_right_data_or_eio_when_a_byte_is_flipped(void)
{
    static const char *const codecs[] = {"lz4", "zstd:3", "gzip:6"};
    uint8_t *model = malloc(6 * CHUNK);

    for (size_t c = 0; c < sizeof(codecs) / sizeof(codecs[0]); c++) {
        struct store *store = make_store(CHUNK, 0);
        size_t size, step = 7;
        struct image image = make_sample(store, codecs[c], model, &size);
        int fd = file_of_image(&image, image.size);

        CHECK_EQ(count_bad(store, fd, model, size), 0);
        for (size_t at = 0; at < image.size; at += at < 200 || at > image.size - 400 ? 1 : step) {
            uint8_t flipped = image.bytes[at] ^ (uint8_t)(1u << at % 8);
            size_t bad;

            CHECK_EQ(pwrite(fd, &flipped, 1, (off_t)at), 1);
            bad = count_bad(store, fd, model, size);
            if (bad > 1)
                FAIL("%zu chunks are bad after a flip at %zu of %zu", bad, at, image.size);
            CHECK_EQ(pwrite(fd, &image.bytes[at], 1, (off_t)at), 1);
        }
        close(fd);
        free(image.bytes);
        store_destroy(store);
    }
    free(model);
}

static void is_still_a_container_when_its_first_bytes_are_damaged(void)
{
    struct store *store = make_store(CHUNK, 0);
    uint8_t *model = malloc(6 * CHUNK);
    size_t size;
    struct image image = make_sample(store, "lz4", model, &size);
    int fd = file_of_image(&image, image.size);
    struct stat attributes;

    CHECK_EQ(fstat(fd, &attributes), 0);
    for (off_t at = 0; at < 64; at++) {
        uint8_t flipped = image.bytes[at] ^ 0x10;
        struct store_probe probe;

        CHECK_EQ(pwrite(fd, &flipped, 1, at), 1);
        CHECK_EQ(store_probe(fd, NULL, &attributes, &probe), 0);
        CHECK(probe.is_container);
        CHECK_EQ(probe.logical_bytes, size);
        CHECK_EQ(pwrite(fd, &image.bytes[at], 1, at), 1);
    }
    close(fd);
    free(image.bytes);
    free(model);
    store_destroy(store);
}

/* Everything synced is there wherever the file is cut after the sync. */
static void keeps_what_was_synced_when_the_end_is_cut(void)
{
    struct store *store = make_store(CHUNK, 0);
    uint8_t *model = malloc(6 * CHUNK), *got = malloc(6 * CHUNK);
    struct image synced, image;
    struct backend *file;
    int fd = memory_file();
    size_t size;

    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    size = write_sample(file, model);
    CHECK_EQ(backend_sync(file, NULL, true), 0);
    synced = take_image(fd);
    /* Later: a chunk rewritten, a delta, an append; not synced. */
    memset(got, 'N', CHUNK + 10);
    CHECK_EQ(backend_pwrite(file, NULL, got, CHUNK, CHUNK, false), CHUNK);
    CHECK_EQ(backend_pwrite(file, NULL, got, 10, 5, false), 10);
    CHECK_EQ(backend_pwrite(file, NULL, got, CHUNK, 0, true), CHUNK);
    CHECK_EQ(backend_close(file, NULL), 0);
    image = take_image(fd);
    close(fd);
    CHECK(image.size > synced.size);
    for (size_t cut = synced.size; cut <= image.size; cut += 1) {
        fd = file_of_image(&image, cut);
        CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
        CHECK(backend_pread(file, NULL, got, 6 * CHUNK, 0) >= (ssize_t)size);
        for (size_t i = 0; i < size; i++) {
            bool rewritten = (i >= CHUNK && i < 2 * CHUNK) || (i >= 5 && i < 15);

            if (got[i] != model[i] && !(rewritten && got[i] == 'N'))
                FAIL("byte %zu is %02x, not %02x, after a cut at %zu of %zu", i, got[i], model[i], cut, image.size);
        }
        /* And it can be written on. */
        CHECK_EQ(backend_pwrite(file, NULL, "more", 4, 3, false), 4);
        CHECK_EQ(backend_close(file, NULL), 0);
        CHECK_EQ(open_container(store, fd, "lz4", true, &file), 0);
        CHECK_EQ(backend_pread(file, NULL, got, 7, 0), 7);
        CHECK_EQ(memcmp(got + 3, "more", 4), 0);
        CHECK_EQ(backend_close(file, NULL), 0);
        close(fd);
    }
    free(image.bytes);
    free(synced.bytes);
    free(model);
    free(got);
    store_destroy(store);
}

static void survives_when_its_bytes_are_hostile(void)
{
    struct store *store = make_store(CHUNK, 0);
    uint8_t *model = malloc(6 * CHUNK), *got = malloc(CHUNK);
    uint64_t random = 5;
    size_t size;
    struct image image = make_sample(store, "zstd:3", model, &size);

    for (unsigned round = 0; round < 300; round++) {
        struct image bad = {malloc(image.size), image.size};
        struct store_probe probe;
        struct stat attributes;
        struct backend *file;
        off_t end;
        int fd;

        memcpy(bad.bytes, image.bytes, image.size);
        for (uint64_t n = random_below(&random, 30) + 1; n; n--) {
            size_t at = random_below(&random, image.size), length = random_below(&random, 90);

            length = length < image.size - at ? length : image.size - at;
            if (random_below(&random, 3) == 0) /* another part of itself, so that headers and records come up */
                memmove(bad.bytes + at, image.bytes + random_below(&random, image.size - length + 1), length);
            else
                memset(bad.bytes + at, (int)random_next(&random), length);
        }
        fd = file_of_image(&bad, bad.size);
        CHECK_EQ(fstat(fd, &attributes), 0);
        (void)store_probe(fd, NULL, &attributes, &probe);
        if (open_container(store, fd, "lz4", false, &file) == 0) {
            CHECK_EQ(backend_size(file, NULL, &end), 0);
            for (off_t at = 0; at < end && at < (off_t)(8 * CHUNK); at += 5000)
                (void)backend_pread(file, NULL, got, CHUNK, at);
            (void)backend_pwrite(file, NULL, got, 100, 20000, false);
            (void)backend_close(file, NULL);
        }
        close(fd);
        free(bad.bytes);
    }
    free(image.bytes);
    free(model);
    free(got);
    store_destroy(store);
}

/* A container put into a container is data like any other. */
static void reads_back_when_the_data_looks_like_a_container(void)
{
    struct store *store = make_store(CHUNK, 0);
    uint8_t *model = malloc(6 * CHUNK);
    size_t size;
    struct image inner = make_sample(store, "lz4", model, &size);
    uint8_t *got = malloc(inner.size);
    struct backend *file;
    struct image outer;
    int fd = memory_file(), plain = memory_file();

    CHECK_EQ(open_container(store, fd, "none", false, &file), 0);
    CHECK_EQ(backend_pwrite(file, NULL, inner.bytes, inner.size, 0, false), inner.size);
    CHECK_EQ(backend_close(file, NULL), 0);
    outer = take_image(fd);
    close(fd);
    fd = file_of_image(&outer, outer.size - 16); /* without its trailer the frames are searched for */
    CHECK_EQ(open_container(store, fd, "none", false, &file), 0);
    CHECK_EQ(backend_pread(file, NULL, got, inner.size, 0), inner.size);
    CHECK_EQ(memcmp(got, inner.bytes, inner.size), 0);
    CHECK_EQ(backend_close(file, NULL), 0);
    /* Written to a plain file it would be taken for one. */
    CHECK_EQ(store_would_mimic(plain, NULL, inner.bytes, inner.size, 0), 1);
    CHECK_EQ(store_would_mimic(plain, NULL, inner.bytes, inner.size, 64), 0);
    CHECK_EQ(store_would_mimic(plain, NULL, model, 6 * CHUNK, 0), 0);
    CHECK_EQ(pwrite(plain, inner.bytes, 3, 0), 3); /* 3 of the magic, then what completes it */
    CHECK_EQ(store_would_mimic(plain, NULL, inner.bytes + 3, 1, 3), 1);
    close(fd);
    close(plain);
    free(inner.bytes);
    free(outer.bytes);
    free(model);
    free(got);
    store_destroy(store);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(gives_right_data_or_eio_when_a_byte_is_flipped),
        CASE(is_still_a_container_when_its_first_bytes_are_damaged),
        CASE(keeps_what_was_synced_when_the_end_is_cut),
        CASE(reads_back_when_the_data_looks_like_a_container),
        CASE(survives_when_its_bytes_are_hostile),
    };

    return RUN_CASES(cases);
}
