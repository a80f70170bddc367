/* What is read after writing, cutting, extending and appending: C01, C02, C03, C04, C10. */
#include "common.h"

/* C01: cut a file, then make it long again; what lies between reads as zeros. */
struct cut {
    size_t size, to, at, length;
};

static const struct cut cuts[] = {
    {4096, 8, 12, 10},
    {100, 0, 12288, 10},
    {CHUNK + 100, CHUNK - 5, CHUNK + 50, 10},
    {CHUNK, CHUNK - 1, CHUNK, 1},
    {3 * CHUNK, 1, 2 * CHUNK, 10},
    {3 * CHUNK, CHUNK, CHUNK, 5},
    {3 * CHUNK, 2 * CHUNK + 1, 5 * CHUNK - 3, 3000},
    {40000, 39999, 40001, 1},
};

/* By which way the file is cut, and by which it grows again. */
enum way { BY_PATH, BY_DESCRIPTOR, BY_SECOND_DESCRIPTOR, BY_LINK, BY_PROCESS, AFTER_SYNC, AFTER_CLOSE, WAYS };

static void cut_in_child(void *argument)
{
    CHECK_OK(truncate("cut-now", (off_t) * (size_t *)argument));
}

static void cut_by(enum way way, int *fd, size_t to)
{
    int other;

    switch (way) {
    case BY_DESCRIPTOR:
        CHECK_OK(ftruncate(*fd, (off_t)to));
        break;
    case BY_SECOND_DESCRIPTOR:
        other = open_as("cut-now", O_WRONLY);
        CHECK_OK(ftruncate(other, (off_t)to));
        close(other);
        break;
    case BY_LINK:
        CHECK_OK(link("cut-now", "cut-link"));
        CHECK_OK(truncate("cut-link", (off_t)to));
        CHECK_OK(unlink("cut-link"));
        break;
    case BY_PROCESS:
        in_child(cut_in_child, &to);
        break;
    case AFTER_SYNC:
        CHECK_OK(fsync(*fd));
        CHECK_OK(ftruncate(*fd, (off_t)to));
        break;
    case AFTER_CLOSE:
        CHECK_OK(close(*fd));
        CHECK_OK(truncate("cut-now", (off_t)to));
        *fd = open_as("cut-now", O_RDWR);
        break;
    default:
        CHECK_OK(truncate("cut-now", (off_t)to));
    }
}

static unsigned char *cut_expected(const struct cut *cut, unsigned seed)
{
    unsigned char *expected = allocate(cut->at + cut->length > cut->size ? cut->at + cut->length : cut->size);

    fill(expected, cut->size, seed);
    memset(expected + cut->to, 0, cut->at + cut->length - cut->to);
    fill(expected + cut->at, cut->length, seed + 1);
    return expected;
}

static void check_cut(const char *name, unsigned i, enum way way)
{
    unsigned char *expected = cut_expected(&cuts[i], i * WAYS + way);

    check_bytes(name, expected, cuts[i].at + cuts[i].length);
    free(expected);
}

static void cut_and_extend(unsigned i, enum way way)
{
    const struct cut *cut = &cuts[i];
    unsigned char *data = allocate(cut->size), added[4096];
    int fd = open_new("cut-now");
    char name[64];

    fill(data, cut->size, i * WAYS + way);
    write_at(fd, data, cut->size, 0);
    check_open(fd, data, cut->size);
    cut_by(way, &fd, cut->to);
    CHECK_EQ(status_of("cut-now").st_size, cut->to);
    fill(added, cut->length, i * WAYS + way + 1);
    if (i % 2)
        CHECK_OK(ftruncate(fd, (off_t)(cut->at + cut->length)));
    write_at(fd, added, cut->length, (off_t)cut->at);
    check_cut("cut-now", i, way);
    CHECK_OK(close(fd));
    check_cut("cut-now", i, way);
    snprintf(name, sizeof(name), "cut-%u-%u", i, (unsigned)way);
    CHECK_OK(rename("cut-now", name));
    free(data);
}

