/* Files of many sizes and of data at the edge of what compresses, read again after a remount: C07, C11, C12. */
#include "common.h"

/* C07: every size from 1 to 4097 in the long form, in the short one those next to what might be a boundary. */
static bool is_wanted(size_t size)
{
    size_t near = size % 512;

    return is_long() || size < 70 || near <= 1 || near == 511 || size % 61 == 0;
}

static const size_t large_sizes[] = {
    16383,         16384,         16385,     65535,         65536,         65537,         CHUNK - 4096, CHUNK - 1,
    CHUNK,         CHUNK + 1,     2 * CHUNK, 2 * CHUNK - 1, 2 * CHUNK + 1, 3 * CHUNK - 1, 5 * CHUNK - 7, 999999,
    8 * CHUNK - 1, 8 * CHUNK + 1, 8 * CHUNK,
};

static void for_each_size(void (*visit)(const char *name, size_t size))
{
    char name[64];

    for (size_t size = 0; size <= 4097; size++) {
        snprintf(name, sizeof(name), "size-%zu", size);
        if (is_wanted(size))
            visit(name, size);
    }
    for (unsigned i = 0; i < COUNT_OF(large_sizes); i++) {
        snprintf(name, sizeof(name), "size-%zu", large_sizes[i]);
        visit(name, large_sizes[i]);
    }
}

/* In one write, in two, or byte by byte at the end; filled data or random. */
static void put_size(const char *name, size_t size)
{
    unsigned char *data = allocate(size);
    int fd = open_new(name);
    size_t first = size % 3 == 0 ? size : size / 2, tail = size > 3 && size % 3 == 2 ? 3 : 0;

    fill(data, size, (unsigned)size);
    write_at(fd, data, first, 0);
    write_at(fd, data + first, size - first - (first < size ? tail : 0), (off_t)first);
    for (size_t at = size - tail; at < size; at++)
        write_at(fd, data + at, 1, (off_t)at);
    CHECK_OK(close(fd));
    free(data);
}

static void check_size(const char *name, size_t size)
{
    check_filled(name, size, (unsigned)size);
}

static void c07_keeps_files_of_every_size(void)
{
    for_each_size(put_size);
    for_each_size(check_size);
}

static void c07_keeps_files_of_every_size_after_remount(void)
{
    for_each_size(check_size);
}

/*
 * C11: chunks of which so many bytes are random and the rest zeros that the codecs' output passes the size of the
 * chunk, and that size less one block, byte by byte.
 */
static const size_t overheads[] = {0, 4096};

/* What the codecs add to 128 KiB that they cannot make smaller: gzip and zstd little, lz4 a byte in 255. */
static const struct {
    size_t from, to;
} bands[] = {{0, 40}, {48, 62}, {506, 536}};

static size_t edge_chunks(void (*visit)(size_t number, size_t random_bytes, void *argument), void *argument)
{
    size_t number = 0;

    for (unsigned i = 0; i < COUNT_OF(overheads); i++) {
        for (unsigned j = 0; j < COUNT_OF(bands); j++) {
            for (size_t k = bands[j].from; k < bands[j].to; k += is_long() ? 1 : 2 - j / 2)
                visit(number++, CHUNK - overheads[i] - k, argument);
        }
    }
    return number;
}

static void make_edge(unsigned char *data, size_t number, size_t random_bytes)
{
    memset(data, 0, CHUNK);
    /* The zeros last, first, or spread. */
    switch (number % 3) {
    case 0:
        fill_random(data, random_bytes, number);
        break;
    case 1:
        fill_random(data + CHUNK - random_bytes, random_bytes, number);
        break;
    default:
        fill_random(data, CHUNK, number);
        for (size_t i = 0; i < CHUNK - random_bytes; i++)
            data[i * 28] = 0;
    }
}

static void put_edge(size_t number, size_t random_bytes, void *fd)
{
    unsigned char *data = allocate(CHUNK);

    make_edge(data, number, random_bytes);
    write_at(*(int *)fd, data, CHUNK, (off_t)number * CHUNK);
    free(data);
}

static void check_edge(size_t number, size_t random_bytes, void *fd)
{
    unsigned char *expected = allocate(CHUNK), *found = allocate(CHUNK);

    make_edge(expected, number, random_bytes);
    CHECK_EQ(read_at(*(int *)fd, found, CHUNK, (off_t)number * CHUNK), CHUNK);
    if (memcmp(expected, found, CHUNK) != 0)
        FAIL("chunk %zu with %zu random bytes", number, random_bytes);
    free(found);
    free(expected);
}

static void c11_keeps_chunks_that_hardly_compress_after_remount(void)
{
    int fd = open_as("edge", O_RDONLY);

    CHECK_EQ(status_of("edge").st_size, edge_chunks(check_edge, &fd) * CHUNK);
    close(fd);
}

static void c11_keeps_chunks_that_hardly_compress(void)
{
    int fd = open_new("edge");

    edge_chunks(put_edge, &fd);
    edge_chunks(check_edge, &fd);
    CHECK_OK(close(fd));
}

