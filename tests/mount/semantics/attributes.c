/* Modes, sizes and extended attributes, and data that looks like the mount's own. */
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "common.h"

static void lower_path(char path[4096], const char *name)
{
    snprintf(path, 4096, "%s/attributes/%s", getenv("TALLY_LOWER"), name);
}

/* The lower file of a compressed file, copied through the mount, is data like any other. */
static void check_imitation(void)
{
    static char expected[65536], found[65537];
    char path[4096];
    ssize_t size;
    int fd;

    lower_path(path, "original");
    fd = open_as(path, O_RDONLY);
    size = read(fd, expected, sizeof(expected));
    close(fd);
    CHECK_EQ(status_of("imitation").st_size, size);
    fd = open_as("imitation", O_RDONLY);
    CHECK_EQ(read(fd, found, sizeof(found)), size);
    CHECK_EQ(memcmp(found, expected, (size_t)size), 0);
    close(fd);
}

static void reads_back_a_container_written_as_data(void)
{
    static char bytes[65536];
    char path[4096];
    ssize_t size;
    int fd;

    put_filled("original", 100000, 3);
    lower_path(path, "original");
    fd = open_as(path, O_RDONLY);
    size = read(fd, bytes, sizeof(bytes));
    close(fd);
    fd = open_new("imitation");
    CHECK_EQ(write(fd, bytes, (size_t)size), size);
    CHECK_OK(close(fd));
    check_imitation();
}

static bool listed(const char *path, const char *name)
{
    char names[65536];
    ssize_t size = listxattr(path, names, sizeof(names));

    CHECK_OK(size);
    for (ssize_t at = 0; at < size; at += (ssize_t)strlen(names + at) + 1) {
        if (strcmp(names + at, name) == 0)
            return true;
    }
    return false;
}

static void passes_extended_attributes(void)
{
    char value[4096] = "", long_value[3000];

    put("attributed", "");
    CHECK_OK(mkdir("attributed-directory", 0755));
    for (int i = 0; i < 2; i++) {
        const char *path = i ? "attributed-directory" : "attributed";

        if (setxattr(path, "user.note", "value", 5, 0) < 0 && errno == EOPNOTSUPP)
            return; /* nor has the lower file system any */
        CHECK_EQ(getxattr(path, "user.note", NULL, 0), 5);
        CHECK_EQ(getxattr(path, "user.note", value, sizeof(value)), 5);
        CHECK_EQ(memcmp(value, "value", 5), 0);
        CHECK_ERROR(getxattr(path, "user.note", value, 2), ERANGE);
        CHECK(listed(path, "user.note"));
        CHECK_ERROR(setxattr(path, "user.note", "x", 1, XATTR_CREATE), EEXIST);
        CHECK_ERROR(setxattr(path, "user.absent", "x", 1, XATTR_REPLACE), ENODATA);
        CHECK_OK(setxattr(path, "user.note", "", 0, XATTR_REPLACE));
        CHECK_EQ(getxattr(path, "user.note", value, sizeof(value)), 0);
        memset(long_value, 'v', sizeof(long_value));
        CHECK_OK(setxattr(path, "user.long", long_value, sizeof(long_value), 0));
        CHECK_EQ(getxattr(path, "user.long", value, sizeof(value)), sizeof(long_value));
        CHECK_OK(removexattr(path, "user.note"));
        CHECK(!listed(path, "user.note"));
        CHECK_ERROR(removexattr(path, "user.note"), ENODATA);
        CHECK_ERROR(getxattr(path, "user.note", value, sizeof(value)), ENODATA);
    }
    CHECK_ERROR(setxattr("attributed", "nonsense", "x", 1, 0), EOPNOTSUPP);
    unlink("attributed-symlink");
    CHECK_OK(symlink("attributed", "attributed-symlink"));
    CHECK_ERROR(lsetxattr("attributed-symlink", "user.x", "x", 1, 0), EPERM);
    CHECK(listed("attributed-symlink", "user.long"));
}

static void check_extended_attributes(void)
{
    char value[4096];

    if (getxattr("attributed", "user.long", value, sizeof(value)) < 0 && errno == EOPNOTSUPP)
        return;
    CHECK_EQ(getxattr("attributed", "user.long", value, sizeof(value)), 3000);
    CHECK_EQ(getxattr("attributed-directory", "user.long", value, sizeof(value)), 3000);
}

