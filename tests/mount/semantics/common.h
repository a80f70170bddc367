/*
 * What the programs in this directory share. Each asks one kind of thing of a directory, which may be a mount or, to
 * learn what is right, a plain one: PROGRAM DIRECTORY LOWER write|check. It works in a directory of its own in
 * DIRECTORY; "check" runs after another mount and looks at what "write" left. Cases are named c<number> after the
 * report that they come from, where there is one.
 *
 *   TALLY_TEST_LONG    set: all sizes and many rounds, not a few
 *   TALLY_OPTIONS      the options of the mount
 *   TALLY_ALLOW_OTHER  set: other users may use the mount
 */
#ifndef TALLY_TESTS_COMMON_H
#define TALLY_TESTS_COMMON_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define CHUNK 131072 /* the mount's, by default */
#define USER 65534   /* of no privilege and no files */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* CHECK for calls that set errno. */
#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            FAIL("%s: %s", #call, strerror(errno));                                                \
    } while (0)

#define CHECK_ERROR(call, expected)                                                                \
    do {                                                                                           \
        errno = 0;                                                                                 \
        if ((call) >= 0)                                                                           \
            FAIL("%s works, should be %s", #call, strerror(expected));                             \
        if (errno != (expected))                                                                   \
            FAIL("%s: %s, should be %s", #call, strerror(errno), strerror(expected));              \
    } while (0)

static inline bool is_long(void)
{
    return getenv("TALLY_TEST_LONG") != NULL;
}

static inline bool has_option(const char *option)
{
    const char *options = getenv("TALLY_OPTIONS");

    return options && strstr(options, option) != NULL;
}

/* Whether the program may become another user and go on using the mount. */
static inline bool may_switch_user(void)
{
    return geteuid() == 0 && getenv("TALLY_ALLOW_OTHER") != NULL;
}

static inline int open_new(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

    if (fd < 0)
        FAIL("%s: %s", path, strerror(errno));
    return fd;
}

static inline int open_as(const char *path, int flags)
{
    int fd = open(path, flags);

    if (fd < 0)
        FAIL("%s: %s", path, strerror(errno));
    return fd;
}

static inline struct stat status_of(const char *path)
{
    struct stat attributes;

    if (lstat(path, &attributes) < 0)
        FAIL("%s: %s", path, strerror(errno));
    return attributes;
}

static inline struct stat status_of_open(int fd)
{
    struct stat attributes;

    CHECK_OK(fstat(fd, &attributes));
    return attributes;
}

static inline void put(const char *path, const char *text)
{
    int fd = open_new(path);

    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    CHECK_OK(close(fd));
}

static inline void check_text(const char *path, const char *expected)
{
    char text[256] = "";
    int fd = open_as(path, O_RDONLY);

    CHECK_OK(read(fd, text, sizeof(text) - 1));
    close(fd);
    CHECK_STR(text, expected);
}

/* Bytes that differ everywhere and compress only partly. */
static inline void fill(unsigned char *data, size_t size, unsigned seed)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)((i * 2654435761u + seed) >> (i % 3 ? 13 : 27));
}

/* Bytes that no codec makes smaller. */
static inline void fill_random(unsigned char *data, size_t size, uint64_t seed)
{
    uint64_t state = seed * 2 + 1;

    for (size_t i = 0; i < size; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        data[i] = (unsigned char)(state >> 32);
    }
}

static inline unsigned char *allocate(size_t size)
{
    unsigned char *data = calloc(1, size + 1);

    CHECK(data != NULL);
    return data;
}

static inline void write_at(int fd, const void *data, size_t size, off_t offset)
{
    for (size_t done = 0; done < size;) {
        ssize_t written = pwrite(fd, (const char *)data + done, size - done, offset + (off_t)done);

        if (written <= 0)
            FAIL("write of %zu at %jd: %s", size, (intmax_t)offset, strerror(errno));
        done += (size_t)written;
    }
}

