/* copy_file_range(2) and its like, sendfile(2) and splice(2): C09. */
#include <sys/sendfile.h>
#include <sys/ioctl.h>
#include <linux/fs.h>

#include "common.h"

#define SIZE (3 * CHUNK)

/* Copies all of it in pieces of `piece` with the descriptors' own or with given offsets. */
static void copy_in_pieces(int in, int out, size_t piece, bool own_offsets)
{
    loff_t from = 0, to = 0;

    for (;;) {
        ssize_t copied = own_offsets ? copy_file_range(in, NULL, out, NULL, piece, 0)
                                     : copy_file_range(in, &from, out, &to, piece, 0);

        CHECK_OK(copied);
        if (copied == 0)
            return;
    }
}

static void c09_copies_twice_with_the_same_descriptors(void)
{
    static const size_t pieces[] = {100001, 4096, CHUNK, CHUNK - 1, 10 * CHUNK};
    int in;

    put_filled("in", SIZE, 7);
    in = open_as("in", O_RDONLY);
    for (unsigned i = 0; i < COUNT_OF(pieces) * 2; i++) {
        int out = open_new("out");

        for (int round = 0; round < 2; round++) {
            CHECK_EQ(lseek(in, 0, SEEK_SET), 0);
            CHECK_EQ(lseek(out, 0, SEEK_SET), 0);
            copy_in_pieces(in, out, pieces[i / 2], i % 2);
            check_filled("out", SIZE, 7);
        }
        CHECK_OK(close(out));
        check_filled("out", SIZE, 7);
    }
    close(in);
}

/* The source is still only buffered, and a destination keeps what lies around the copied range. */
static void c09_copies_what_was_written_just_before(void)
{
    unsigned char *source = allocate(SIZE), *expected = allocate(SIZE + CHUNK);
    static const struct {
        size_t from, to, length;
    } ranges[] = {{0, 1, 10},
                  {10, CHUNK - 5, 10},
                  {CHUNK - 1, 0, CHUNK + 2},
                  {4096, 4096, 4096},
                  {CHUNK, CHUNK, CHUNK},
                  {1, SIZE - 1, CHUNK}};

    fill(source, SIZE, 1);
    for (unsigned i = 0; i < COUNT_OF(ranges); i++) {
        int in = open_new("buffered-in"), out = open_new("buffered-out");
        size_t end = ranges[i].to + ranges[i].length;
        loff_t from = (loff_t)ranges[i].from, to = (loff_t)ranges[i].to;

        memset(expected, 0, SIZE + CHUNK);
        fill(expected, SIZE, i + 10);
        write_at(out, expected, SIZE, 0);
        write_at(in, source, SIZE, 0);
        for (size_t done = 0; done < ranges[i].length;) {
            ssize_t copied = copy_file_range(in, &from, out, &to, ranges[i].length - done, 0);

            CHECK(copied > 0);
            done += (size_t)copied;
        }
        memcpy(expected + ranges[i].to, source + ranges[i].from, ranges[i].length);
        check_open(out, expected, end > SIZE ? end : SIZE);
        close(in);
        close(out);
        check_bytes("buffered-out", expected, end > SIZE ? end : SIZE);
    }
    free(source);
    free(expected);
}

static void c09_copies_within_one_file(void)
{
    unsigned char *expected = allocate(2 * SIZE);
    loff_t from = 100, to = CHUNK + 7;
    int fd;

    put_filled("within", SIZE, 5);
    fill(expected, SIZE, 5);
    fd = open_as("within", O_RDWR);
    CHECK_EQ(copy_file_range(fd, &from, fd, &to, 5000, 0), 5000);
    memcpy(expected + CHUNK + 7, expected + 100, 5000);
    from = 2 * CHUNK - 1000;
    to = 0;
    CHECK_EQ(copy_file_range(fd, &from, fd, &to, 3000, 0), 3000);
    memcpy(expected, expected + 2 * CHUNK - 1000, 3000);
    check_open(fd, expected, SIZE);
    /* Ranges that overlap are refused, and nothing changes. */
    from = 0;
    to = 10;
    CHECK_ERROR(copy_file_range(fd, &from, fd, &to, 20, 0), EINVAL);
    from = CHUNK;
    to = CHUNK - 1;
    CHECK_ERROR(copy_file_range(fd, &from, fd, &to, CHUNK, 0), EINVAL);
    check_open(fd, expected, SIZE);
    /* To its own end: the file grows. */
    from = 0;
    to = SIZE;
    for (size_t left = SIZE; left > 0;) {
        ssize_t copied = copy_file_range(fd, &from, fd, &to, left, 0);

        CHECK(copied > 0);
        left -= (size_t)copied;
    }
    memcpy(expected + SIZE, expected, SIZE);
    check_open(fd, expected, 2 * SIZE);
    close(fd);
    free(expected);
}

