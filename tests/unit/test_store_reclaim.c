/* Dead space goes back to the lower file system, while files are open and by compaction. */
#include <errno.h>
#include <sys/stat.h>

#include "store_model.h"

#define CHUNK FORMAT_CHUNK_MIN
#define SPAN (8u << 20)
#define BLOCKS_SLACK (64u << 10) /* what was written since the last look, and blocks needed in part */

struct subject {
    struct store *store;
    struct backend *file;
    uint8_t *model, *scratch;
    size_t size;
    uint64_t random;
    int fd;
};

static void subject_open(struct subject *subject, const char *codec, unsigned workers)
{
    *subject = (struct subject){.store = make_store(CHUNK, workers), .fd = memory_file(), .random = 11,
                                .model = calloc(1, SPAN), .scratch = malloc(SPAN)};
    CHECK(subject->model && subject->scratch);
    CHECK_EQ(open_container(subject->store, subject->fd, codec, false, &subject->file), 0);
}

static void compare(struct subject *subject)
{
    CHECK_EQ(backend_pread(subject->file, NULL, subject->scratch, SPAN, 0), subject->size);
    CHECK_EQ(memcmp(subject->scratch, subject->model, subject->size), 0);
}

static void reopen(struct subject *subject, const char *codec, bool with_trailer)
{
    struct stat attributes;

    CHECK_EQ(backend_close(subject->file, NULL), 0);
    CHECK_EQ(fstat(subject->fd, &attributes), 0);
    if (!with_trailer)
        CHECK_EQ(ftruncate(subject->fd, attributes.st_size - 16), 0);
    CHECK_EQ(open_container(subject->store, subject->fd, codec, false, &subject->file), 0);
}

static void subject_close(struct subject *subject, const char *codec)
{
    compare(subject);
    reopen(subject, codec, true);
    compare(subject);
    reopen(subject, codec, false);
    compare(subject);
    CHECK_EQ(backend_close(subject->file, NULL), 0);
    close(subject->fd);
    free(subject->model);
    free(subject->scratch);
    store_destroy(subject->store);
}

/* A round under way in the background may have copied what it has not punched yet. */
static void check_bound(struct subject *subject)
{
    struct store_file_info info;
    uint64_t limit;

    for (unsigned patience = 200; patience; patience--) {
        CHECK_EQ(store_file_info(subject->file, NULL, &info), 0);
        limit = info.live_bytes / 4 > 1u << 20 ? info.live_bytes / 4 : 1u << 20;
        if (info.stored_bytes <= info.live_bytes + limit + BLOCKS_SLACK)
            return;
        usleep(50000);
    }
    FAIL("%" PRIu64 " bytes stored, %" PRIu64 " needed", info.stored_bytes, info.live_bytes);
}

static void write_some(struct subject *subject, size_t offset, size_t size)
{
    fill(subject->scratch, size, &subject->random);
    CHECK_EQ(backend_pwrite(subject->file, NULL, subject->scratch, size, (off_t)offset, false), size);
    memcpy(subject->model + offset, subject->scratch, size);
    subject->size = offset + size > subject->size ? offset + size : subject->size;
}

static void punch(struct subject *subject, size_t offset, size_t size)
{
    CHECK_EQ(backend_allocate(subject->file, NULL, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                              (off_t)size), 0);
    if (offset < subject->size)
        memset(subject->model + offset, 0, size < subject->size - offset ? size : subject->size - offset);
}

static void resize(struct subject *subject, size_t size)
{
    CHECK_EQ(backend_truncate(subject->file, NULL, (off_t)size), 0);
    if (size < subject->size)
        memset(subject->model + size, 0, subject->size - size);
    subject->size = size;
}

static void stays_within_the_bound_when_overwritten_at_random(void)
{
    static const struct {
        const char *codec;
        unsigned workers, steps;
        size_t largest;
        bool sync;
    } rows[] = {
        {"lz4", 0, 12000, 3000, false}, {"none", 0, 700, 150000, false}, {"zstd:1", 2, 3000, 20000, false},
        {"none", 2, 4000, 700, true},   {"lz4", 2, 500, 400000, false},
    };

    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        struct subject subject;

        subject_open(&subject, rows[row].codec, rows[row].workers);
        for (unsigned step = 0; step < rows[row].steps; step++) {
            size_t size = random_below(&subject.random, rows[row].largest) + 1;
            size_t offset = random_below(&subject.random, SPAN - size);

            write_some(&subject, offset, size);
            if (random_below(&subject.random, 50) == 0)
                punch(&subject, offset / 2, size * 4);
            if (random_below(&subject.random, 400) == 0)
                resize(&subject, random_below(&subject.random, SPAN - 1) + 1);
            if (rows[row].sync)
                CHECK_EQ(backend_sync(subject.file, NULL, true), 0);
            if (step % 64 == 0) {
                CHECK_EQ(backend_flush(subject.file, NULL), 0);
                check_bound(&subject);
            }
        }
        CHECK_EQ(backend_flush(subject.file, NULL), 0);
        check_bound(&subject);
        subject_close(&subject, rows[row].codec);
    }
}

/* Frames of one byte: what a hole or a new size is recorded with must go, too. */
static void stays_within_the_bound_when_holes_are_punched_for_ever(void)
{
    struct subject subject;

    subject_open(&subject, "lz4", 0);
    for (unsigned step = 0; step < 60000; step++) {
        size_t offset = (step * 7919u) % 100000;

        write_some(&subject, offset, 1);
        punch(&subject, offset, 2);
        if (step % 3 == 0)
            resize(&subject, offset + 1);
    }
    CHECK_EQ(backend_flush(subject.file, NULL), 0);
    check_bound(&subject);
    subject_close(&subject, "lz4");
}

static uint64_t lower_bytes(const struct subject *subject)
{
    struct stat attributes;

    CHECK_EQ(fstat(subject->fd, &attributes), 0);
    return (uint64_t)attributes.st_size;
}

static void is_small_again_when_compacted(void)
{
    struct store_file_info info;
    struct subject subject;
    uint64_t before;

    subject_open(&subject, "lz4", 0);
    CHECK_EQ(store_file_compact(subject.file, NULL), 0); /* nothing there */
    for (unsigned step = 0; step < 4000; step++)
        write_some(&subject, random_below(&subject.random, SPAN / 2), random_below(&subject.random, 20000) + 1);
    CHECK_EQ(backend_flush(subject.file, NULL), 0);
    before = lower_bytes(&subject);
    for (unsigned round = 0; round < 3; round++) {
        CHECK_EQ(store_file_compact(subject.file, NULL), 0);
        CHECK_EQ(store_file_info(subject.file, NULL, &info), 0);
        CHECK(lower_bytes(&subject) < before);
        CHECK(lower_bytes(&subject) < info.live_bytes + info.live_bytes / 20 + 2 * CHUNK);
        compare(&subject);
        reopen(&subject, "lz4", round != 1);
        compare(&subject);
        write_some(&subject, 5000 * round, 40000);
    }
    subject_close(&subject, "lz4");
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(stays_within_the_bound_when_overwritten_at_random),
        CASE(stays_within_the_bound_when_holes_are_punched_for_ever),
        CASE(is_small_again_when_compacted),
    };

    return RUN_CASES(cases);
}