static void c01_reads_zeros_when_file_shrank_and_grew(void)
{
    for (unsigned i = 0; i < COUNT_OF(cuts); i++) {
        for (unsigned way = 0; way < WAYS; way++)
            cut_and_extend(i, way);
    }
}

static void c01_keeps_zeros_after_remount(void)
{
    char name[64];

    for (unsigned i = 0; i < COUNT_OF(cuts); i++) {
        for (unsigned way = 0; way < WAYS; way++) {
            snprintf(name, sizeof(name), "cut-%u-%u", i, way);
            check_cut(name, i, way);
        }
    }
}

/* Cut and grown many times, also without anything written in between. */
static void c01_reads_zeros_when_cut_and_grown_many_times(void)
{
    unsigned char *expected = allocate(4 * CHUNK);
    int fd = open_new("cut-often");
    size_t size = 3 * CHUNK;

    fill(expected, size, 9);
    write_at(fd, expected, size, 0);
    for (size_t i = 1; i < 60; i++) {
        size_t to = i * 2654435761u % (4 * CHUNK);

        if (to < size)
            memset(expected + to, 0, size - to);
        size = to;
        CHECK_OK(i % 3 ? ftruncate(fd, (off_t)to) : truncate("cut-often", (off_t)to));
        if (i % 5 == 0 && size > 100) {
            fill(expected + size - 100, 100, (unsigned)i);
            write_at(fd, expected + size - 100, 100, (off_t)size - 100);
        }
        check_open(fd, expected, size);
    }
    CHECK_OK(close(fd));
    check_bytes("cut-often", expected, size);
    free(expected);
}

static void c02_refuses_ftruncate_when_open_for_reading(void)
{
    char byte = 'x';
    int fd, other;

    put("read-only", "sixteen bytes...");
    put("source", "text");
    fd = open_as("read-only", O_RDONLY);
    other = open_as("source", O_RDONLY);
    CHECK_OK(truncate("read-only", 8));
    CHECK_EQ(status_of_open(fd).st_size, 8);
    CHECK(ftruncate(fd, 4) < 0 && (errno == EINVAL || errno == EBADF));
    CHECK_ERROR(write(fd, &byte, 1), EBADF);
    CHECK_ERROR(pwrite(fd, &byte, 1, 4), EBADF);
    CHECK_ERROR(fallocate(fd, 0, 0, 100), EBADF);
    CHECK_ERROR(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4), EBADF);
    CHECK_ERROR(copy_file_range(other, NULL, fd, NULL, 4, 0), EBADF);
    check_text("read-only", "sixteen ");
    close(other);
    close(fd);
    fd = open_as("read-only", O_WRONLY);
    CHECK_ERROR(read(fd, &byte, 1), EBADF);
    CHECK_OK(ftruncate(fd, 3));
    close(fd);
    check_text("read-only", "six");
    fd = open_as("read-only", O_PATH);
    CHECK(ftruncate(fd, 1) < 0 && (errno == EINVAL || errno == EBADF));
    close(fd);
}

/* The mode counts when a file is opened, not afterwards. */
static void c02_writes_when_opened_before_the_mode_forbade_it(void)
{
    int fd = open("forbidden", O_RDWR | O_CREAT | O_EXCL, 0444), other;

    CHECK(fd >= 0);
    write_at(fd, "0123456789", 10, 0);
    CHECK_OK(fchmod(fd, 0));
    write_at(fd, "abc", 3, 10);
    CHECK_OK(ftruncate(fd, 12));
    if (geteuid() != 0) {
        CHECK_ERROR(other = open("forbidden", O_RDONLY), EACCES);
        CHECK_ERROR(truncate("forbidden", 0), EACCES);
    }
    CHECK_EQ(status_of("forbidden").st_size, 12);
    CHECK_OK(chmod("forbidden", 0644));
    check_text("forbidden", "0123456789ab");
    close(fd);
}