static void c09_ends_at_the_end_of_the_source(void)
{
    loff_t from = SIZE - 10, to = 0;
    int in, out = open_new("short");

    put_filled("in", SIZE, 7);
    in = open_as("in", O_RDONLY);
    CHECK_EQ(copy_file_range(in, &from, out, &to, 100, 0), 10);
    CHECK_EQ(from, SIZE);
    CHECK_EQ(copy_file_range(in, &from, out, &to, 100, 0), 0);
    from = 5 * SIZE;
    CHECK_EQ(copy_file_range(in, &from, out, &to, 100, 0), 0);
    CHECK_EQ(status_of("short").st_size, 10);
    from = 0;
    CHECK_ERROR(copy_file_range(in, &from, out, NULL, 10, 1), EINVAL);
    close(in);
    close(out);
    out = open_as("short", O_WRONLY | O_APPEND);
    in = open_as("in", O_RDONLY);
    CHECK_ERROR(copy_file_range(in, NULL, out, NULL, 10, 0), EBADF);
    close(in);
    close(out);
}

static void c09_copies_holes_as_zeros(void)
{
    unsigned char *expected = allocate(5 * CHUNK);
    int in = open_new("hollow"), out;

    write_at(in, "data", 4, 2 * CHUNK - 2);
    CHECK_OK(ftruncate(in, 5 * CHUNK));
    put_filled("solid", 5 * CHUNK, 2);
    out = open_as("solid", O_RDWR);
    copy_in_pieces(in, out, 99999, true);
    memcpy(expected + 2 * CHUNK - 2, "data", 4);
    check_open(out, expected, 5 * CHUNK);
    close(in);
    close(out);
    free(expected);
}

static void sends_and_splices(void)
{
    off_t offset = 1000;
    int in, out = open_new("sent"), ends[2];
    unsigned char *expected = allocate(SIZE);

    put_filled("in", SIZE, 7);
    fill(expected, SIZE, 7);
    in = open_as("in", O_RDONLY);
    for (size_t left = SIZE - 1000; left > 0;) {
        ssize_t sent = sendfile(out, in, &offset, left);

        CHECK(sent > 0);
        left -= (size_t)sent;
    }
    check_open(out, expected + 1000, SIZE - 1000);
    close(out);
    out = open_new("spliced");
    CHECK_OK(pipe(ends));
    for (;;) {
        ssize_t moved = splice(in, NULL, ends[1], NULL, 50000, 0);

        CHECK_OK(moved);
        if (moved == 0)
            break;
        while (moved > 0) {
            ssize_t put_down = splice(ends[0], NULL, out, NULL, (size_t)moved, 0);

            CHECK(put_down > 0);
            moved -= put_down;
        }
    }
    check_open(out, expected, SIZE);
    close(ends[0]);
    close(ends[1]);
    close(in);
    close(out);
    free(expected);
}

/* A clone works or is refused in a way that cp(1) takes for "copy, then". */
static void clones_or_says_that_it_cannot(void)
{
    int in, out = open_new("clone");

    put_filled("in", SIZE, 7);
    in = open_as("in", O_RDONLY);
    if (ioctl(out, FICLONE, in) == 0)
        check_filled("clone", SIZE, 7);
    else
        CHECK(errno == EOPNOTSUPP || errno == ENOTTY || errno == EINVAL);
    close(in);
    close(out);
    shell("cp --reflink=auto in clone && cmp in clone");
}

static void c09_keeps_copies_after_remount(void)
{
    check_filled("out", SIZE, 7);
    check_filled("clone", SIZE, 7);
    shell("cmp in spliced && cmp in out && tail -c +1001 in | cmp - sent");
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c09_copies_twice_with_the_same_descriptors),
        CASE(c09_copies_what_was_written_just_before),
        CASE(c09_copies_within_one_file),
        CASE(c09_ends_at_the_end_of_the_source),
        CASE(c09_copies_holes_as_zeros),
        CASE(sends_and_splices),
        CASE(clones_or_says_that_it_cannot),
    };
    static const struct test_case check_cases[] = {CASE(c09_keeps_copies_after_remount)};

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
