/*
 * What programs may expect of a file system, asked of a mount. Usage: semantics MOUNT LOWER write|check; "check" runs
 * after another mount and looks at what "write" left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "harness.h"

#define CHUNK 131072

static int open_new(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

    if (fd < 0)
        FAIL("%s: %s", path, strerror(errno));
    return fd;
}

static struct stat status_of(const char *path)
{
    struct stat attributes;

    if (lstat(path, &attributes) < 0)
        FAIL("%s: %s", path, strerror(errno));
    return attributes;
}

static void put(const char *path, const char *text)
{
    int fd = open_new(path);

    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    CHECK_EQ(close(fd), 0);
}

static void check_text(const char *path, const char *expected)
{
    char text[256] = "";
    int fd = open(path, O_RDONLY);

    CHECK(fd >= 0);
    CHECK(read(fd, text, sizeof(text) - 1) >= 0);
    close(fd);
    CHECK_STR(text, expected);
}

/* Bytes that differ everywhere and compress only partly. */
static void fill(unsigned char *data, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)((i * 2654435761u + seed) >> (i % 3 ? 13 : 27));
}

static void check_filled(const char *path, size_t size, unsigned seed)
{
    unsigned char *expected = malloc(size + 1), *found = malloc(size + 1);
    int fd = open(path, O_RDONLY);

    CHECK(fd >= 0 && expected && found);
    fill(expected, size, seed);
    CHECK_EQ(read(fd, found, size + 1), (ssize_t)size);
    CHECK_EQ(memcmp(found, expected, size), 0);
    close(fd);
    free(expected);
    free(found);
}

static void put_filled(const char *path, size_t size, unsigned seed)
{
    unsigned char *data = malloc(size + 1);
    int fd = open_new(path);

    CHECK(data != NULL);
    fill(data, size, seed);
    CHECK_EQ(write(fd, data, size), (ssize_t)size);
    CHECK_EQ(close(fd), 0);
    free(data);
}

static void keeps_order_when_truncated_by_path_between_writes(void)
{
    char data[4096], found[64] = "";
    int fd = open_new("truncated");

    memset(data, 'a', sizeof(data));
    CHECK_EQ(write(fd, data, sizeof(data)), (ssize_t)sizeof(data));
    CHECK_EQ(truncate("truncated", 8), 0);
    CHECK_EQ(pwrite(fd, "0123456789", 10, 12), 10);
    CHECK_EQ(pread(fd, found, sizeof(found), 0), 22);
    CHECK_EQ(memcmp(found, "aaaaaaaa\0\0\0\0" "0123456789", 22), 0);
    close(fd);
}

static void refuses_ftruncate_when_open_for_reading(void)
{
    int fd;

    put("read-only", "sixteen bytes...");
    fd = open("read-only", O_RDONLY);
    CHECK_EQ(truncate("read-only", 8), 0);
    CHECK_EQ(ftruncate(fd, 4), -1);
    CHECK(errno == EINVAL || errno == EBADF);
    CHECK_EQ(status_of("read-only").st_size, 8);
    close(fd);
}

static void appends_when_two_processes_alternate(void)
{
    char expected[41] = "";

    put("appended", "");
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        int status;

        if (child == 0) {
            int fd = open("appended", O_WRONLY | O_APPEND);

            _exit(write(fd, i % 2 ? "foo\n" : "bar\n", 4) == 4 ? 0 : 1);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        strcat(expected, i % 2 ? "foo\n" : "bar\n");
    }
    check_text("appended", expected);
}

static void shows_size_zero_at_once_when_another_truncates(void)
{
    struct stat attributes;
    char byte;
    int reader, writer;

    put("emptied", "some text");
    reader = open("emptied", O_RDONLY);
    writer = open("emptied", O_RDWR | O_TRUNC);
    CHECK(reader >= 0 && writer >= 0);
    CHECK_EQ(fstat(reader, &attributes), 0);
    CHECK_EQ(attributes.st_size, 0);
    CHECK_EQ(read(reader, &byte, 1), 0);
    close(reader);
    close(writer);
}