static void append_line(void *line)
{
    int fd = open_as("appended", O_WRONLY | O_APPEND | O_CREAT);

    CHECK_EQ(write(fd, line, 4), 4);
    CHECK_OK(close(fd));
}

static void c03_appends_when_two_processes_alternate(void)
{
    char foo[] = "foo\n", bar[] = "bar\n", expected[100] = "";

    put("appended", "");
    for (int i = 0; i < 10; i++) {
        in_child(append_line, i % 2 ? foo : bar);
        append_line("own\n");
        strcat(expected, i % 2 ? foo : bar);
        strcat(expected, "own\n");
    }
    check_text("appended", expected);
    shell("rm -f t; echo foo >t; echo bar >>t; test \"$(cat t)\" = \"$(printf 'foo\\nbar')\"");
}

/* Two descriptors stay open; each finds the end that the other made. */
static void c03_appends_when_two_descriptors_alternate(void)
{
    int one, two, reader;
    char expected[100] = "";

    put("both", "");
    one = open_as("both", O_WRONLY | O_APPEND);
    two = open_as("both", O_RDWR | O_APPEND);
    reader = open_as("both", O_RDONLY);
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(write(i % 2 ? one : two, i % 2 ? "odd " : "even", 4), 4);
        /* The offset of pwrite does not count, as pwrite(2) says of Linux. */
        CHECK_EQ(pwrite(two, "here", 4, 0), 4);
        strcat(expected, i % 2 ? "odd here" : "evenhere");
        CHECK_EQ(status_of_open(reader).st_size, strlen(expected));
    }
    check_text("both", expected);
    CHECK_OK(truncate("both", 4));
    CHECK_EQ(write(one, "last", 4), 4);
    check_text("both", "evenlast");
    close(one);
    close(two);
    close(reader);
}

static void c03_follows_the_flag_when_it_is_changed(void)
{
    int fd;

    put("flagged", "0123456789");
    fd = open_as("flagged", O_RDWR | O_APPEND);
    CHECK_EQ(write(fd, "a", 1), 1);
    CHECK_OK(fcntl(fd, F_SETFL, 0));
    CHECK_EQ(pwrite(fd, "x", 1, 0), 1);
    check_text("flagged", "x123456789a");
    CHECK_OK(fcntl(fd, F_SETFL, O_APPEND));
    CHECK_EQ(pwrite(fd, "b", 1, 0), 1);
    check_text("flagged", "x123456789ab");
    close(fd);
    fd = open_as("flagged", O_RDWR);
    CHECK_OK(fcntl(fd, F_SETFL, O_APPEND));
    CHECK_EQ(write(fd, "c", 1), 1);
    check_text("flagged", "x123456789abc");
    close(fd);
}

struct appender {
    int number, records;
};

#define RECORD 100

static void append_records(void *argument)
{
    const struct appender *appender = argument;
    int fd = open_as("crowd", O_WRONLY | O_APPEND);
    char record[RECORD];

    memset(record, 'a' + appender->number, sizeof(record));
    for (int i = 0; i < appender->records; i++)
        CHECK_EQ(write(fd, record, sizeof(record)), RECORD);
    CHECK_OK(close(fd));
}

