/* Times and modes that programs set, and those that writing sets: C23. */
#include <time.h>

#include "common.h"

#define YEAR_2020 1577836800

static const struct timespec in_2020[2] = {{YEAR_2020, 500}, {YEAR_2020, 500}};

#define DATED_FILES 40

static void check_dated(const char *name)
{
    struct stat attributes = status_of(name);

    CHECK_EQ(attributes.st_mtim.tv_sec, YEAR_2020);
    CHECK_EQ(attributes.st_mtim.tv_nsec, 500);
}

/* The ways to write a file and set its time. Each leaves a closed file. */
static void date_file(unsigned i, const char *name, const unsigned char *data, size_t size)
{
    int fd = open_new(name), other;
    unsigned char *memory;

    write_at(fd, data, size, 0);
    switch (i % 8) {
    case 0:
        CHECK_OK(futimens(fd, in_2020));
        break;
    case 1:
        CHECK_OK(utimensat(AT_FDCWD, name, in_2020, 0));
        break;
    case 2:
        CHECK_OK(close(fd));
        CHECK_OK(utimensat(AT_FDCWD, name, in_2020, 0));
        return;
    case 3:
        CHECK_OK(fsync(fd));
        CHECK_OK(futimens(fd, in_2020));
        CHECK_OK(fsync(fd));
        break;
    case 4:
        /* By another descriptor, while the one that wrote stays open a little longer. */
        other = open_as(name, O_RDONLY);
        CHECK_OK(futimens(other, in_2020));
        CHECK_OK(close(other));
        break;
    case 5:
        memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        CHECK(memory != MAP_FAILED);
        memory[0] ^= 1;
        CHECK_OK(msync(memory, 4096, MS_SYNC));
        munmap(memory, 4096);
        CHECK_OK(futimens(fd, in_2020));
        break;
    case 6:
        CHECK_OK(truncate(name, 5));
        CHECK_OK(futimens(fd, in_2020));
        break;
    default:
        CHECK_OK(close(fd));
        fd = open_as(name, O_WRONLY | O_APPEND);
        CHECK_EQ(write(fd, "more", 4), 4);
        CHECK_OK(futimens(fd, in_2020));
    }
    CHECK_OK(close(fd));
}

static void for_each_dated(void (*visit)(unsigned i, const char *name))
{
    char name[32];

    for (unsigned i = 0; i < DATED_FILES; i++) {
        snprintf(name, sizeof(name), "dated-%u", i);
        visit(i, name);
    }
}

static void date_and_check(unsigned i, const char *name)
{
    static unsigned char data[2 * CHUNK + 1000];

    fill(data, sizeof(data), 3);
    date_file(i, name, data, i % 3 == 0 ? 4 : sizeof(data));
    check_dated(name);
}

static void check_dated_again(unsigned i, const char *name)
{
    (void)i;
    check_dated(name);
}

static void c23_keeps_times_when_set_after_writing(void)
{
    for_each_dated(date_and_check);
}

static void c23_keeps_times_a_while_later(void)
{
    usleep(2000000);
    for_each_dated(check_dated_again);
}

static void c23_keeps_times_after_remount(void)
{
    for_each_dated(check_dated_again);
}

#define MODE_FILES 100

/* Half by descriptor before close(2), half by path right after it, while the daemon may still be closing. */
static void keeps_mode_and_times_when_closed_at_the_same_moment(void)
{
    static unsigned char data[2 * CHUNK + 1000];
    char name[32];

    fill(data, sizeof(data), 3);
    for (int i = 0; i < MODE_FILES; i++) {
        int fd;

        snprintf(name, sizeof(name), "mode-%d", i);
        fd = open_new(name);
        write_at(fd, data, sizeof(data), 0);
        if (i % 2)
            CHECK_OK(futimens(fd, in_2020));
        CHECK_OK(close(fd));
        CHECK_OK(chmod(name, 0604));
        if (i % 2 == 0)
            CHECK_OK(utimensat(AT_FDCWD, name, in_2020, 0));
    }
}