static void shows_mapped_stores_when_read_by_another(void)
{
    int fd = open_new("mapped"), status;
    char *memory;
    pid_t child;

    CHECK_EQ(ftruncate(fd, 8192), 0);
    memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED && errno == ENODEV) {
        close(fd); /* the kernel maps no direct-I/O files shared; cache=none says so in the manual */
        return;
    }
    CHECK(memory != MAP_FAILED);
    memcpy(memory + 4090, "across pages", 12);
    CHECK_EQ(msync(memory, 8192, MS_SYNC), 0);
    child = fork();
    if (child == 0) {
        char found[12];
        int other = open("mapped", O_RDONLY);

        _exit(pread(other, found, 12, 4090) == 12 && memcmp(found, "across pages", 12) == 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    munmap(memory, 8192);
    close(fd);
}

static void reads_all_when_written_just_before(void)
{
    for (unsigned i = 0; i < 50; i++) {
        put_filled("fresh", 50000 + i * 997, i);
        check_filled("fresh", 50000 + i * 997, i);
        CHECK_EQ(unlink("fresh"), 0);
    }
}

/* Sizes around every boundary; read again after the next mount. */
static const size_t kept_sizes[] = {0,     1,         2,         63,            64,    65,       511,          512,
                                    513,   4095,      4096,      4097,          16383, 16384,    16385,        CHUNK - 1,
                                    CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1, 999999, 8 * CHUNK, 5 * CHUNK - 7};

#define KEPT_COUNT (sizeof(kept_sizes) / sizeof(kept_sizes[0]))

static void check_kept_sizes(void)
{
    char name[32];

    for (unsigned i = 0; i < KEPT_COUNT; i++) {
        snprintf(name, sizeof(name), "size-%zu", kept_sizes[i]);
        CHECK_EQ(status_of(name).st_size, kept_sizes[i]);
        check_filled(name, kept_sizes[i], i);
    }
}

static void keeps_files_of_every_size(void)
{
    char name[32];

    for (unsigned i = 0; i < KEPT_COUNT; i++) {
        snprintf(name, sizeof(name), "size-%zu", kept_sizes[i]);
        put_filled(name, kept_sizes[i], i);
    }
    check_kept_sizes();
}

static void check_sparse(void)
{
    struct stat attributes = status_of("sparse");
    char found[8];
    int fd = open("sparse", O_RDONLY);

    CHECK_EQ(attributes.st_size, (off_t)1 << 30);
    CHECK(attributes.st_blocks > 0 && attributes.st_blocks < 4096);
    CHECK_EQ(pread(fd, found, 4, 512 << 20), 4);
    CHECK_EQ(memcmp(found, "data", 4), 0);
    CHECK_EQ(pread(fd, found, 4, 100), 4);
    CHECK_EQ(memcmp(found, "\0\0\0\0", 4), 0);
    CHECK(lseek(fd, 0, SEEK_DATA) > 0);
    CHECK(lseek(fd, 0, SEEK_DATA) <= 512 << 20);
    CHECK_EQ(lseek(fd, 0, SEEK_HOLE), 0);
    close(fd);
}

static void keeps_holes(void)
{
    int fd = open_new("sparse");

    CHECK_EQ(pwrite(fd, "data", 4, 512 << 20), 4);
    CHECK_EQ(ftruncate(fd, (off_t)1 << 30), 0);
    CHECK_EQ(close(fd), 0);
    check_sparse();
}

static void copies_ranges_twice_and_across_chunks(void)
{
    int in, out;

    put_filled("range-in", 2 * CHUNK, 7);
    in = open("range-in", O_RDONLY);
    out = open_new("range-out");
    for (off_t done = 0; done < 2 * CHUNK;) {
        loff_t from = done, to = done;
        ssize_t copied = copy_file_range(in, &from, out, &to, 100001, 0);

        CHECK(copied > 0);
        done += copied;
    }
    close(out);
    check_filled("range-out", 2 * CHUNK, 7);
    close(in);
}

static void reads_the_full_length_when_extended_after_reading(void)
{
    int fd = open_new("extended");
    char found[64];

    CHECK_EQ(pwrite(fd, "0123456789", 10, 0), 10);
    CHECK_EQ(pread(fd, found, sizeof(found), 0), 10);
    CHECK_EQ(pwrite(fd, "abcdefghij", 10, 10), 10);
    CHECK_EQ(pread(fd, found, sizeof(found), 0), 20);
    CHECK_EQ(memcmp(found, "0123456789abcdefghij", 20), 0);
    close(fd);
}

static void check_links(void)
{
    struct stat a = status_of("link-a"), b = status_of("link-b");

    CHECK_EQ(b.st_size, 3);
    CHECK_EQ(a.st_ino, b.st_ino);
    CHECK_EQ(b.st_nlink, 2);
    check_text("link-b", "hi\n");
}

static void keeps_hard_links(void)
{
    put("link-a", "hi\n");
    unlink("link-b");
    CHECK_EQ(link("link-a", "link-b"), 0);
    check_links();
}

static void reads_the_old_file_when_renamed_over(void)
{
    char found[8] = "";
    int fd;

    put("target", "old");
    fd = open("target", O_RDONLY);
    put("source", "new");
    CHECK_EQ(rename("source", "target"), 0);
    check_text("target", "new");
    CHECK_EQ(pread(fd, found, 7, 0), 3);
    CHECK_STR(found, "old");
    close(fd);
}

static void never_misses_a_name_when_it_is_replaced(void)
{
    pid_t child;
    int status;

    put("replaced", "x");
    child = fork();
    if (child == 0) {
        for (int i = 0; i < 300; i++) {
            int fd = open("replacement", O_WRONLY | O_CREAT, 0644);

            if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) < 0 || rename("replacement", "replaced") < 0)
                _exit(1);
        }
        _exit(0);
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        int fd = open("replaced", O_RDONLY);

        if (fd < 0)
            FAIL("open: %s", strerror(errno));
        close(fd);
    }
    CHECK_EQ(status, 0);
}