/* The same in files of one small chunk. */
static void for_each_small_edge(void (*visit)(const char *name, const unsigned char *data, size_t size))
{
    unsigned char data[4096];
    char name[64];

    for (size_t zeros = 0; zeros < 60; zeros += is_long() ? 1 : 3) {
        memset(data, 0, sizeof(data));
        fill_random(data, sizeof(data) - zeros, zeros);
        snprintf(name, sizeof(name), "edge-%zu", zeros);
        visit(name, data, sizeof(data));
    }
}

static void c11_keeps_small_files_that_hardly_compress(void)
{
    for_each_small_edge(put_bytes);
}

static void c11_keeps_small_files_that_hardly_compress_after_remount(void)
{
    for_each_small_edge(check_bytes);
}

/*
 * C12: 5 GiB in the long form; in the short one the same file with most of it left out, around 2, 4 and 5 GiB where a
 * type too small would show. Each 8 bytes say where they are.
 */
#define HUGE_BYTES (UINT64_C(5) << 30)
#define PIECE (1 << 20)

static bool has_piece(uint64_t offset)
{
    const uint64_t near = offset % (UINT64_C(1) << 30);

    return is_long() || near == 0 || near == (UINT64_C(1) << 30) - PIECE;
}

static void make_piece(uint64_t *words, uint64_t offset)
{
    for (size_t i = 0; i < PIECE / sizeof(*words); i++)
        words[i] = has_piece(offset) ? (offset + i * sizeof(*words)) * UINT64_C(0x9e3779b97f4a7c15) >> 20 : 0;
}

static void check_huge(void)
{
    uint64_t *expected = (void *)allocate(PIECE), *found = (void *)allocate(PIECE);
    int fd = open_as("huge", O_RDONLY);

    CHECK_EQ(status_of("huge").st_size, HUGE_BYTES + 5);
    for (uint64_t offset = 0; offset < HUGE_BYTES; offset += PIECE) {
        if (!has_piece(offset) && offset % (64 << 20) != 0)
            continue;
        make_piece(expected, offset);
        CHECK_EQ(read_at(fd, found, PIECE, (off_t)offset), PIECE);
        if (memcmp(expected, found, PIECE) != 0)
            FAIL("wrong data at %" PRIu64, offset);
    }
    CHECK_EQ(read_at(fd, found, PIECE, (off_t)HUGE_BYTES - 3), 8);
    CHECK_EQ(memcmp((char *)found + 3, "end.\n", 5), 0);
    CHECK_EQ(read_at(fd, found, PIECE, (off_t)HUGE_BYTES + 5), 0);
    CHECK_EQ(lseek(fd, -5, SEEK_END), HUGE_BYTES);
    close(fd);
    free(found);
    free(expected);
}

static void c12_keeps_a_file_of_5_gib(void)
{
    uint64_t *words = (void *)allocate(PIECE);
    int fd = open_new("huge");

    for (uint64_t offset = 0; offset < HUGE_BYTES; offset += PIECE) {
        if (!has_piece(offset))
            continue;
        make_piece(words, offset);
        write_at(fd, words, PIECE, (off_t)offset);
    }
    write_at(fd, "end.\n", 5, (off_t)HUGE_BYTES);
    CHECK_OK(close(fd));
    free(words);
    check_huge();
}

static void c12_keeps_a_file_of_5_gib_after_remount(void)
{
    check_huge();
    CHECK_OK(truncate("huge", (off_t)(UINT64_C(1) << 32) + 1));
    CHECK_EQ(status_of("huge").st_size, (UINT64_C(1) << 32) + 1);
    CHECK_OK(unlink("huge"));
}

static void refuses_offsets_beyond_what_the_file_system_can(void)
{
    int fd = open_new("beyond");

    CHECK_ERROR(pwrite(fd, "x", 1, -1), EINVAL);
    CHECK_ERROR(ftruncate(fd, -1), EINVAL);
    CHECK_ERROR(lseek(fd, -1, SEEK_SET), EINVAL);
    CHECK(pwrite(fd, "x", 1, INT64_MAX) < 0 && (errno == EFBIG || errno == EINVAL));
    CHECK_EQ(status_of_open(fd).st_size, 0);
    close(fd);
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c07_keeps_files_of_every_size),
        CASE(c11_keeps_chunks_that_hardly_compress),
        CASE(c11_keeps_small_files_that_hardly_compress),
        CASE(c12_keeps_a_file_of_5_gib),
        CASE(refuses_offsets_beyond_what_the_file_system_can),
    };
    static const struct test_case check_cases[] = {
        CASE(c07_keeps_files_of_every_size_after_remount),
        CASE(c11_keeps_chunks_that_hardly_compress_after_remount),
        CASE(c11_keeps_small_files_that_hardly_compress_after_remount),
        CASE(c12_keeps_a_file_of_5_gib_after_remount),
    };

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
