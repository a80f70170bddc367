/* Holes, and data that must not be taken for one: C06, C08, and fallocate(2). */
#include <linux/falloc.h>

#include "common.h"

#define SPARSE_BYTES ((off_t)1 << 30)

/* Copies what SEEK_DATA says is there, as cp(1) does. */
static void copy_data(const char *from, const char *to)
{
    int in = open_as(from, O_RDONLY), out = open_new(to);
    off_t size = status_of_open(in).st_size, data = 0;
    unsigned char *buffer = allocate(65536);

    while ((data = lseek(in, data, SEEK_DATA)) >= 0) {
        off_t hole = lseek(in, data, SEEK_HOLE);

        CHECK(hole > data && hole <= size);
        while (data < hole) {
            size_t got = read_at(in, buffer, hole - data < 65536 ? (size_t)(hole - data) : 65536, data);

            CHECK(got > 0);
            write_at(out, buffer, got, data);
            data += (off_t)got;
        }
    }
    CHECK_EQ(errno, ENXIO);
    CHECK_OK(ftruncate(out, size));
    close(in);
    CHECK_OK(close(out));
    free(buffer);
}

static void c06_copies_all_when_written_just_before(void)
{
    unsigned rounds = is_long() ? 1000 : 100;

    for (unsigned i = 0; i < rounds; i++) {
        size_t size = 1 + i * 9973 % 300000;

        put_filled("fresh", size, i);
        copy_data("fresh", "fresh-copy");
        check_filled("fresh-copy", size, i);
        CHECK_OK(unlink("fresh"));
    }
}

/* Still open, and with a mapping's stores that nobody has synced. */
static void c06_finds_data_that_is_only_buffered(void)
{
    for (unsigned i = 0; i < 12; i++) {
        off_t at = (off_t)i * 50000 + 1, size = (off_t)i * 100000 + 65536;
        int fd = open_new("buffered"), other = open_as("buffered", O_RDONLY);
        off_t data;

        CHECK_OK(ftruncate(fd, size));
        write_at(fd, "data", 4, at);
        data = lseek(other, 0, SEEK_DATA);
        if (data < 0 || data > at)
            FAIL("data at %jd is reported at %jd", (intmax_t)at, (intmax_t)data);
        CHECK(lseek(other, at, SEEK_HOLE) >= at + 4);
        CHECK_EQ(lseek(other, at + 2, SEEK_DATA), at + 2);
        copy_data("buffered", "buffered-copy");
        shell("cmp buffered buffered-copy");
        close(other);
        close(fd);
    }
}

static void c06_finds_data_stored_through_a_mapping(void)
{
    int fd = open_new("stored");
    char *memory;

    CHECK_OK(ftruncate(fd, 300000));
    memory = mmap(NULL, 300000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED);
    memcpy(memory + 200000, "data", 4);
    copy_data("stored", "stored-copy");
    shell("cmp stored stored-copy && cp stored stored-copy && cmp stored stored-copy");
    munmap(memory, 300000);
    close(fd);
}

static void check_sparse(void)
{
    struct stat attributes = status_of("sparse");
    char found[8];
    int fd = open_as("sparse", O_RDONLY);

    CHECK_EQ(attributes.st_size, SPARSE_BYTES);
    CHECK(attributes.st_blocks > 0 && attributes.st_blocks < 4096);
    CHECK_EQ(pread(fd, found, 4, 512 << 20), 4);
    CHECK_EQ(memcmp(found, "data", 4), 0);
    CHECK_EQ(pread(fd, found, 4, 100), 4);
    CHECK_EQ(memcmp(found, "\0\0\0\0", 4), 0);
    CHECK(lseek(fd, 0, SEEK_DATA) > 0);
    CHECK(lseek(fd, 0, SEEK_DATA) <= 512 << 20);
    CHECK_EQ(lseek(fd, 0, SEEK_HOLE), 0);
    CHECK(lseek(fd, 512 << 20, SEEK_HOLE) > 512 << 20);
    CHECK_ERROR(lseek(fd, SPARSE_BYTES, SEEK_DATA), ENXIO);
    CHECK_ERROR(lseek(fd, SPARSE_BYTES, SEEK_HOLE), ENXIO);
    close(fd);
}