static void c03_keeps_every_record_when_processes_append_at_once(void)
{
    enum { PROCESSES = 4, RECORDS = 200 };
    unsigned char *found = allocate(PROCESSES * RECORDS * RECORD);
    struct appender appenders[PROCESSES];
    pid_t children[PROCESSES];
    int counts[PROCESSES] = {0}, fd;

    put("crowd", "");
    for (int i = 0; i < PROCESSES; i++) {
        appenders[i] = (struct appender){i, RECORDS};
        children[i] = child_start(append_records, &appenders[i]);
    }
    for (int i = 0; i < PROCESSES; i++)
        child_end(children[i]);
    fd = open_as("crowd", O_RDONLY);
    CHECK_EQ(read_at(fd, found, PROCESSES * RECORDS * RECORD + 1, 0), PROCESSES * RECORDS * RECORD);
    close(fd);
    for (int i = 0; i < PROCESSES * RECORDS; i++) {
        int who = found[i * RECORD] - 'a';

        CHECK(who >= 0 && who < PROCESSES);
        counts[who]++;
        for (int j = 1; j < RECORD; j++)
            CHECK_EQ(found[i * RECORD + j], 'a' + who);
    }
    for (int i = 0; i < PROCESSES; i++)
        CHECK_EQ(counts[i], RECORDS);
    free(found);
}

static void see_it_empty(void *reader)
{
    char byte;

    CHECK_EQ(status_of("emptied").st_size, 0);
    CHECK_EQ(status_of_open(*(int *)reader).st_size, 0);
    CHECK_EQ(pread(*(int *)reader, &byte, 1, 0), 0);
    CHECK_EQ(lseek(*(int *)reader, 0, SEEK_END), 0);
}

static void c04_shows_size_zero_at_once_when_another_truncates(void)
{
    static const size_t sizes[] = {9, 4096, CHUNK + 1, 3 * CHUNK};
    char byte;
    int reader, writer;

    unlink("emptied-link");
    for (unsigned i = 0; i < COUNT_OF(sizes) * 4; i++) {
        put_filled("emptied", sizes[i / 4], i);
        reader = open_as("emptied", O_RDONLY);
        CHECK_EQ(read(reader, &byte, 1), 1);
        switch (i % 4) {
        case 0:
            writer = open_as("emptied", O_RDWR | O_TRUNC);
            break;
        case 1:
            writer = open("emptied", O_WRONLY | O_CREAT | O_TRUNC, 0600);
            break;
        case 2:
            CHECK_OK(link("emptied", "emptied-link"));
            writer = open_as("emptied-link", O_WRONLY | O_TRUNC);
            CHECK_OK(unlink("emptied-link"));
            break;
        default:
            CHECK_OK(truncate("emptied", 0));
            writer = open_as("emptied", O_WRONLY);
        }
        CHECK(writer >= 0);
        see_it_empty(&reader);
        in_child(see_it_empty, &reader);
        write_at(writer, "new", 3, 0);
        CHECK_EQ(status_of_open(reader).st_size, 3);
        check_text("emptied", "new");
        close(reader);
        close(writer);
    }
}

static void c10_reads_the_full_length_when_extended_after_reading(void)
{
    enum { STEPS = 40 };
    unsigned char *data = allocate(STEPS * 9973);
    int fd = open_new("extended"), reader = open_as("extended", O_RDONLY);
    size_t size = 0;

    fill(data, STEPS * 9973, 4);
    for (size_t i = 0; i < STEPS; i++) {
        size_t length = i < 2 ? 10 : 9973;

        write_at(fd, data + size, length, (off_t)size);
        size += length;
        check_open(i % 2 ? fd : reader, data, size);
    }
    close(fd);
    check_open(reader, data, size);
    close(reader);
    free(data);
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c01_reads_zeros_when_file_shrank_and_grew),
        CASE(c01_reads_zeros_when_cut_and_grown_many_times),
        CASE(c02_refuses_ftruncate_when_open_for_reading),
        CASE(c02_writes_when_opened_before_the_mode_forbade_it),
        CASE(c03_appends_when_two_processes_alternate),
        CASE(c03_appends_when_two_descriptors_alternate),
        CASE(c03_follows_the_flag_when_it_is_changed),
        CASE(c03_keeps_every_record_when_processes_append_at_once),
        CASE(c04_shows_size_zero_at_once_when_another_truncates),
        CASE(c10_reads_the_full_length_when_extended_after_reading),
    };
    static const struct test_case check_cases[] = {CASE(c01_keeps_zeros_after_remount)};

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
