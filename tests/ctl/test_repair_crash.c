/* The power fails, or the lower file system, at every step of a repair: done again, it ends as if nothing had happened. */
#include "fault.h"
#include "sample.h"

/* The image on a medium, as if it had always been there. */
static struct medium *medium_of(const uint8_t *bytes, size_t size, uint64_t seed)
{
    struct medium *medium = medium_create(seed);
    struct backend *lower = medium_open(medium);

    CHECK_EQ(backend_pwrite(lower, NULL, bytes, size, 0, false), size);
    CHECK_EQ(backend_sync(lower, NULL, false), 0);
    CHECK_EQ(backend_close(lower, NULL), 0);
    return medium;
}

static int file_of_medium(struct medium *medium)
{
    struct backend *lower = medium_open(medium);
    size_t size = (size_t)medium_size(medium);
    uint8_t *bytes = malloc(size + 1);
    int fd;

    CHECK_EQ(backend_pread(lower, NULL, bytes, size, 0), size);
    fd = file_of(bytes, size);
    CHECK_EQ(backend_close(lower, NULL), 0);
    free(bytes);
    return fd;
}

/* Flips that damage some frames, and sometimes the beginning or the index. */
static void damage(struct image *image, uint64_t *random)
{
    for (uint64_t n = 1 + random_below(random, 3); n; n--)
        image->bytes[random_below(random, image->size)] ^= (uint8_t)(1 + random_below(random, 255));
    if (random_below(random, 4) == 0)
        memset(image->bytes, 0x55, 80);
    if (random_below(random, 4) == 0)
        image->bytes[image->size - 20] ^= 1;
}

/* What a repair that was not disturbed gives. */
static void expect(struct store *store, const struct image *image, struct contents *ret_contents,
                   struct store_report *ret_report)
{
    int fd = file_of(image->bytes, image->size);

    CHECK_EQ(repair(store, fd, ret_report), 0);
    read_contents(store, fd, ret_contents);
    close(fd);
}

/* Chunks read as they would have without the disturbance; or right, where that one would have given an error. */
static void compare_with(const struct contents *expected, const struct contents *got, const uint8_t *model, size_t at)
{
    CHECK(got->opens);
    for (size_t i = 0; i < CHUNKS; i++) {
        if (got->got[i] == expected->got[i] &&
            memcmp(got->bytes[i], expected->bytes[i], sizeof(got->bytes[i])) == 0)
            continue;
        if (got->got[i] < 0 || is_wrong(got, model, i))
            FAIL("chunk %zu differs when it failed at step %zu: %zd, not %zd", i, at, got->got[i], expected->got[i]);
    }
}

static void repair_again(struct store *store, struct medium *medium, const struct contents *expected,
                         const uint8_t *model, size_t at)
{
    static struct contents contents;
    struct store_report report;
    int fd = file_of_medium(medium);

    CHECK_EQ(repair(store, fd, &report), 0);
    store_report_free(&report);
    read_contents(store, fd, &contents);
    compare_with(expected, &contents, model, at);
    close(fd);
}

#define ROUNDS 150u

static void ends_the_same_when_the_power_fails_at_any_step(void)
{
    static uint8_t model[CHUNKS * CHUNK];
    static struct contents expected;
    struct store *store = make_store(CHUNK, 0);
    uint64_t random = 17;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct image image = make_sample(store, round % 2 ? "lz4" : "zstd:3", true, model);
        struct store_report report;
        bool frozen = true;

        damage(&image, &random);
        expect(store, &image, &expected, &report);
        store_report_free(&report);
        for (unsigned step = 0; frozen; step++) {
            struct medium *medium = medium_of(image.bytes, image.size, round * 100 + step);

            medium_freeze_after(medium, step);
            CHECK_EQ(store_repair(store, medium_open(medium), &report), 0);
            store_report_free(&report);
            frozen = medium_is_frozen(medium);
            medium_cut_power(medium);
            repair_again(store, medium, &expected, model, step);
            medium_destroy(medium);
        }
        free(image.bytes);
    }
    store_destroy(store);
}

static void ends_the_same_when_a_call_below_fails(void)
{
    static uint8_t model[CHUNKS * CHUNK];
    static struct contents expected;
    static const int errors[] = {EIO, ENOSPC};
    struct store *store = make_store(CHUNK, 0);
    uint64_t random = 23;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct image image = make_sample(store, round % 2 ? "gzip:6" : "none", true, model);
        struct store_report report;
        bool failed = true;

        damage(&image, &random);
        expect(store, &image, &expected, &report);
        store_report_free(&report);
        for (uint64_t step = 0; failed; step++) {
            struct medium *medium = medium_of(image.bytes, image.size, step);
            const struct medium_fault fault = {
                .calls = MEDIUM_WRITE | MEDIUM_TRUNCATE | MEDIUM_SYNC,
                .after = step,
                .error = errors[round % 4 < 2],
                .lasting = round % 3 == 0,
                .is_short = round % 5 == 0,
            };
            const struct medium_fault none = {0};
            int r;

            medium_fail(medium, &fault);
            r = store_repair(store, medium_open(medium), &report);
            failed = medium_calls(medium) > step;
            if (r == 0)
                store_report_free(&report);
            CHECK(r == 0 || failed);
            medium_fail(medium, &none);
            repair_again(store, medium, &expected, model, step);
            medium_destroy(medium);
        }
        free(image.bytes);
    }
    store_destroy(store);
}

/* A disk that cannot be read for a moment costs nothing: no byte is marked as lost for it. */
static void loses_nothing_when_the_disk_cannot_be_read_for_a_moment(void)
{
    static uint8_t model[CHUNKS * CHUNK];
    static struct contents contents;
    struct store *store = make_store(CHUNK, 0);
    struct image image = make_sample(store, "lz4", true, model);
    bool failed = true, found = false;

    for (uint64_t step = 0; failed; step++) {
        struct medium *medium = medium_of(image.bytes, image.size, step);
        const struct medium_fault fault = {.calls = MEDIUM_READ, .after = step, .error = EIO};
        const struct medium_fault none = {0};
        struct store_report report;
        unsigned errors, wrong;
        int fd;

        medium_fail(medium, &fault);
        if (store_repair(store, medium_open(medium), &report) == 0) {
            for (size_t i = 0; i < report.damage_count; i++)
                found |= report.damage[i].kind == STORE_DAMAGE_UNREADABLE;
            store_report_free(&report);
        }
        failed = medium_calls(medium) > step;
        medium_fail(medium, &none);
        fd = file_of_medium(medium);
        read_contents(store, fd, &contents);
        compare(&contents, model, &errors, &wrong);
        if (errors + wrong)
            FAIL("%u chunks are lost and %u wrong when read %" PRIu64 " fails", errors, wrong, step);
        close(fd);
        medium_destroy(medium);
    }
    CHECK(found);
    free(image.bytes);
    store_destroy(store);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(ends_the_same_when_the_power_fails_at_any_step),
        CASE(ends_the_same_when_a_call_below_fails),
        CASE(loses_nothing_when_the_disk_cannot_be_read_for_a_moment),
    };

    return RUN_CASES(cases);
}
