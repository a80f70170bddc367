/* A container with frames of all kinds, and what it must read as however it is damaged. */
#ifndef TALLY_TESTS_CTL_SAMPLE_H
#define TALLY_TESTS_CTL_SAMPLE_H

#include <errno.h>
#include <sys/stat.h>

#include "store/check.h"
#include "store_model.h"

#define CHUNK FORMAT_CHUNK_MIN
#define CHUNKS 7u
#define SIZE ((CHUNKS - 1) * CHUNK + 777)

struct image {
    uint8_t *bytes;
    size_t size;
};

/* What reading each chunk gives: its bytes, or an error. */
struct contents {
    uint8_t bytes[CHUNKS][CHUNK];
    ssize_t got[CHUNKS];
    bool opens;
};

static inline struct image take_image(int fd)
{
    struct stat attributes;
    struct image image;

    CHECK_EQ(fstat(fd, &attributes), 0);
    image.size = (size_t)attributes.st_size;
    image.bytes = malloc(image.size + 1);
    CHECK_EQ(pread(fd, image.bytes, image.size, 0), image.size);
    return image;
}

static inline int file_of(const uint8_t *bytes, size_t size)
{
    int fd = memory_file();

    CHECK_EQ(pwrite(fd, bytes, size, 0), size);
    return fd;
}

/* Compressed, raw, a hole, deltas, a punched part, a cut and grown part, a short last chunk; closed and written on. */
static inline struct image make_sample(struct store *store, const char *codec, bool closed, uint8_t *model)
{
    int fd = memory_file();
    struct backend *file;
    struct image image;
    uint64_t random = 7;

    memset(model, 0, SIZE);
    for (size_t i = 0; i < CHUNK; i++) {
        model[i] = (uint8_t)("abcd"[random_next(&random) & 3]);
        model[CHUNK + i] = (uint8_t)random_next(&random);
        model[3 * CHUNK + i] = (uint8_t)(i / 64);
        model[4 * CHUNK + i] = (uint8_t)("xyz"[random_next(&random) % 3]);
        model[5 * CHUNK + i] = (uint8_t)("0123456789"[random_next(&random) % 10]);
    }
    CHECK_EQ(open_container(store, fd, codec, false, &file), 0);
    CHECK_EQ(backend_pwrite(file, NULL, model, 2 * CHUNK, 0, false), 2 * CHUNK);
    CHECK_EQ(backend_pwrite(file, NULL, model + 3 * CHUNK, 3 * CHUNK, 3 * CHUNK, false), 3 * CHUNK);
    CHECK_EQ(backend_sync(file, NULL, false), 0);
    CHECK_EQ(backend_close(file, NULL), 0);
    CHECK_EQ(open_container(store, fd, codec, false, &file), 0);
    memset(model + 100, 'D', 50);
    CHECK_EQ(backend_pwrite(file, NULL, model + 100, 50, 100, false), 50);
    CHECK_EQ(backend_flush(file, NULL), 0);
    memset(model + 3 * CHUNK + 500, 0, 1000);
    CHECK_EQ(backend_allocate(file, NULL, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 3 * CHUNK + 500, 1000), 0);
    memset(model + 5 * CHUNK + 8000, 0, CHUNK - 8000);
    CHECK_EQ(backend_truncate(file, NULL, 5 * CHUNK + 8000), 0);
    memset(model + 6 * CHUNK, 'z', 777);
    CHECK_EQ(backend_pwrite(file, NULL, model + 6 * CHUNK, 777, 6 * CHUNK, false), 777);
    CHECK_EQ(backend_flush(file, NULL), 0);
    memset(model + 200, 'E', 5000);
    CHECK_EQ(backend_pwrite(file, NULL, model + 200, 5000, 200, false), 5000);
    CHECK_EQ(backend_sync(file, NULL, true), 0);
    if (!closed)
        image = take_image(fd);
    CHECK_EQ(backend_close(file, NULL), 0);
    if (closed)
        image = take_image(fd);
    close(fd);
    return image;
}

static inline void read_contents(struct store *store, int fd, struct contents *contents)
{
    struct backend *file;
    int r = open_container(store, fd, "none", true, &file);

    memset(contents, 0, sizeof(*contents));
    contents->opens = r == 0;
    for (size_t i = 0; i < CHUNKS; i++)
        contents->got[i] = r < 0 ? r : backend_pread(file, NULL, contents->bytes[i], CHUNK, (off_t)(i * CHUNK));
    if (r == 0)
        CHECK_EQ(backend_close(file, NULL), 0);
}

static inline bool is_wrong(const struct contents *contents, const uint8_t *model, size_t chunk)
{
    size_t wanted = chunk == CHUNKS - 1 ? SIZE - chunk * CHUNK : CHUNK;

    return contents->got[chunk] >= 0 && (contents->got[chunk] != (ssize_t)wanted ||
                                         memcmp(contents->bytes[chunk], model + chunk * CHUNK, wanted) != 0);
}

/* Chunks that give an error, and chunks that give something else than the model. */
static inline void compare(const struct contents *contents, const uint8_t *model, unsigned *ret_errors, unsigned *ret_wrong)
{
    *ret_errors = 0;
    *ret_wrong = 0;
    for (size_t i = 0; i < CHUNKS; i++) {
        *ret_errors += contents->got[i] < 0;
        *ret_wrong += is_wrong(contents, model, i);
    }
}

static inline int repair(struct store *store, int fd, struct store_report *ret_report)
{
    struct backend *raw;

    CHECK_EQ(raw_backend_create(dup(fd), NULL, &raw), 0);
    return store_repair(store, raw, ret_report);
}

static inline int check(struct store *store, int fd, struct store_report *ret_report)
{
    struct backend *raw;
    int r;

    CHECK_EQ(raw_backend_create(dup(fd), NULL, &raw), 0);
    r = store_check(store, raw, ret_report);
    CHECK_EQ(backend_close(raw, NULL), 0);
    return r;
}

static inline bool loses(const struct store_report *report, uint64_t offset, uint64_t length)
{
    for (size_t i = 0; i < report->damage_count; i++)
        if (report->damage[i].logical_length && report->damage[i].logical_offset < offset + length &&
            offset < report->damage[i].logical_offset + report->damage[i].logical_length)
            return true;
    return false;
}

#endif