/* As much as there is, up to size. */
static inline size_t read_at(int fd, void *data, size_t size, off_t offset)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = pread(fd, (char *)data + done, size - done, offset + (off_t)done);

        if (got < 0)
            FAIL("read of %zu at %jd: %s", size, (intmax_t)offset, strerror(errno));
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* The open file is exactly these bytes. */
static inline void check_open(int fd, const unsigned char *expected, size_t size)
{
    unsigned char *found = allocate(size);

    CHECK_EQ(status_of_open(fd).st_size, size);
    CHECK_EQ(read_at(fd, found, size + 1, 0), size);
    for (size_t i = 0; i < size; i++) {
        if (found[i] != expected[i])
            FAIL("byte %zu of %zu is %u, not %u", i, size, found[i], expected[i]);
    }
    free(found);
}

static inline void check_bytes(const char *path, const unsigned char *expected, size_t size)
{
    int fd = open_as(path, O_RDONLY);

    CHECK_EQ(status_of(path).st_size, size);
    check_open(fd, expected, size);
    close(fd);
}

static inline void put_bytes(const char *path, const unsigned char *data, size_t size)
{
    int fd = open_new(path);

    write_at(fd, data, size, 0);
    CHECK_OK(close(fd));
}

static inline void put_filled(const char *path, size_t size, unsigned seed)
{
    unsigned char *data = allocate(size);

    fill(data, size, seed);
    put_bytes(path, data, size);
    free(data);
}

static inline void check_filled(const char *path, size_t size, unsigned seed)
{
    unsigned char *expected = allocate(size);

    fill(expected, size, seed);
    check_bytes(path, expected, size);
    free(expected);
}

/* Runs `run` in another process, which fails when a check in it fails. */
static inline pid_t child_start(void (*run)(void *argument), void *argument)
{
    pid_t child;

    fflush(stdout);
    child = fork();
    CHECK(child >= 0);
    if (child > 0)
        return child;
    if (setjmp(test_failed) == 0) {
        run(argument);
        _exit(0);
    }
    _exit(1);
}

static inline void child_end(pid_t child)
{
    int status;

    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

static inline void in_child(void (*run)(void *argument), void *argument)
{
    child_end(child_start(run, argument));
}

struct as_user {
    uid_t uid;
    gid_t gid;
    const gid_t *groups;
    size_t group_count;
    void (*run)(void *argument);
    void *argument;
};

static inline void run_as_user(void *argument)
{
    const struct as_user *user = argument;

    CHECK_OK(setgroups(user->group_count, user->groups));
    CHECK_OK(setresgid(user->gid, user->gid, user->gid));
    CHECK_OK(setresuid(user->uid, user->uid, user->uid));
    user->run(user->argument);
}

/* Runs `run` in another process as a user without privilege. */
static inline void in_user_child(void (*run)(void *argument), void *argument)
{
    struct as_user user = {.uid = USER, .gid = USER, .run = run, .argument = argument};

    in_child(run_as_user, &user);
}

/* A shell command with the path of the directory that the program works in as its working directory. */
static inline void shell(const char *command)
{
    int status = system(command);

    if (status != 0)
        FAIL("\"%s\" ended with status %d", command, status);
}

/* Calls `write` or `check` with the program's own directory as working directory. */
static inline int run_phase(int argc, char *argv[], const struct test_case *write_cases, size_t write_count,
                            const struct test_case *check_cases, size_t check_count)
{
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];

    if (argc != 4 || setenv("TALLY_LOWER", argv[2], 1) < 0 || chdir(argv[1]) < 0) {
        fprintf(stderr, "usage: %s DIRECTORY LOWER write|check\n", name);
        return 2;
    }
    if (strcmp(argv[3], "write") == 0)
        mkdir(name, 0755);
    if (chdir(name) < 0) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return 1;
    }
    if (strcmp(argv[3], "write") == 0)
        return run_cases(write_cases, write_count);
    return run_cases(check_cases, check_count);
}

#define RUN_PHASE(argc, argv, write_cases, check_cases)                                            \
    run_phase(argc, argv, write_cases, COUNT_OF(write_cases), check_cases, COUNT_OF(check_cases))

#endif
