/* Links, renames and files without a name: C20, C21, C22. */
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "common.h"

#ifndef RENAME_WHITEOUT
#define RENAME_WHITEOUT (1 << 2)
#endif

static void check_links(void)
{
    struct stat a = status_of("link-a"), b = status_of("link-b");

    CHECK_EQ(a.st_size, 3);
    CHECK_EQ(b.st_size, 3);
    CHECK_EQ(a.st_ino, b.st_ino);
    CHECK_EQ(a.st_nlink, 2);
    CHECK_EQ(b.st_nlink, 2);
    check_text("link-b", "hi\n");
    CHECK_EQ(status_of("written-a").st_size, 7);
    CHECK_EQ(status_of("written-a").st_ino, status_of("dir/written-b").st_ino);
    check_text("written-a", "via b a");
}

static void c20_shows_size_and_count_of_hard_links(void)
{
    int a, b;

    unlink("link-b");
    shell("echo hi >link-a; ln link-a link-b; test \"$(stat -c '%s %h' link-b)\" = '3 2'");
    /* A link to a file that is open and written, by either name. */
    mkdir("dir", 0755);
    unlink("dir/written-b");
    a = open_new("written-a");
    write_at(a, "text", 4, 0);
    CHECK_OK(link("written-a", "dir/written-b"));
    CHECK_EQ(status_of_open(a).st_nlink, 2);
    CHECK_EQ(status_of("dir/written-b").st_size, 4);
    b = open_as("dir/written-b", O_RDWR);
    write_at(b, "via b", 5, 0);
    write_at(a, " a", 2, 5);
    CHECK_EQ(status_of_open(b).st_size, 7);
    close(a);
    close(b);
    check_links();
}

static void c20_counts_links_as_they_come_and_go(void)
{
    char name[32];
    int fd;

    put("counted", "text");
    fd = open_as("counted", O_RDONLY);
    for (unsigned i = 1; i <= 20; i++) {
        snprintf(name, sizeof(name), "counted-%u", i);
        CHECK_OK(link("counted", name));
        CHECK_EQ(status_of(name).st_nlink, i + 1);
        CHECK_EQ(status_of_open(fd).st_nlink, i + 1);
    }
    for (unsigned i = 20; i >= 1; i--) {
        snprintf(name, sizeof(name), "counted-%u", i);
        CHECK_OK(unlink(name));
        CHECK_EQ(status_of("counted").st_nlink, i);
    }
    CHECK_ERROR(link("counted", "counted"), EEXIST);
    CHECK_ERROR(link(".", "linked-directory"), EPERM);
    CHECK_ERROR(link("absent", "linked"), ENOENT);
    CHECK_OK(symlink("absent", "dangling"));
    CHECK_OK(link("dangling", "linked-dangling"));
    CHECK_EQ(status_of("linked-dangling").st_ino, status_of("dangling").st_ino);
    CHECK_OK(unlink("dangling"));
    CHECK_OK(unlink("linked-dangling"));
    close(fd);
}

static void c21_reads_the_old_file_when_renamed_over(void)
{
    static const size_t sizes[] = {3, 5000, 2 * CHUNK};
    unsigned char *expected = allocate(2 * CHUNK);

    for (unsigned i = 0; i < COUNT_OF(sizes); i++) {
        int fd, writer;

        put_filled("target", sizes[i], i);
        fill(expected, sizes[i], i);
        fd = open_as("target", O_RDONLY);
        writer = open_as("target", O_RDWR);
        put_filled("source", 100, 50);
        CHECK_OK(rename("source", "target"));
        check_filled("target", 100, 50);
        check_open(fd, expected, sizes[i]);
        CHECK_EQ(status_of_open(fd).st_nlink, 0);
        expected[0] ^= 1;
        write_at(writer, expected, 1, 0);
        check_open(fd, expected, sizes[i]);
        check_filled("target", 100, 50);
        close(fd);
        close(writer);
    }
    free(expected);
}