static void sets_every_mode(void)
{
    struct stat attributes;

    put("moded", "x");
    CHECK_OK(mkdir("moded-directory", 0755));
    for (mode_t mode = 0; mode <= 07777; mode += 0111) {
        CHECK_OK(chmod("moded", mode));
        CHECK_EQ(status_of("moded").st_mode & 07777, mode);
        CHECK_OK(chmod("moded-directory", mode));
        CHECK_EQ(status_of("moded-directory").st_mode & 07777, mode);
    }
    CHECK_OK(chmod("moded-directory", 0755));
    CHECK_OK(chmod("moded", 0644));
    attributes = status_of("moded");
    CHECK_EQ(attributes.st_uid, geteuid());
    CHECK_OK(chown("moded", geteuid(), getegid()));
}

static void statx_answers_as_stat_does(void)
{
    struct stat attributes;
    struct statx answer;

    put_filled("statx", 10000, 1);
    attributes = status_of("statx");
    CHECK_OK(statx(AT_FDCWD, "statx", 0, STATX_BASIC_STATS | STATX_BTIME, &answer));
    CHECK_EQ(answer.stx_size, attributes.st_size);
    CHECK_EQ(answer.stx_ino, attributes.st_ino);
    CHECK_EQ(answer.stx_mode, attributes.st_mode);
    CHECK_EQ(answer.stx_blocks, attributes.st_blocks);
    CHECK_EQ(answer.stx_mtime.tv_sec, attributes.st_mtim.tv_sec);
    if (answer.stx_mask & STATX_BTIME)
        CHECK(answer.stx_btime.tv_sec <= answer.stx_ctime.tv_sec && answer.stx_btime.tv_sec > 1577836800);
    CHECK_OK(statx(AT_FDCWD, "statx", AT_STATX_FORCE_SYNC, STATX_SIZE, &answer));
    CHECK_EQ(answer.stx_size, 10000);
}

/* A file with data has blocks, one without has none; the size is right while it is written. */
static void counts_blocks(void)
{
    int fd = open_new("blocks");

    CHECK_EQ(status_of_open(fd).st_size, 0);
    for (int i = 1; i <= 50; i++) {
        char data[777];

        memset(data, i, sizeof(data));
        write_at(fd, data, sizeof(data), (i - 1) * 777);
        CHECK_EQ(status_of_open(fd).st_size, i * 777);
        CHECK_EQ(status_of("blocks").st_size, i * 777);
    }
    CHECK_OK(fsync(fd));
    CHECK(status_of_open(fd).st_blocks > 0);
    CHECK_OK(close(fd));
    CHECK(status_of("blocks").st_blocks > 0);
}

static void tells_about_the_file_system(void)
{
    struct statvfs above, below;

    CHECK_OK(statvfs(".", &above));
    CHECK_OK(statvfs(getenv("TALLY_LOWER"), &below));
    CHECK_EQ(above.f_blocks * (above.f_frsize / 512), below.f_blocks * (below.f_frsize / 512));
    CHECK_EQ(above.f_namemax, below.f_namemax);
    CHECK_EQ(above.f_files, below.f_files);
}

/* Attributes that others change below the mount are seen, at the latest when the kernel's copy has timed out. */
static void follows_changes_below_the_mount(void)
{
    struct stat attributes = {0};
    char path[4096];
    int tries;

    put("followed", "x");
    lower_path(path, "followed");
    CHECK_OK(chmod(path, 0640));
    for (tries = 0; tries < 400; tries++) {
        attributes = status_of("followed");
        if ((attributes.st_mode & 07777) == 0640)
            break;
        usleep(10000);
    }
    CHECK_EQ(attributes.st_mode & 07777, 0640);
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(reads_back_a_container_written_as_data),
        CASE(passes_extended_attributes),
        CASE(sets_every_mode),
        CASE(statx_answers_as_stat_does),
        CASE(counts_blocks),
        CASE(tells_about_the_file_system),
        CASE(follows_changes_below_the_mount),
    };
    static const struct test_case check_cases[] = {CASE(check_imitation), CASE(check_extended_attributes)};

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