static void works_when_unlinked_while_open(void)
{
    struct stat attributes;
    char found[16] = "";
    int fd = open_new("unlinked");

    CHECK_EQ(write(fd, "0123456789", 10), 10);
    CHECK_EQ(unlink("unlinked"), 0);
    CHECK_EQ(fstat(fd, &attributes), 0);
    CHECK_EQ(attributes.st_size, 10);
    CHECK_EQ(attributes.st_nlink, 0);
    CHECK_EQ(fchmod(fd, 0600), 0);
    CHECK_EQ(ftruncate(fd, 5), 0);
    CHECK_EQ(pwrite(fd, "abc", 3, 5), 3);
    CHECK_EQ(pread(fd, found, 15, 0), 8);
    CHECK_STR(found, "01234abc");
    CHECK_EQ(close(fd), 0);
}

static void check_times(void)
{
    CHECK_EQ(status_of("dated").st_mtim.tv_sec, 1577836800);
    CHECK_EQ(status_of("dated").st_mtim.tv_nsec, 500);
}

static void keeps_times_when_set_before_closing(void)
{
    const struct timespec times[2] = {{1577836800, 500}, {1577836800, 500}};
    int fd = open_new("dated");

    CHECK_EQ(write(fd, "text", 4), 4);
    CHECK_EQ(futimens(fd, times), 0);
    CHECK_EQ(close(fd), 0);
    check_times();
    usleep(1500000);
    check_times();
}

#define DATED_FILES 200

/* Half by descriptor before close(2), half by path right after it, while the daemon may still be closing. */
static void keeps_mode_and_times_when_closed_at_the_same_moment(void)
{
    const struct timespec times[2] = {{1577836800, 500}, {1577836800, 500}};
    static unsigned char data[2 * CHUNK + 1000];
    char name[32];

    fill(data, sizeof(data), 3);
    for (int i = 0; i < DATED_FILES; i++) {
        int fd;

        snprintf(name, sizeof(name), "dated-%d", i);
        fd = open_new(name);
        CHECK_EQ(write(fd, data, sizeof(data)), sizeof(data));
        if (i % 2)
            CHECK_EQ(futimens(fd, times), 0);
        CHECK_EQ(close(fd), 0);
        CHECK_EQ(chmod(name, 0604), 0);
        if (i % 2 == 0)
            CHECK_EQ(utimensat(AT_FDCWD, name, times, 0), 0);
    }
}