static void c08_keeps_holes(void)
{
    int fd = open_new("sparse");

    write_at(fd, "data", 4, 512 << 20);
    CHECK_OK(ftruncate(fd, SPARSE_BYTES));
    CHECK_OK(close(fd));
    check_sparse();
}

static void c08_keeps_holes_when_copied_by_tar_and_cp(void)
{
    static const char *const copies[] = {"tar/sparse", "always", "auto"};

    shell("mkdir -p tar && tar -Scf - sparse | tar -C tar -xf -");
    shell("cp --sparse=always sparse always && cp sparse auto");
    for (unsigned i = 0; i < COUNT_OF(copies); i++) {
        CHECK_EQ(status_of(copies[i]).st_size, SPARSE_BYTES);
        CHECK(status_of(copies[i]).st_blocks < 4096);
        copy_data(copies[i], "copied");
        CHECK_OK(rename("sparse", "original"));
        CHECK_OK(rename("copied", "sparse"));
        check_sparse();
        CHECK_OK(rename("original", "sparse"));
    }
}

/* Zeros that a program wrote take no place in a compressed file, and read as written wherever holes are. */
static void keeps_written_zeros(void)
{
    unsigned char *zeros = allocate(3 * CHUNK);
    int fd = open_new("zeros");

    write_at(fd, "begin", 5, 0);
    write_at(fd, zeros, 3 * CHUNK, 5);
    write_at(fd, "end", 3, 3 * CHUNK + 5);
    CHECK_OK(fsync(fd));
    CHECK_EQ(status_of_open(fd).st_size, 3 * CHUNK + 8);
    CHECK_EQ(read_at(fd, zeros, 3 * CHUNK, 6), 3 * CHUNK);
    CHECK_EQ(memcmp(zeros + 3 * CHUNK - 1, "e", 1), 0);
    CHECK(zeros[0] == 0 && memcmp(zeros, zeros + 1, 3 * CHUNK - 2) == 0);
    close(fd);
    free(zeros);
}

struct allocation {
    const char *name;
    int mode;
    off_t offset, length;
};

#define PUNCH (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)

static const struct allocation allocations[] = {
    {"allocated-within", 0, 1000, 5000},
    {"allocated-beyond", 0, 3 * CHUNK - 100, CHUNK},
    {"allocated-kept", FALLOC_FL_KEEP_SIZE, 3 * CHUNK - 100, CHUNK},
    {"punched-inside", PUNCH, 1000, 5000},
    {"punched-chunk", PUNCH, CHUNK, CHUNK},
    {"punched-across", PUNCH, CHUNK - 10, CHUNK + 20},
    {"punched-end", PUNCH, 2 * CHUNK + 7, 5 * CHUNK},
    {"punched-beyond", PUNCH, 5 * CHUNK, CHUNK},
    {"zeroed-inside", FALLOC_FL_ZERO_RANGE, 1000, 5000},
    {"zeroed-across", FALLOC_FL_ZERO_RANGE, CHUNK - 10, CHUNK + 20},
    {"zeroed-beyond", FALLOC_FL_ZERO_RANGE, 3 * CHUNK - 10, CHUNK},
    {"zeroed-kept", FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 3 * CHUNK - 10, CHUNK},
};

#define ALLOCATED_FROM (3 * CHUNK)