static void keeps_mode_and_times_after_remount(void)
{
    char name[32];

    for (int i = 0; i < MODE_FILES; i++) {
        snprintf(name, sizeof(name), "mode-%d", i);
        CHECK_EQ(status_of(name).st_mtim.tv_sec, YEAR_2020);
        CHECK_EQ(status_of(name).st_mode & 07777, 0604);
    }
}

/* What changes a file gives it the time of now. */
static void shows_a_new_time_when_changed(void)
{
    static const char *const ways[] = {"write", "append", "truncate", "ftruncate", "allocate", "copy", "map", "empty"};
    struct stat attributes;
    time_t before = time(NULL) - 2;
    int source;

    put("source", "some bytes");
    source = open_as("source", O_RDONLY);
    for (unsigned i = 0; i < COUNT_OF(ways); i++) {
        int fd = open_new("touched");
        unsigned char *memory;

        write_at(fd, "x", 1, 0);
        CHECK_OK(futimens(fd, in_2020));
        CHECK_OK(close(fd));
        check_dated("touched");
        fd = open("touched", O_RDWR | (i == 1 ? O_APPEND : 0) | (i == 7 ? O_TRUNC : 0));
        CHECK_OK(fd);
        switch (i) {
        case 0:
        case 1:
            CHECK_EQ(write(fd, "y", 1), 1);
            break;
        case 2:
            CHECK_OK(truncate("touched", 10));
            break;
        case 3:
            CHECK_OK(ftruncate(fd, 0));
            break;
        case 4:
            CHECK_OK(fallocate(fd, 0, 0, 100));
            break;
        case 5:
            CHECK_EQ(copy_file_range(source, (loff_t[]){0}, fd, NULL, 5, 0), 5);
            break;
        case 6:
            memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
            CHECK(memory != MAP_FAILED);
            memory[0] = 'm';
            CHECK_OK(msync(memory, 4096, MS_SYNC));
            munmap(memory, 4096);
            break;
        default:
            break;
        }
        attributes = status_of_open(fd);
        if (attributes.st_mtim.tv_sec < before || attributes.st_ctim.tv_sec < before)
            FAIL("%s: mtime %jd", ways[i], (intmax_t)attributes.st_mtim.tv_sec);
        CHECK_OK(close(fd));
        if (status_of("touched").st_mtim.tv_sec < before)
            FAIL("%s: mtime after close %jd", ways[i], (intmax_t)status_of("touched").st_mtim.tv_sec);
    }
    close(source);
}

/* A directory's times follow its names; reading and looking change no mtime. */
static void changes_times_of_directories_with_their_names(void)
{
    time_t before = time(NULL) - 2;

    CHECK_OK(mkdir("dated-directory", 0755));
    for (int i = 0; i < 5; i++) {
        CHECK_OK(utimensat(AT_FDCWD, "dated-directory", in_2020, 0));
        check_dated("dated-directory");
        switch (i) {
        case 0:
            put("dated-directory/file", "x");
            break;
        case 1:
            CHECK_OK(rename("dated-directory/file", "dated-directory/renamed"));
            break;
        case 2:
            CHECK_OK(link("dated-directory/renamed", "dated-directory/linked"));
            break;
        case 3:
            CHECK_OK(unlink("dated-directory/linked"));
            break;
        default:
            CHECK_OK(unlink("dated-directory/renamed"));
        }
        CHECK(status_of("dated-directory").st_mtim.tv_sec >= before);
    }
    CHECK_OK(utimensat(AT_FDCWD, "dated-directory", in_2020, 0));
    shell("ls dated-directory; touch -c dated-directory/absent");
    check_dated("dated-directory");
}

