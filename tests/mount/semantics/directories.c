/* Syncing and listing directories: C24, C29. */
#include <dirent.h>
#include <sys/syscall.h>

#include "common.h"

#define NAMES_MAX 10000

static unsigned seen[NAMES_MAX];

static void c24_syncs_a_directory(void)
{
    int fd = open_as(".", O_RDONLY | O_DIRECTORY);

    CHECK_OK(fsync(fd));
    CHECK_OK(fdatasync(fd));
    CHECK_OK(syncfs(fd));
    put("synced", "x");
    CHECK_OK(fsync(fd));
    CHECK_OK(unlink("synced"));
    CHECK_OK(fsync(fd));
    close(fd);
    CHECK_OK(mkdir("removed", 0755));
    fd = open_as("removed", O_RDONLY | O_DIRECTORY);
    CHECK_OK(rmdir("removed"));
    CHECK_OK(fsync(fd));
    close(fd);
    shell("sync . && sync -f .");
}

static void make_names(const char *directory, unsigned count)
{
    char name[64];

    CHECK_OK(mkdir(directory, 0755));
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "%s/n%u", directory, i);
        CHECK_OK(mknod(name, S_IFREG | 0644, 0));
    }
}

static void count_name(const char *name, unsigned count)
{
    unsigned number;
    char end;

    if (sscanf(name, "n%u%c", &number, &end) == 1 && number < count)
        seen[number]++;
}

/* Reads with a buffer of a few names; between two reads `meanwhile` is called. */
static void list_slowly(const char *directory, unsigned count, void (*meanwhile)(const char *directory, unsigned step))
{
    _Alignas(struct dirent64) char buffer[sizeof(struct dirent64)];
    int fd = open_as(directory, O_RDONLY | O_DIRECTORY);
    unsigned step = 0;
    long got;

    memset(seen, 0, sizeof(seen));
    while ((got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0) {
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const struct dirent64 *)(const void *)(buffer + at);

            count_name(entry->d_name, count);
            at += entry->d_reclen;
        }
        if (meanwhile)
            meanwhile(directory, step++);
    }
    CHECK_OK(got);
    close(fd);
}

static void check_each_once(unsigned count, unsigned removed_every)
{
    for (unsigned i = 0; i < count; i++) {
        bool removed = removed_every && i % removed_every == 0;

        if (removed ? seen[i] > 1 : seen[i] != 1)
            FAIL("n%u was listed %u times", i, seen[i]);
    }
}

static void change_one(const char *directory, unsigned step)
{
    char name[64];

    snprintf(name, sizeof(name), "%s/n%u", directory, step * 3);
    unlink(name);
    snprintf(name, sizeof(name), "%s/new%u", directory, step);
    CHECK_OK(mknod(name, S_IFREG | 0644, 0));
    if (step % 8 == 0)
        CHECK_OK(unlink(name));
}

static unsigned names_to_make(void)
{
    return is_long() ? NAMES_MAX : 900;
}

static void c29_lists_each_name_once_with_a_tiny_buffer(void)
{
    unsigned count = names_to_make();

    make_names("many", count);
    list_slowly("many", count, NULL);
    check_each_once(count, 0);
    list_slowly("many", count, change_one);
    check_each_once(count, 3);
}

static void change_all(void *count)
{
    for (unsigned i = 0; i < *(unsigned *)count / 3; i++)
        change_one("busy", i);
}

static void c29_lists_each_name_once_when_another_process_changes_it(void)
{
    unsigned count = names_to_make();
    pid_t child;

    make_names("busy", count);
    child = child_start(change_all, &count);
    list_slowly("busy", count, NULL);
    child_end(child);
    check_each_once(count, 3);
}