static void check_mode_and_times(void)
{
    char name[32];

    for (int i = 0; i < DATED_FILES; i++) {
        snprintf(name, sizeof(name), "dated-%d", i);
        CHECK_EQ(status_of(name).st_mtim.tv_sec, 1577836800);
        CHECK_EQ(status_of(name).st_mode & 07777, 0604);
    }
}

static void shows_a_new_time_when_written(void)
{
    const struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    struct stat attributes;
    int fd = open_new("touched");

    CHECK_EQ(futimens(fd, old), 0);
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_EQ(fsync(fd), 0);
    CHECK_EQ(fstat(fd, &attributes), 0);
    CHECK(attributes.st_mtim.tv_sec > 1500000000);
    close(fd);
    CHECK(status_of("touched").st_mtim.tv_sec > 1500000000);
}

static void syncs_a_directory(void)
{
    int fd = open(".", O_RDONLY | O_DIRECTORY);

    CHECK(fd >= 0);
    CHECK_EQ(fsync(fd), 0);
    close(fd);
}

static void loses_privilege_when_written_by_a_user(void)
{
    struct stat attributes;
    pid_t child;
    int status;

    if (geteuid() != 0 || !getenv("TALLY_ALLOW_OTHER"))
        return;
    put("setid", "text");
    CHECK_EQ(chmod("setid", 06777), 0);
    child = fork();
    if (child == 0) {
        int fd;

        if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
            _exit(1);
        fd = open("setid", O_RDWR);
        _exit(fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0 ? 0 : 2);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    sleep(1);
    attributes = status_of("setid");
    CHECK_EQ(attributes.st_mode & 07777, 0777);
}

/* Reads "many" with a buffer of a few entries and counts the names n0 to n(COUNT-1). */
static void list_into(unsigned *seen, int count)
{
    _Alignas(struct dirent64) char buffer[sizeof(struct dirent64)]; /* a few names at a time */
    int fd = open("many", O_RDONLY | O_DIRECTORY), number;
    long got;

    CHECK(fd >= 0);
    while ((got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0) {
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(buffer + at);

            if (sscanf(entry->d_name, "n%d", &number) == 1 && number < count)
                seen[number]++;
            at += entry->d_reclen;
        }
    }
    CHECK_EQ(got, 0);
    close(fd);
}

static void lists_each_name_once_when_removed_meanwhile(void)
{
    enum { COUNT = 3000 };
    static unsigned seen[COUNT];
    char name[64];

    memset(seen, 0, sizeof(seen));
    CHECK_EQ(mkdir("many", 0755), 0);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "many/n%d", i);
        CHECK_EQ(mknod(name, S_IFREG | 0644, 0), 0);
    }
    if (fork() == 0) {
        for (int i = 0; i < COUNT; i += 3) {
            snprintf(name, sizeof(name), "many/n%d", i);
            unlink(name);
            snprintf(name, sizeof(name), "many/new%d", i);
            mknod(name, S_IFREG | 0644, 0);
        }
        _exit(0);
    }
    list_into(seen, COUNT);
    CHECK(wait(NULL) > 0);
    for (int i = 0; i < COUNT; i++) {
        if (i % 3 ? seen[i] != 1 : seen[i] > 1)
            FAIL("n%d was listed %u times", i, seen[i]);
    }
}

static void excludes_another_process_when_locked(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open_new("locked"), status;
    pid_t child;

    CHECK_EQ(fcntl(fd, F_SETLK, &lock), 0);
    CHECK_EQ(flock(fd, LOCK_EX), 0);
    child = fork();
    if (child == 0) {
        int other = open("locked", O_RDWR);
        bool excluded = fcntl(other, F_SETLK, &lock) < 0 && flock(other, LOCK_EX | LOCK_NB) < 0;
        struct flock asked = lock;

        _exit(excluded && fcntl(other, F_GETLK, &asked) == 0 && asked.l_type == F_WRLCK ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    close(fd);
}

static void never_confuses_inodes_when_numbers_are_used_again(void)
{
    char name[32], text[32];

    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "again%d", i % 3);
        snprintf(text, sizeof(text), "file number %d", i);
        unlink(name);
        put(name, text);
        check_text(name, text);
    }
}