static void sets_one_time_and_keeps_the_other(void)
{
    const struct timespec only_access[2] = {{1000, 1}, {.tv_nsec = UTIME_OMIT}};
    const struct timespec only_modification[2] = {{.tv_nsec = UTIME_OMIT}, {2000, 2}};
    const struct timespec early[2] = {{-1, 0}, {-100000, 999999999}};
    struct stat attributes;

    put("one", "text");
    CHECK_OK(utimensat(AT_FDCWD, "one", in_2020, 0));
    CHECK_OK(utimensat(AT_FDCWD, "one", only_access, 0));
    attributes = status_of("one");
    CHECK_EQ(attributes.st_atim.tv_sec, 1000);
    CHECK_EQ(attributes.st_mtim.tv_sec, YEAR_2020);
    CHECK_OK(utimensat(AT_FDCWD, "one", only_modification, 0));
    attributes = status_of("one");
    CHECK_EQ(attributes.st_atim.tv_sec, 1000);
    CHECK_EQ(attributes.st_mtim.tv_sec, 2000);
    CHECK_EQ(attributes.st_mtim.tv_nsec, 2);
    CHECK_OK(utimensat(AT_FDCWD, "one", early, 0));
    attributes = status_of("one");
    CHECK_EQ(attributes.st_mtim.tv_sec, -100000);
    CHECK_EQ(attributes.st_mtim.tv_nsec, 999999999);
    CHECK_OK(symlink("one", "dated-symlink"));
    CHECK_OK(utimensat(AT_FDCWD, "dated-symlink", in_2020, AT_SYMLINK_NOFOLLOW));
    check_dated("dated-symlink");
    CHECK_EQ(status_of("one").st_mtim.tv_sec, -100000);
}

#define CLOSED_FILES 60

/* Asks the file system, not the kernel's cache. */
static struct statx_timestamp ctime_now(const char *name)
{
    struct statx attributes;

    CHECK_OK(statx(AT_FDCWD, name, AT_STATX_FORCE_SYNC, STATX_CTIME, &attributes));
    return attributes.stx_ctime;
}

static void check_ctime_stays(const char *name, struct statx_timestamp before)
{
    struct statx_timestamp now = ctime_now(name);

    CHECK_EQ(now.tv_sec, before.tv_sec);
    CHECK_EQ(now.tv_nsec, before.tv_nsec);
}

/* Buffers, an index and times may be written below when close(2) has returned. No program is to see that. */
/* RELEASE comes after close(2) has returned, and writes below. No program is to see that. */
static void keeps_ctime_when_closed(void)
{
    static unsigned char data[3 * CHUNK + 77];
    struct statx_timestamp before[CLOSED_FILES], now;
    char name[32];
    int fd, other;

    /* The kernel keeps ctime itself then, and takes the file system's when it has forgotten the inode. */
    if (has_option("writeback"))
        return;
    fill(data, sizeof(data), 5);
    for (int i = 0; i < CLOSED_FILES; i++) {
        snprintf(name, sizeof(name), "closed-%d", i);
        fd = open_new(name);
        write_at(fd, data, sizeof(data), 0);
        other = dup(fd);
        CHECK_OK(close(fd)); /* a FLUSH; RELEASE comes with the other */
        before[i] = ctime_now(name);
        CHECK_OK(close(other));
    }
    for (int i = 0; i < CLOSED_FILES; i++) {
        snprintf(name, sizeof(name), "closed-%d", i);
        check_ctime_stays(name, before[i]);
        fd = open_as(name, i % 2 ? O_RDWR : O_RDONLY);
        check_ctime_stays(name, before[i]);
        CHECK_OK(close(fd));
        check_ctime_stays(name, before[i]);
    }
    usleep(20000);
    CHECK_OK(chmod(name, 0604));
    now = ctime_now(name);
    CHECK(now.tv_sec != before[CLOSED_FILES - 1].tv_sec || now.tv_nsec != before[CLOSED_FILES - 1].tv_nsec);
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c23_keeps_times_when_set_after_writing),
        CASE(keeps_mode_and_times_when_closed_at_the_same_moment),
        CASE(shows_a_new_time_when_changed),
        CASE(changes_times_of_directories_with_their_names),
        CASE(sets_one_time_and_keeps_the_other),
        CASE(c23_keeps_times_a_while_later),
        CASE(keeps_ctime_when_closed),
    };
    static const struct test_case check_cases[] = {
        CASE(c23_keeps_times_after_remount),
        CASE(keeps_mode_and_times_after_remount),
    };

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
