/* The golden containers read, in every way there is to read them, as what was once written. */
#include <errno.h>
#include <sys/stat.h>

#include "set.h"
#include "store/check.h"
#include "store_model.h"

static int open_golden(const struct golden *golden)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof(path), "%s/v1/%s.container", GOLDEN_DIRECTORY, golden->name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        FAIL("%s: %s", path, strerror(errno));
    return fd;
}

/* By a mount with another chunk size, piece by piece, so that a lost chunk does not take others along. */
static void check_contents(const struct golden *golden, int fd)
{
    static uint8_t expected[GOLDEN_BYTES_MAX], got[16384];
    struct store *store = make_store(FORMAT_CHUNK_MAX, 0);
    size_t size = golden_bytes(golden);
    struct backend *file;
    off_t found;

    golden_fill(golden, expected);
    CHECK_EQ(open_container(store, fd, "none", true, &file), 0);
    CHECK_EQ(backend_size(file, NULL, &found), 0);
    CHECK_EQ(found, size);
    for (size_t at = 0; at < size; at += sizeof(got)) {
        size_t wanted = size - at < sizeof(got) ? size - at : sizeof(got);
        ssize_t read = backend_pread(file, NULL, got, sizeof(got), (off_t)at);

        if (golden->lost && at / golden->chunk_bytes == 2) {
            CHECK_EQ(read, -EIO);
            continue;
        }
        CHECK_EQ(read, wanted);
        if (memcmp(got, expected + at, wanted) != 0)
            FAIL("%s: wrong bytes between %zu and %zu", golden->name, at, at + wanted);
    }
    CHECK_EQ(backend_close(file, NULL), 0);
    store_destroy(store);
}

static void reads_the_same_when_written_by_version_1(void)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        int fd = open_golden(&goldens[i]);

        check_contents(&goldens[i], fd);
        close(fd);
    }
}

static void tells_the_size_when_only_probed(void)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        int fd = open_golden(&goldens[i]);
        struct store_probe probe;
        struct stat attributes;

        CHECK_EQ(fstat(fd, &attributes), 0);
        CHECK_EQ(store_probe(fd, NULL, &attributes, &probe), 0);
        CHECK(probe.is_container);
        CHECK_EQ(probe.logical_bytes, golden_bytes(&goldens[i]));
        close(fd);
    }
}

static void reads_the_same_when_the_trailer_is_cut_off(void)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        int fd = open_golden(&goldens[i]), copy = memory_file();
        struct stat attributes;
        uint8_t *bytes;

        CHECK_EQ(fstat(fd, &attributes), 0);
        if (!goldens[i].open)
            attributes.st_size -= FORMAT_TRAILER_BYTES;
        bytes = malloc((size_t)attributes.st_size);
        CHECK_EQ(pread(fd, bytes, (size_t)attributes.st_size, 0), attributes.st_size);
        CHECK_EQ(pwrite(copy, bytes, (size_t)attributes.st_size, 0), attributes.st_size);
        check_contents(&goldens[i], copy);
        free(bytes);
        close(fd);
        close(copy);
    }
}

static void finds_no_damage_but_the_marked_when_checked(void)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        struct store *store = make_store(FORMAT_CHUNK_MIN, 0);
        int fd = open_golden(&goldens[i]);
        struct store_report report;
        struct backend *raw;

        CHECK_EQ(raw_backend_create(fd, NULL, &raw), 0);
        CHECK_EQ(store_check(store, raw, &report), 0);
        CHECK_EQ(report.damage_count > 0, goldens[i].lost);
        for (size_t d = 0; d < report.damage_count; d++)
            CHECK_EQ(report.damage[d].kind, STORE_DAMAGE_MARKED);
        CHECK_EQ(report.is_open_ended, goldens[i].open);
        CHECK_EQ(report.logical_bytes, golden_bytes(&goldens[i]));
        CHECK_EQ(report.torn_bytes, 0);
        store_report_free(&report);
        backend_close(raw, NULL);
        store_destroy(store);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(reads_the_same_when_written_by_version_1),
        CASE(tells_the_size_when_only_probed),
        CASE(reads_the_same_when_the_trailer_is_cut_off),
        CASE(finds_no_damage_but_the_marked_when_checked),
    };

    return RUN_CASES(cases);
}