static void exchanges_and_does_not_replace_when_renamed_with_flags(void)
{
    put("left", "l");
    put("right", "r");
    CHECK_EQ(renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_NOREPLACE), -1);
    CHECK_EQ(errno, EEXIST);
    CHECK_EQ(renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_EXCHANGE), 0);
    check_text("left", "r");
    check_text("right", "l");
}

static void reads_back_a_container_written_as_data(void)
{
    static char bytes[65536];
    char path[4096];
    ssize_t size;
    int fd;

    /* The lower file of a compressed file, copied through the mount, is data like any other. */
    put_filled("original", 100000, 3);
    snprintf(path, sizeof(path), "%s/original", getenv("TALLY_LOWER"));
    fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    size = read(fd, bytes, sizeof(bytes));
    close(fd);
    fd = open_new("imitation");
    CHECK_EQ(write(fd, bytes, (size_t)size), size);
    CHECK_EQ(close(fd), 0);
    CHECK_EQ(status_of("imitation").st_size, size);
}

static void check_imitation(void)
{
    static char expected[65536], found[65537];
    char path[4096];
    ssize_t size;
    int fd;

    snprintf(path, sizeof(path), "%s/original", getenv("TALLY_LOWER"));
    fd = open(path, O_RDONLY);
    size = read(fd, expected, sizeof(expected));
    close(fd);
    fd = open("imitation", O_RDONLY);
    CHECK_EQ(read(fd, found, sizeof(found)), size);
    CHECK_EQ(memcmp(found, expected, (size_t)size), 0);
    close(fd);
}

static void passes_extended_attributes(void)
{
    char value[16] = "";

    put("attributed", "");
    if (setxattr("attributed", "user.note", "value", 5, 0) < 0 && errno == EOPNOTSUPP)
        return;
    CHECK_EQ(getxattr("attributed", "user.note", value, sizeof(value)), 5);
    CHECK_STR(value, "value");
    CHECK_EQ(listxattr("attributed", NULL, 0) > 0, 1);
    CHECK_EQ(removexattr("attributed", "user.note"), 0);
    CHECK_EQ(getxattr("attributed", "user.note", value, sizeof(value)), -1);
    CHECK_EQ(errno, ENODATA);
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(keeps_order_when_truncated_by_path_between_writes),
        CASE(refuses_ftruncate_when_open_for_reading),
        CASE(appends_when_two_processes_alternate),
        CASE(shows_size_zero_at_once_when_another_truncates),
        CASE(shows_mapped_stores_when_read_by_another),
        CASE(reads_all_when_written_just_before),
        CASE(keeps_files_of_every_size),
        CASE(keeps_holes),
        CASE(copies_ranges_twice_and_across_chunks),
        CASE(reads_the_full_length_when_extended_after_reading),
        CASE(keeps_hard_links),
        CASE(reads_the_old_file_when_renamed_over),
        CASE(never_misses_a_name_when_it_is_replaced),
        CASE(works_when_unlinked_while_open),
        CASE(keeps_times_when_set_before_closing),
        CASE(keeps_mode_and_times_when_closed_at_the_same_moment),
        CASE(shows_a_new_time_when_written),
        CASE(syncs_a_directory),
        CASE(loses_privilege_when_written_by_a_user),
        CASE(lists_each_name_once_when_removed_meanwhile),
        CASE(excludes_another_process_when_locked),
        CASE(never_confuses_inodes_when_numbers_are_used_again),
        CASE(exchanges_and_does_not_replace_when_renamed_with_flags),
        CASE(reads_back_a_container_written_as_data),
        CASE(passes_extended_attributes),
    };
    static const struct test_case check_cases[] = {
        CASE(check_kept_sizes), CASE(check_sparse), CASE(check_links), CASE(check_times), CASE(check_imitation),
        CASE(check_mode_and_times),
    };

    if (argc != 4 || chdir(argv[1]) < 0 || setenv("TALLY_LOWER", argv[2], 1) < 0) {
        fprintf(stderr, "usage: %s MOUNT LOWER write|check\n", argv[0]);
        return 2;
    }
    return strcmp(argv[3], "write") == 0 ? RUN_CASES(write_cases) : RUN_CASES(check_cases);
}
