/*
 * Containers of format version 1, kept as they were written once: every later version reads them. "test_golden make
 * DIRECTORY" writes such files; those of a released version are never replaced.
 */
#include <dirent.h>
#include <errno.h>

#include "sample.h"
#include "store_model.h"

static void write_at(struct backend *file, const uint8_t *data, size_t offset, size_t size)
{
    CHECK_EQ(backend_pwrite(file, NULL, data + offset, size, (off_t)offset, false), size);
}

static void make(const char *directory, const char *codec, const char *name)
{
    static uint8_t data[SAMPLE_BYTES], before[SAMPLE_BYTES];
    struct store *store = make_store(SAMPLE_CHUNK, 0);
    struct backend *file;
    char path[4096];
    int fd;

    sample_fill(data);
    memcpy(before, data, sizeof(before));
    memset(before + 100, 'x', 50);
    memset(before + 3 * SAMPLE_CHUNK + 5000, 'p', 1000);
    memset(before + 4 * SAMPLE_CHUNK, 'q', SAMPLE_CHUNK);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CHECK(fd >= 0);
    CHECK_EQ(open_container(store, fd, codec, false, &file), 0);
    write_at(file, before, 0, SAMPLE_CHUNK);
    write_at(file, before, SAMPLE_CHUNK, 2048);
    write_at(file, before, 3 * SAMPLE_CHUNK, 2 * SAMPLE_CHUNK);
    CHECK_EQ(backend_truncate(file, NULL, 4 * SAMPLE_CHUNK), 0);
    CHECK_EQ(backend_allocate(file, NULL, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 3 * SAMPLE_CHUNK + 5000, 1000), 0);
    write_at(file, data, 5 * SAMPLE_CHUNK, 777);
    CHECK_EQ(backend_flush(file, NULL), 0);
    write_at(file, data, 100, 50);
    CHECK_EQ(backend_close(file, NULL), 0);
    close(fd);
    store_destroy(store);
}

static void check_contents(int fd)
{
    static uint8_t expected[SAMPLE_BYTES], got[SAMPLE_BYTES + 1];
    struct store *store = make_store(FORMAT_CHUNK_MAX, 0); /* another mount, with its own chunk size */
    struct backend *file;

    sample_fill(expected);
    CHECK_EQ(open_container(store, fd, "none", true, &file), 0);
    CHECK_EQ(backend_pread(file, NULL, got, sizeof(got), 0), SAMPLE_BYTES);
    CHECK_EQ(memcmp(got, expected, SAMPLE_BYTES), 0);
    CHECK_EQ(backend_close(file, NULL), 0);
    store_destroy(store);
}

/* Calls `check` with each golden file. */
static void for_each(void (*check)(int fd))
{
    DIR *directory = opendir(GOLDEN_DIRECTORY);
    struct dirent *entry;
    unsigned count = 0;

    CHECK(directory != NULL);
    while ((entry = readdir(directory))) {
        const char *suffix = strstr(entry->d_name, ".container");
        int fd;

        if (!suffix)
            continue;
        fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC);
        CHECK(fd >= 0);
        check(fd);
        close(fd);
        count++;
    }
    closedir(directory);
    CHECK_EQ(count, 4);
}

static void check_probe(int fd)
{
    struct store_probe probe;
    struct stat attributes;

    CHECK_EQ(fstat(fd, &attributes), 0);
    CHECK_EQ(store_probe(fd, NULL, &attributes, &probe), 0);
    CHECK(probe.is_container);
    CHECK_EQ(probe.logical_bytes, SAMPLE_BYTES);
}

static void check_without_index(int fd)
{
    struct stat attributes;
    int copy = memory_file();
    static uint8_t bytes[1 << 20];

    CHECK_EQ(fstat(fd, &attributes), 0);
    CHECK(attributes.st_size < (off_t)sizeof(bytes));
    CHECK_EQ(pread(fd, bytes, sizeof(bytes), 0), attributes.st_size);
    CHECK_EQ(pwrite(copy, bytes, (size_t)attributes.st_size - 32, 0), attributes.st_size - 32);
    check_contents(copy);
    close(copy);
}

static void reads_the_same_when_written_by_version_1(void)
{
    for_each(check_contents);
}

static void tells_the_size_when_only_probed(void)
{
    for_each(check_probe);
}

static void reads_the_same_when_the_trailer_is_cut_off(void)
{
    for_each(check_without_index);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        CASE(reads_the_same_when_written_by_version_1),
        CASE(tells_the_size_when_only_probed),
        CASE(reads_the_same_when_the_trailer_is_cut_off),
    };

    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        make(argv[2], "none", "raw.container");
        make(argv[2], "lz4", "lz4.container");
        make(argv[2], "zstd:3", "zstd.container");
        make(argv[2], "gzip:6", "gzip.container");
        return EXIT_SUCCESS;
    }
    return RUN_CASES(cases);
}
