/*
 * Writes the golden containers into a directory: "make_golden DIRECTORY". Done once for a version of the format; files of
 * a released version are never replaced.
 */
#include <sys/stat.h>

#include "set.h"
#include "store/check.h"
#include "store_model.h"

static void write_at(struct backend *file, const uint8_t *data, size_t offset, size_t size)
{
    CHECK_EQ(backend_pwrite(file, NULL, data, size, (off_t)offset, false), size);
}

static void copy_file(int from, int to)
{
    uint8_t block[65536];
    ssize_t got;

    for (off_t at = 0; (got = pread(from, block, sizeof(block), at)) > 0; at += got)
        CHECK_EQ(pwrite(to, block, (size_t)got, at), got);
}

static void write_contents(const struct golden *golden, struct backend *file)
{
    size_t chunk = golden->chunk_bytes;
    uint8_t *bytes = malloc(chunk);

    golden_text(bytes, chunk, 1);
    write_at(file, bytes, 0, chunk);
    write_at(file, bytes, chunk, chunk);
    golden_text(bytes, chunk, 3);
    write_at(file, bytes, 2 * chunk, chunk);
    CHECK_EQ(backend_sync(file, NULL, true), 0);
    golden_text(bytes, 3000, 2);
    write_at(file, bytes, 5000, 3000);
    CHECK_EQ(backend_flush(file, NULL), 0);
    CHECK_EQ(backend_allocate(file, NULL, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)chunk, (off_t)chunk), 0);
    CHECK_EQ(backend_allocate(file, NULL, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(2 * chunk + 1000), 2000),
             0);
    CHECK_EQ(backend_truncate(file, NULL, (off_t)(2 * chunk + 9000)), 0);
    golden_noise(bytes, GOLDEN_TAIL);
    write_at(file, bytes, 3 * chunk, GOLDEN_TAIL);
    CHECK_EQ(backend_flush(file, NULL), 0);
    memset(bytes, 'D', 50);
    write_at(file, bytes, 100, 50);
    CHECK_EQ(backend_sync(file, NULL, true), 0);
    free(bytes);
}

/* A byte of the frame that has chunk 2's last text; found by looking at what reading says. */
static void lose_chunk(const struct golden *golden, struct store *store, int fd)
{
    struct store_report report;
    struct backend *file, *raw;
    struct stat attributes;
    uint8_t byte;
    off_t at;

    CHECK_EQ(fstat(fd, &attributes), 0);
    for (at = 64;; at += 16) {
        ssize_t got;

        CHECK(at < attributes.st_size);
        CHECK_EQ(pread(fd, &byte, 1, at), 1);
        byte ^= 1;
        CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
        if (open_container(store, fd, "none", true, &file) == 0) {
            got = backend_pread(file, NULL, &byte, 1, 2 * (off_t)golden->chunk_bytes);
            CHECK_EQ(backend_close(file, NULL), 0);
            if (got == -EIO)
                break;
        }
        CHECK_EQ(pread(fd, &byte, 1, at), 1);
        byte ^= 1;
        CHECK_EQ(pwrite(fd, &byte, 1, at), 1);
    }
    CHECK_EQ(raw_backend_create(dup(fd), NULL, &raw), 0);
    CHECK_EQ(store_repair(store, raw, &report), 0);
    CHECK(report.is_repaired);
    store_report_free(&report);
}

static void make(const char *directory, const struct golden *golden)
{
    struct store *store = make_store(golden->chunk_bytes, 0);
    struct backend *file;
    char path[4096];
    int fd, lower = memory_file();

    snprintf(path, sizeof(path), "%s/%s.container", directory, golden->name);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
    CHECK_EQ(open_container(store, lower, golden->codec, false, &file), 0);
    write_contents(golden, file);
    if (golden->open)
        copy_file(lower, fd);
    CHECK_EQ(backend_close(file, NULL), 0);
    if (golden->lost)
        lose_chunk(golden, store, lower);
    if (!golden->open)
        copy_file(lower, fd);
    close(fd);
    close(lower);
    store_destroy(store);
}

static const char *target;

static void makes_all_when_asked(void)
{
    for (size_t i = 0; i < GOLDEN_COUNT; i++)
        make(target, &goldens[i]);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {CASE(makes_all_when_asked)};

    if (argc != 2)
        return 2;
    target = argv[1];
    return RUN_CASES(cases);
}