static void replace(void *name)
{
    char temporary[64];

    snprintf(temporary, sizeof(temporary), "%s.new", (char *)name);
    for (int i = 0; i < 300; i++) {
        put(temporary, "x");
        CHECK_OK(rename(temporary, name));
    }
}

/* Opened, looked up, and followed by a symbolic link. */
static void c21_never_misses_a_name_when_it_is_replaced(void)
{
    struct stat attributes;
    int status, fd;
    pid_t child;

    put("replaced", "x");
    unlink("to-replaced");
    CHECK_OK(symlink("replaced", "to-replaced"));
    child = child_start(replace, (char[]){"replaced"});
    while (waitpid(child, &status, WNOHANG) == 0) {
        fd = open_as("replaced", O_RDONLY);
        CHECK_EQ(status_of_open(fd).st_size, 1);
        close(fd);
        CHECK_OK(stat("to-replaced", &attributes));
        CHECK_OK(access("replaced", R_OK));
    }
    CHECK_EQ(status, 0);
}

static void c22_works_when_unlinked_while_open(void)
{
    static const size_t sizes[] = {10, 4096, CHUNK + 10};

    for (unsigned i = 0; i < COUNT_OF(sizes) * 2; i++) {
        size_t size = sizes[i / 2];
        unsigned char *expected = allocate(size + 8);
        int fd = open_new("unlinked"), second;

        fill(expected, size, i);
        write_at(fd, expected, size, 0);
        second = open_as("unlinked", O_RDONLY);
        if (i % 2) {
            put("other", "over it");
            CHECK_OK(rename("other", "unlinked"));
        } else {
            CHECK_OK(unlink("unlinked"));
            put("unlinked", "another of that name");
        }
        CHECK_EQ(status_of_open(fd).st_size, size);
        CHECK_EQ(status_of_open(fd).st_nlink, 0);
        CHECK_OK(fchmod(fd, 0600));
        CHECK_EQ(status_of_open(fd).st_mode & 07777, 0600);
        CHECK_OK(fchown(fd, geteuid(), getegid()));
        CHECK_OK(futimens(fd, (const struct timespec[2]){{1577836800, 0}, {1577836800, 0}}));
        CHECK_EQ(status_of_open(second).st_mtim.tv_sec, 1577836800);
        CHECK_OK(ftruncate(fd, (off_t)size / 2));
        write_at(fd, "abc", 3, (off_t)size / 2);
        memcpy(expected + size / 2, "abc", 3);
        check_open(second, expected, size / 2 + 3);
        CHECK_OK(fsync(fd));
        check_open(fd, expected, size / 2 + 3);
        CHECK_OK(close(fd));
        check_open(second, expected, size / 2 + 3);
        close(second);
        CHECK_OK(unlink("unlinked"));
        free(expected);
    }
}

static void c22_opens_by_the_new_name_when_renamed(void)
{
    int fd = open_new("before"), again;

    write_at(fd, "0123456789", 10, 0);
    mkdir("dir", 0755);
    CHECK_OK(rename("before", "dir/after"));
    check_text("dir/after", "0123456789");
    CHECK_ERROR(open("before", O_RDONLY), ENOENT);
    again = open_as("dir/after", O_RDWR);
    write_at(again, "abc", 3, 10);
    CHECK_EQ(status_of_open(fd).st_size, 13);
    CHECK_OK(rename("dir", "moved-dir"));
    check_text("moved-dir/after", "0123456789abc");
    CHECK_ERROR(open("dir/after", O_RDONLY), ENOENT);
    write_at(fd, "d", 1, 13);
    CHECK_OK(rename("moved-dir", "dir"));
    check_text("dir/after", "0123456789abcd");
    close(again);
    close(fd);
}

static void c22_works_in_a_directory_that_was_removed(void)
{
    int fd;

    CHECK_OK(mkdir("gone", 0755));
    fd = open_as("gone", O_RDONLY | O_DIRECTORY);
    CHECK_OK(rmdir("gone"));
    CHECK_OK(mkdir("gone", 0700));
    CHECK_ERROR(openat(fd, "new", O_CREAT | O_WRONLY, 0600), ENOENT);
    CHECK_ERROR(mkdirat(fd, "new", 0700), ENOENT);
    CHECK_EQ(status_of_open(fd).st_mode & 07777, 0755);
    CHECK_OK(fchmod(fd, 0711));
    CHECK_EQ(status_of("gone").st_mode & 07777, 0700);
    close(fd);
    CHECK_OK(rmdir("gone"));
}

