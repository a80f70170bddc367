/* Inode numbers that the lower file system uses again: C33. */
#include "common.h"

static void check_own_text(int fd, const char *expected)
{
    char text[64] = "";

    CHECK_OK(pread(fd, text, sizeof(text) - 1, 0));
    CHECK_STR(text, expected);
}

static void c33_never_confuses_files_by_name(void)
{
    char name[32], text[32];

    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof(name), "again%d", i % 3);
        snprintf(text, sizeof(text), "file number %d", i);
        unlink(name);
        put(name, text);
        check_text(name, text);
        CHECK_EQ(status_of(name).st_size, strlen(text));
    }
}

#define HELD 20

/* Descriptors of removed files stay open while others are made in their place. */
static void c33_never_confuses_files_that_are_held(void)
{
    int held[HELD], numbers[HELD];
    char text[64];

    for (int i = 0; i < HELD; i++)
        held[i] = -1;
    for (int i = 0; i < 600; i++) {
        int slot = i * 7 % HELD;

        if (held[slot] >= 0) {
            snprintf(text, sizeof(text), "held number %d", numbers[slot]);
            check_own_text(held[slot], text);
            CHECK_EQ(status_of_open(held[slot]).st_nlink, 0);
            /* Half are written once more before they go. */
            if (i % 2) {
                write_at(held[slot], "HELD", 4, 0);
                memcpy(text, "HELD", 4);
                check_own_text(held[slot], text);
            }
            close(held[slot]);
        }
        snprintf(text, sizeof(text), "held number %d", i);
        put("held", text);
        held[slot] = open_as("held", O_RDWR);
        numbers[slot] = i;
        CHECK_OK(unlink("held"));
    }
    for (int i = 0; i < HELD; i++)
        close(held[i]);
}

/* By O_PATH descriptors, by a directory handle, by a working directory. */
static void c33_never_confuses_what_paths_hold(void)
{
    char text[64], path[64];

    for (int i = 0; i < 100; i++) {
        int handle;

        snprintf(text, sizeof(text), "path number %d", i);
        put("by-path", text);
        handle = open_as("by-path", O_PATH);
        CHECK_OK(unlink("by-path"));
        put("by-path", "another");
        snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
        check_text(path, text);
        check_text("by-path", "another");
        CHECK_EQ(status_of_open(handle).st_nlink, 0);
        close(handle);
        CHECK_OK(unlink("by-path"));
    }
    for (int i = 0; i < 100; i++) {
        int directory, status;
        struct stat attributes;

        CHECK_OK(mkdir("by-directory", 0755));
        put("by-directory/file", "x");
        directory = open_as("by-directory", O_RDONLY | O_DIRECTORY);
        CHECK_OK(unlink("by-directory/file"));
        CHECK_OK(rmdir("by-directory"));
        put("by-directory", "now a file");
        status = fstatat(directory, "file", &attributes, 0);
        CHECK(status < 0 && errno == ENOENT);
        CHECK(S_ISDIR(status_of_open(directory).st_mode));
        check_text("by-directory", "now a file");
        close(directory);
        CHECK_OK(unlink("by-directory"));
    }
}

/* What was a directory, a link or a pipe becomes a file, and the other way round. */
static void c33_never_confuses_kinds(void)
{
    for (int i = 0; i < 200; i++) {
        switch (i % 4) {
        case 0:
            put("kind", "a file");
            check_text("kind", "a file");
            break;
        case 1:
            CHECK_OK(mkdir("kind", 0700));
            CHECK(S_ISDIR(status_of("kind").st_mode));
            CHECK_OK(rmdir("kind"));
            continue;
        case 2:
            CHECK_OK(symlink("elsewhere", "kind"));
            CHECK(S_ISLNK(status_of("kind").st_mode));
            break;
        default:
            CHECK_OK(mkfifo("kind", 0600));
            CHECK(S_ISFIFO(status_of("kind").st_mode));
        }
        CHECK_OK(unlink("kind"));
    }
}

static void lower_path(char path[4096], const char *name)
{
    snprintf(path, 4096, "%s/reuse/%s", getenv("TALLY_LOWER"), name);
}

/* Replaced below the mount, so that no request tells the daemon that the old one is gone. */
static void c33_follows_files_replaced_below(void)
{
    char path[4096], temporary[4096], text[64];

    lower_path(path, "below");
    lower_path(temporary, "below.new");
    put("below", "made above");
    for (int i = 0; i < 100; i++) {
        int held = open_as("below", O_RDONLY), again;

        snprintf(text, sizeof(text), "below %d", i);
        if (i % 2) {
            CHECK_OK(unlink(path));
            put(path, text);
        } else {
            put(temporary, text);
            CHECK_OK(rename(temporary, path));
        }
        /* What was open is still the old file, and another open finds the new one, at the latest after a second. */
        for (int tries = 0; tries < 300; tries++) {
            char found[64] = "";

            again = open("below", O_RDONLY);
            if (again >= 0)
                CHECK_OK(pread(again, found, sizeof(found) - 1, 0));
            close(again);
            if (strcmp(found, text) == 0)
                break;
            usleep(10000);
        }
        check_text("below", text);
        snprintf(text, sizeof(text), "below %d", i - 1);
        check_own_text(held, i == 0 ? "made above" : text);
        close(held);
        if (i >= 1 && !has_option("entry_timeout=0"))
            return; /* each takes a second for the kernel's entry to time out */
    }
}

/* Mode, owner, size and times are the new file's own. */
static void c33_gives_new_files_their_own_attributes(void)
{
    for (int i = 0; i < 200; i++) {
        struct stat attributes;
        int fd = open("own", O_CREAT | O_EXCL | O_RDWR, i % 2 ? 0600 : 0644);

        CHECK_OK(fd);
        attributes = status_of_open(fd);
        CHECK_EQ(attributes.st_size, 0);
        CHECK_EQ(attributes.st_mode & 07777, i % 2 ? 0600 : 0644);
        CHECK_EQ(attributes.st_nlink, 1);
        CHECK_EQ(lseek(fd, 0, SEEK_END), 0);
        CHECK_OK(ftruncate(fd, i * 100));
        CHECK_OK(fchmod(fd, 0));
        close(fd);
        CHECK_EQ(status_of("own").st_size, i * 100);
        CHECK_OK(unlink("own"));
    }
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c33_never_confuses_files_by_name),
        CASE(c33_never_confuses_files_that_are_held),
        CASE(c33_never_confuses_what_paths_hold),
        CASE(c33_never_confuses_kinds),
        CASE(c33_follows_files_replaced_below),
        CASE(c33_gives_new_files_their_own_attributes),
    };
    static const struct test_case check_cases[] = {CASE(c33_never_confuses_files_by_name)};

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