static void c29_goes_on_where_seekdir_says(void)
{
    enum { COUNT = 500 };
    static long places[COUNT + 3]; /* the end has one, too */
    static char names[COUNT + 2][64];
    struct dirent *entry;
    unsigned count = 0;
    DIR *directory;

    make_names("sought", COUNT);
    directory = opendir("sought");
    CHECK(directory != NULL);
    for (;;) {
        places[count] = telldir(directory);
        entry = readdir(directory);
        if (!entry)
            break;
        CHECK(count < COUNT + 2);
        snprintf(names[count++], sizeof(names[0]), "%.63s", entry->d_name);
    }
    CHECK_EQ(count, COUNT + 2);
    for (unsigned i = 0; i < 200; i++) {
        unsigned at = i * 7919 % count;

        seekdir(directory, places[at]);
        entry = readdir(directory);
        CHECK(entry != NULL);
        CHECK_STR(entry->d_name, names[at]);
        /* Names that were removed do not move the others. */
        if (i > 100 && names[at][0] == 'n') {
            char name[128];

            snprintf(name, sizeof(name), "sought/%s", names[at]);
            unlink(name);
            CHECK_OK(mknod(name, S_IFREG | 0644, 0));
        }
    }
    rewinddir(directory);
    memset(seen, 0, sizeof(seen));
    while ((entry = readdir(directory)) != NULL)
        count_name(entry->d_name, COUNT);
    check_each_once(COUNT, 0);
    closedir(directory);
}

/* Two streams of one directory, and one shared with a child, do not disturb each other. */
static void c29_lists_by_two_streams_at_once(void)
{
    enum { COUNT = 300 };
    unsigned in_second = 0;
    DIR *first, *second;
    struct dirent *entry;

    make_names("twice", COUNT);
    first = opendir("twice");
    second = opendir("twice");
    CHECK(first && second);
    memset(seen, 0, sizeof(seen));
    while ((entry = readdir(first)) != NULL) {
        count_name(entry->d_name, COUNT);
        in_second += readdir(second) != NULL;
    }
    check_each_once(COUNT, 0);
    CHECK_EQ(in_second, COUNT + 2);
    closedir(first);
    closedir(second);
}

static void shows_new_names_when_rewound(void)
{
    struct dirent *entry;
    bool found = false;
    DIR *directory;

    CHECK_OK(mkdir("rewound", 0755));
    directory = opendir("rewound");
    CHECK(directory != NULL);
    while (readdir(directory))
        ;
    put("rewound/later", "x");
    rewinddir(directory);
    while ((entry = readdir(directory)) != NULL)
        found = found || strcmp(entry->d_name, "later") == 0;
    CHECK(found);
    closedir(directory);
}

/* The types and numbers of a listing are those of stat. */
static void lists_types_and_numbers_as_stat_has_them(void)
{
    struct dirent *entry;
    struct stat attributes;
    unsigned count = 0;
    DIR *directory;

    CHECK_OK(mkdir("kinds", 0755));
    CHECK_OK(mkdir("kinds/directory", 0755));
    put("kinds/file", "x");
    CHECK_OK(symlink("file", "kinds/symlink"));
    CHECK_OK(mknod("kinds/fifo", S_IFIFO | 0600, 0));
    directory = opendir("kinds");
    CHECK(directory != NULL);
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        CHECK_OK(fstatat(dirfd(directory), entry->d_name, &attributes, AT_SYMLINK_NOFOLLOW));
        CHECK_EQ(entry->d_ino, attributes.st_ino);
        CHECK(entry->d_type == DT_UNKNOWN || entry->d_type == IFTODT(attributes.st_mode));
        count++;
    }
    CHECK_EQ(count, 4);
    closedir(directory);
}

static void goes_deep(void)
{
    enum { DEPTH = 300 };
    int fd = open_as(".", O_RDONLY | O_DIRECTORY), next;

    for (int i = 0; i < DEPTH; i++) {
        CHECK_OK(mkdirat(fd, "deep-directory", 0755));
        next = openat(fd, "deep-directory", O_RDONLY | O_DIRECTORY);
        CHECK_OK(next);
        close(fd);
        fd = next;
    }
    next = openat(fd, "file", O_CREAT | O_WRONLY, 0644);
    CHECK_OK(next);
    close(next);
    close(fd);
    shell("test \"$(find deep-directory -type f | wc -l)\" = 1 && rm -r deep-directory");
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c24_syncs_a_directory),
        CASE(c29_lists_each_name_once_with_a_tiny_buffer),
        CASE(c29_lists_each_name_once_when_another_process_changes_it),
        CASE(c29_goes_on_where_seekdir_says),
        CASE(c29_lists_by_two_streams_at_once),
        CASE(shows_new_names_when_rewound),
        CASE(lists_types_and_numbers_as_stat_has_them),
        CASE(goes_deep),
    };
    static const struct test_case check_cases[] = {CASE(c24_syncs_a_directory)};

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