static void makes_files_without_a_name(void)
{
    int fd = open(".", O_TMPFILE | O_RDWR, 0640);
    char path[64];

    if (fd < 0 && errno == EOPNOTSUPP)
        return; /* an older libfuse, as without it on NFS */
    CHECK_OK(fd);
    write_at(fd, "temporary", 9, 0);
    CHECK_EQ(status_of_open(fd).st_nlink, 0);
    CHECK_EQ(status_of_open(fd).st_mode & 07777, 0640);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    unlink("named");
    CHECK_OK(linkat(AT_FDCWD, path, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
    CHECK_EQ(status_of_open(fd).st_nlink, 1);
    close(fd);
    check_text("named", "temporary");
    fd = open(".", O_TMPFILE | O_RDWR | O_EXCL, 0640);
    CHECK_OK(fd);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    CHECK_ERROR(linkat(AT_FDCWD, path, AT_FDCWD, "excluded", AT_SYMLINK_FOLLOW), ENOENT);
    close(fd);
}

static void renames_with_flags(void)
{
    put("left", "l");
    put("right", "r");
    CHECK_ERROR(renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_NOREPLACE), EEXIST);
    CHECK_OK(renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_EXCHANGE));
    check_text("left", "r");
    check_text("right", "l");
    CHECK_ERROR(renameat2(AT_FDCWD, "left", AT_FDCWD, "absent", RENAME_EXCHANGE), ENOENT);
    CHECK_ERROR(renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_EXCHANGE | RENAME_NOREPLACE), EINVAL);
    CHECK_OK(mkdir("exchanged", 0755));
    put("exchanged/inside", "i");
    CHECK_OK(renameat2(AT_FDCWD, "left", AT_FDCWD, "exchanged", RENAME_EXCHANGE));
    check_text("left/inside", "i");
    check_text("exchanged", "r");
    CHECK_OK(unlink("left/inside"));
    CHECK_OK(rmdir("left"));
    if (geteuid() == 0 && renameat2(AT_FDCWD, "right", AT_FDCWD, "exchanged", RENAME_WHITEOUT) == 0) {
        CHECK(S_ISCHR(status_of("right").st_mode) && status_of("right").st_rdev == 0);
        check_text("exchanged", "l");
        CHECK_OK(unlink("right"));
    }
}

static void refuses_wrong_renames(void)
{
    CHECK_OK(mkdir("outer", 0755));
    CHECK_OK(mkdir("outer/inner", 0755));
    put("plain", "p");
    CHECK_ERROR(rename("outer", "outer/inner/outer"), EINVAL);
    CHECK_ERROR(rename("plain", "outer"), EISDIR);
    CHECK_ERROR(rename("outer", "plain"), ENOTDIR);
    CHECK_ERROR(rename("outer/inner", "outer"), ENOTEMPTY);
    CHECK_ERROR(rename("absent", "plain"), ENOENT);
    CHECK_ERROR(rmdir("outer"), ENOTEMPTY);
    CHECK_ERROR(rmdir("plain"), ENOTDIR);
    CHECK_ERROR(unlink("outer"), EISDIR);
    CHECK_ERROR(rename("outer", "."), EBUSY);
    /* Two names of one file: nothing happens. */
    CHECK_OK(link("plain", "plain-too"));
    CHECK_OK(rename("plain", "plain-too"));
    CHECK_EQ(status_of("plain").st_nlink, 2);
    CHECK_OK(unlink("plain-too"));
    CHECK_OK(rename("plain", "plain"));
    CHECK_OK(rmdir("outer/inner"));
    CHECK_OK(mkdir("empty", 0755));
    CHECK_OK(rename("outer", "empty"));
    CHECK_OK(rmdir("empty"));
}