static void check_allocation(unsigned i)
{
    const struct allocation *allocation = &allocations[i];
    unsigned char *expected = allocate(5 * CHUNK);
    off_t end = allocation->offset + allocation->length, size = ALLOCATED_FROM;

    fill(expected, ALLOCATED_FROM, i);
    if (!(allocation->mode & FALLOC_FL_KEEP_SIZE) && end > size)
        size = end;
    if (allocation->mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) {
        for (off_t at = allocation->offset; at < end && at < size; at++)
            expected[at] = 0;
    }
    check_bytes(allocation->name, expected, (size_t)size);
    free(expected);
}

static void allocates_punches_and_zeroes(void)
{
    for (unsigned i = 0; i < COUNT_OF(allocations); i++) {
        const struct allocation *allocation = &allocations[i];
        int fd;

        put_filled(allocation->name, ALLOCATED_FROM, i);
        fd = open_as(allocation->name, O_RDWR);
        if (fallocate(fd, allocation->mode, allocation->offset, allocation->length) < 0) {
            /* Btrfs before 4.16 and others have no zero range; then the file must be as it was. */
            if (errno != EOPNOTSUPP)
                FAIL("%s: %s", allocation->name, strerror(errno));
            check_filled(allocation->name, ALLOCATED_FROM, i);
            CHECK_OK(unlink(allocation->name));
        } else {
            check_allocation(i);
        }
        close(fd);
    }
}

static void keeps_allocations_after_remount(void)
{
    for (unsigned i = 0; i < COUNT_OF(allocations); i++) {
        if (access(allocations[i].name, F_OK) == 0)
            check_allocation(i);
    }
}

static void refuses_or_does_collapse_and_insert(void)
{
    static const int modes[] = {FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_INSERT_RANGE};
    unsigned char *expected = allocate(4 * CHUNK);

    for (unsigned i = 0; i < COUNT_OF(modes); i++) {
        bool insert = modes[i] == FALLOC_FL_INSERT_RANGE;
        int fd;

        put_filled("moved", 3 * CHUNK, i);
        fd = open_as("moved", O_RDWR);
        fill(expected, 3 * CHUNK, i);
        if (fallocate(fd, modes[i], CHUNK, CHUNK) == 0) {
            if (insert) {
                memmove(expected + 2 * CHUNK, expected + CHUNK, 2 * CHUNK);
                memset(expected + CHUNK, 0, CHUNK);
            } else {
                memmove(expected + CHUNK, expected + 2 * CHUNK, CHUNK);
            }
            check_open(fd, expected, insert ? 4 * CHUNK : 2 * CHUNK);
        } else {
            CHECK_EQ(errno, EOPNOTSUPP);
            check_open(fd, expected, 3 * CHUNK);
        }
        CHECK(fallocate(fd, modes[i], 1, 5) < 0 && (errno == EINVAL || errno == EOPNOTSUPP));
        close(fd);
    }
    free(expected);
}

static void refuses_wrong_allocations(void)
{
    int fd = open_new("wrong"), directory = open_as(".", O_RDONLY | O_DIRECTORY);

    CHECK_ERROR(fallocate(fd, 0, -1, 10), EINVAL);
    CHECK_ERROR(fallocate(fd, 0, 0, 0), EINVAL);
    CHECK_ERROR(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 10), EOPNOTSUPP);
    CHECK(fallocate(directory, 0, 0, 10) < 0 && (errno == EBADF || errno == EISDIR));
    CHECK_EQ(status_of_open(fd).st_size, 0);
    close(directory);
    close(fd);
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c06_copies_all_when_written_just_before),
        CASE(c06_finds_data_that_is_only_buffered),
        CASE(c06_finds_data_stored_through_a_mapping),
        CASE(c08_keeps_holes),
        CASE(c08_keeps_holes_when_copied_by_tar_and_cp),
        CASE(keeps_written_zeros),
        CASE(allocates_punches_and_zeroes),
        CASE(refuses_or_does_collapse_and_insert),
        CASE(refuses_wrong_allocations),
    };
    static const struct test_case check_cases[] = {CASE(check_sparse), CASE(keeps_allocations_after_remount)};

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
