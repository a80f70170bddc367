/*
 * Very many files, a deep tree and very many threads under a daemon with few descriptors: C25. 20,000 files, in the
 * long form 200,000.
 */
#include <dirent.h>
#include <pthread.h>

#include "common.h"

#define IN_DIRECTORY 1000
#define DEPTH 200
#define THREADS 256

static unsigned file_count(void)
{
    return is_long() ? 200000 : 20000;
}

static void name_file(char name[64], unsigned i)
{
    snprintf(name, 64, "d%u/f%u", i / IN_DIRECTORY, i % IN_DIRECTORY);
}

static void c25_makes_very_many_files(void)
{
    char name[64], text[16];

    for (unsigned i = 0; i < file_count(); i++) {
        int fd, length;

        if (i % IN_DIRECTORY == 0) {
            snprintf(name, sizeof(name), "d%u", i / IN_DIRECTORY);
            CHECK_OK(mkdir(name, 0755));
        }
        name_file(name, i);
        fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
        if (fd < 0)
            FAIL("%s: %s", name, strerror(errno));
        length = snprintf(text, sizeof(text), "%u", i);
        CHECK_EQ(write(fd, text, (size_t)length), length);
        CHECK_OK(close(fd));
    }
}

static void c25_stats_and_lists_them(void)
{
    char name[64], text[16];
    unsigned listed = 0;

    for (unsigned i = 0; i < file_count(); i++) {
        name_file(name, i);
        CHECK_EQ(status_of(name).st_size, snprintf(text, sizeof(text), "%u", i));
    }
    for (unsigned i = 0; i < file_count() / IN_DIRECTORY; i++) {
        DIR *directory;

        snprintf(name, sizeof(name), "d%u", i);
        directory = opendir(name);
        CHECK(directory != NULL);
        for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
            listed += entry->d_name[0] == 'f';
        closedir(directory);
    }
    CHECK_EQ(listed, file_count());
}

static void c25_makes_a_deep_tree(void)
{
    int fd = open_as(".", O_RDONLY | O_DIRECTORY);

    for (int i = 0; i < DEPTH; i++) {
        int next;

        CHECK_OK(mkdirat(fd, "deep", 0755));
        next = openat(fd, "deep", O_RDONLY | O_DIRECTORY);
        CHECK_OK(next);
        close(fd);
        fd = next;
    }
    close(fd);
    shell("test $(find deep -type d | wc -l) = 200");
}

struct reader {
    pthread_t thread;
    unsigned number;
    int error; /* errno, or -1 for wrong contents */
};

static void *read_many(void *argument)
{
    struct reader *reader = argument;
    char name[64], text[16], found[16];

    for (unsigned round = 0; round < 100 && reader->error == 0; round++) {
        unsigned i = (reader->number * 7919 + round * 104729) % file_count();
        int length = snprintf(text, sizeof(text), "%u", i), fd;

        name_file(name, i);
        fd = open(name, O_RDONLY);
        if (fd < 0 || read(fd, found, sizeof(found)) < 0)
            reader->error = errno;
        else if (memcmp(found, text, (size_t)length) != 0)
            reader->error = -1;
        if (fd >= 0)
            close(fd);
    }
    return NULL;
}

static void c25_reads_by_very_many_threads(void)
{
    static struct reader readers[THREADS];

    for (unsigned i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){.number = i};
        CHECK_EQ(pthread_create(&readers[i].thread, NULL, read_many, &readers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_join(readers[i].thread, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK_EQ(readers[i].error, 0);
}

/* As many open at once as the program may have; the daemon may have no more itself. */
static void c25_holds_many_open(void)
{
    enum { HELD = 400 };
    static int held[HELD];
    char name[64], text[16];

    for (unsigned i = 0; i < HELD; i++) {
        name_file(name, i * 37 % file_count());
        held[i] = open_as(name, O_RDWR);
    }
    for (unsigned i = 0; i < HELD; i++) {
        memset(text, 0, sizeof(text));
        CHECK_OK(pread(held[i], text, sizeof(text) - 1, 0));
        CHECK_EQ(atoi(text), i * 37 % file_count());
        CHECK_OK(close(held[i]));
    }
    c25_reads_by_very_many_threads();
}

static void c25_removes_them_all(void)
{
    shell("rm -r d* && test -z \"$(ls)\"");
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c25_makes_very_many_files), CASE(c25_stats_and_lists_them), CASE(c25_makes_a_deep_tree),
        CASE(c25_reads_by_very_many_threads), CASE(c25_holds_many_open),
    };
    static const struct test_case check_cases[] = {
        CASE(c25_stats_and_lists_them), CASE(c25_reads_by_very_many_threads), CASE(c25_removes_them_all),
    };

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