static void takes_every_name(void)
{
    char name[300];

    for (unsigned byte = 1; byte < 256; byte++) {
        snprintf(name, sizeof(name), "odd-%c-name", (int)byte);
        if (byte == '/')
            continue;
        put(name, "odd");
        check_text(name, "odd");
        CHECK_OK(unlink(name));
    }
    memset(name, 'n', sizeof(name));
    name[255] = '\0';
    put(name, "long");
    CHECK_OK(symlink("long", "l"));
    CHECK_OK(unlink("l"));
    CHECK_OK(unlink(name));
    name[255] = 'n';
    name[256] = '\0';
    CHECK_ERROR(open(name, O_CREAT | O_WRONLY, 0600), ENAMETOOLONG);
    CHECK_ERROR(mkdir(name, 0700), ENAMETOOLONG);
}

static void keeps_symbolic_links(void)
{
    char target[4096], found[4097];

    memset(target, 't', sizeof(target));
    target[1023] = '\0'; /* XFS' limit, the smallest of the usual ones */
    unlink("symlink");
    CHECK_OK(symlink(target, "symlink"));
    CHECK_EQ(readlink("symlink", found, sizeof(found)), 1023);
    CHECK_EQ(memcmp(found, target, 1023), 0);
    CHECK_EQ(status_of("symlink").st_size, 1023);
    CHECK_ERROR(symlink("", "empty-symlink"), ENOENT);
    CHECK_ERROR(readlink(".", found, sizeof(found)), EINVAL);
    CHECK_OK(symlink("loop-b", "loop-a"));
    CHECK_OK(symlink("loop-a", "loop-b"));
    CHECK_ERROR(open("loop-a", O_RDONLY), ELOOP);
    CHECK_ERROR(open("symlink", O_RDONLY | O_NOFOLLOW), ELOOP);
    CHECK_OK(unlink("loop-a"));
    CHECK_OK(unlink("loop-b"));
}

static void makes_nodes_of_every_kind(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);

    unlink("socket");
    CHECK_OK(bind(server, (struct sockaddr *)&address, sizeof(address)));
    CHECK_OK(listen(server, 1));
    CHECK(S_ISSOCK(status_of("socket").st_mode));
    CHECK_OK(connect(client, (struct sockaddr *)&address, sizeof(address)));
    close(server);
    close(client);
    shell("rm -f fifo && mkfifo -m 640 fifo && (echo through >fifo & test \"$(cat fifo)\" = through; wait)");
    CHECK(S_ISFIFO(status_of("fifo").st_mode));
    CHECK_EQ(status_of("fifo").st_mode & 07777, 0640);
    CHECK_ERROR(mknod("fifo", S_IFREG | 0600, 0), EEXIST);
    if (geteuid() != 0)
        return;
    unlink("device");
    CHECK_OK(mknod("device", S_IFCHR | 0666, makedev(1, 3)));
    CHECK(S_ISCHR(status_of("device").st_mode) && status_of("device").st_rdev == makedev(1, 3));
    unlink("block");
    CHECK_OK(mknod("block", S_IFBLK | 0600, makedev(7, 1000)));
    CHECK(S_ISBLK(status_of("block").st_mode) && status_of("block").st_rdev == makedev(7, 1000));
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c20_shows_size_and_count_of_hard_links),
        CASE(c20_counts_links_as_they_come_and_go),
        CASE(c21_reads_the_old_file_when_renamed_over),
        CASE(c21_never_misses_a_name_when_it_is_replaced),
        CASE(c22_works_when_unlinked_while_open),
        CASE(c22_opens_by_the_new_name_when_renamed),
        CASE(c22_works_in_a_directory_that_was_removed),
        CASE(makes_files_without_a_name),
        CASE(renames_with_flags),
        CASE(refuses_wrong_renames),
        CASE(takes_every_name),
        CASE(keeps_symbolic_links),
        CASE(makes_nodes_of_every_kind),
    };
    static const struct test_case check_cases[] = {CASE(check_links)};

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
