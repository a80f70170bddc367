/*
 * Every operation is counted once. Eight threads do a known number of each operation on a mount without caches, and
 * every counter must be that number, also those that must be 0. Usage: exact MOUNT LOWER write|check; both do the same.
 *
 * What the kernel asks for each call is the kernel's; it was read from fs/fuse: with timeouts of 0 each path step looks
 * the name up, and each permission check of an inode whose attributes do not come with that lookup asks for them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define THREADS 8
#define REPEAT 25
#define PAGE 4096
#define ANSWER_BYTES 65536

/* What the kernel is told of ".", ".." and "file": three struct fuse_direntplus of 152 bytes with padded names. */
#define LISTED (3 * (152 + 8))

/* A thread's own place: a directory, and a file in it that stays open. */
struct place {
    int directory;
    int file;
    int failures;
};

static void expect(struct place *place, bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    place->failures++;
}

#define EXPECT(place, condition) expect(place, condition, #condition)

static void do_writes(struct place *place)
{
    char data[PAGE] = "data";

    for (int i = 0; i < REPEAT; i++)
        EXPECT(place, pwrite(place->file, data, PAGE, i * PAGE) == PAGE);
}

static void do_reads(struct place *place)
{
    char data[PAGE];

    for (int i = 0; i < REPEAT; i++)
        EXPECT(place, pread(place->file, data, PAGE, i * PAGE) == PAGE);
}

static void do_fsyncs(struct place *place)
{
    for (int i = 0; i < REPEAT; i++) {
        EXPECT(place, fsync(place->file) == 0);
        EXPECT(place, fsync(place->directory) == 0);
    }
}

static void do_seeks(struct place *place)
{
    for (int i = 0; i < REPEAT; i++)
        EXPECT(place, lseek(place->file, 0, SEEK_DATA) == 0);
}

static void do_stats(struct place *place)
{
    struct stat attributes;

    for (int i = 0; i < REPEAT; i++)
        EXPECT(place, fstat(place->file, &attributes) == 0);
}

static void do_creates(struct place *place)
{
    char name[32];

    for (int i = 0; i < REPEAT; i++) {
        int fd;

        snprintf(name, sizeof(name), "new%d", i);
        fd = openat(place->directory, name, O_RDWR | O_CREAT | O_EXCL, 0644);
        EXPECT(place, fd >= 0 && close(fd) == 0);
    }
}

static void do_unlinks(struct place *place)
{
    char name[32];

    for (int i = 0; i < REPEAT; i++) {
        snprintf(name, sizeof(name), "new%d", i);
        EXPECT(place, unlinkat(place->directory, name, 0) == 0);
    }
}

static void do_misses(struct place *place)
{
    struct stat attributes;

    for (int i = 0; i < REPEAT; i++)
        EXPECT(place, fstatat(place->directory, "absent", &attributes, 0) == -1 && errno == ENOENT);
}

static void do_directories(struct place *place)
{
    for (int i = 0; i < REPEAT; i++) {
        EXPECT(place, mkdirat(place->directory, "sub", 0755) == 0);
        EXPECT(place, unlinkat(place->directory, "sub", AT_REMOVEDIR) == 0);
    }
}

static void do_links(struct place *place)
{
    char target[16];

    for (int i = 0; i < REPEAT; i++) {
        EXPECT(place, symlinkat("to", place->directory, "symbolic") == 0);
        EXPECT(place, readlinkat(place->directory, "symbolic", target, sizeof(target)) == 2);
        EXPECT(place, linkat(place->directory, "symbolic", place->directory, "hard", 0) == 0);
        EXPECT(place, renameat(place->directory, "hard", place->directory, "renamed") == 0);
        EXPECT(place, unlinkat(place->directory, "symbolic", 0) == 0);
        EXPECT(place, unlinkat(place->directory, "renamed", 0) == 0);
        EXPECT(place, mknodat(place->directory, "pipe", S_IFIFO | 0600, 0) == 0);
        EXPECT(place, unlinkat(place->directory, "pipe", 0) == 0);
    }
}

static void do_attributes(struct place *place)
{
    char value[16], names[256];

    for (int i = 0; i < REPEAT; i++) {
        EXPECT(place, fsetxattr(place->file, "user.note", "value", 5, 0) == 0);
        EXPECT(place, fgetxattr(place->file, "user.note", value, sizeof(value)) == 5);
        EXPECT(place, flistxattr(place->file, names, sizeof(names)) > 0);
        EXPECT(place, fremovexattr(place->file, "user.note") == 0);
    }
}

static void do_changes(struct place *place)
{
    const struct timespec times[2] = {{1, 0}, {1, 0}};

    for (int i = 0; i < REPEAT; i++) {
        EXPECT(place, fchmod(place->file, 0640) == 0);
        EXPECT(place, futimens(place->file, times) == 0);
    }
}

static void do_space(struct place *place)
{
    struct statvfs space;

    for (int i = 0; i < REPEAT; i++)
        EXPECT(place, fstatvfs(place->file, &space) == 0);
}

static void do_locks(struct place *place)
{
    struct flock lock = {.l_whence = SEEK_SET, .l_len = 10};

    for (int i = 0; i < REPEAT; i++) {
        lock.l_type = F_WRLCK;
        EXPECT(place, fcntl(place->file, F_SETLK, &lock) == 0);
        EXPECT(place, fcntl(place->file, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK);
        EXPECT(place, fcntl(place->file, F_SETLK, &lock) == 0);
        EXPECT(place, flock(place->file, LOCK_EX) == 0);
        EXPECT(place, flock(place->file, LOCK_UN) == 0);
    }
}

static void do_opens(struct place *place)
{
    for (int i = 0; i < REPEAT; i++) {
        int fd = openat(place->directory, "file", O_RDONLY);

        EXPECT(place, fd >= 0 && close(fd) == 0);
    }
}

static void do_allocations(struct place *place)
{
    for (int i = 0; i < REPEAT; i++)
        EXPECT(place, fallocate(place->file, FALLOC_FL_KEEP_SIZE, 0, PAGE) == 0);
}

static void do_copies(struct place *place)
{
    for (int i = 0; i < REPEAT; i++) {
        loff_t from = 0, to = (loff_t)REPEAT * PAGE;

        EXPECT(place, copy_file_range(place->file, &from, place->file, &to, PAGE, 0) == PAGE);
    }
}

static void do_listings(struct place *place)
{
    char records[PAGE];

    for (int i = 0; i < REPEAT; i++) {
        int fd = openat(place->directory, ".", O_RDONLY | O_DIRECTORY);

        EXPECT(place, fd >= 0 && syscall(SYS_getdents64, fd, records, sizeof(records)) > 0);
        EXPECT(place, syscall(SYS_getdents64, fd, records, sizeof(records)) == 0 && close(fd) == 0);
    }
}

struct expected {
    const char *operation;
    unsigned count, errors, bytes; /* for each round of each thread */
};

#define EXPECTED_MAX 14

/* Unless the mount has said that it clears capabilities itself, the kernel asks for them before each change. */
#if TALLY_FUSE_HAS_KILL_SUIDGID
#define ASKED_FOR_CAPABILITIES {"getxattr", 0, 0, 0}
#else
#define ASKED_FOR_CAPABILITIES {"getxattr", 1, 1, 0}
#endif

struct phase {
    const char *name;
    void (*run)(struct place *place);
    struct expected expected[EXPECTED_MAX];
};

static const struct phase phases[] = {
    /* First, since the kernel asks for capabilities again after it has read attributes. */
    {"fallocate", do_allocations, {{"fallocate", 1, 0, 0}, ASKED_FOR_CAPABILITIES}},
    {"copy", do_copies, {{"copy_file_range", 1, 0, PAGE}, ASKED_FOR_CAPABILITIES}},
    {"write", do_writes, {{"write", 1, 0, PAGE}}},
    {"read", do_reads, {{"read", 1, 0, PAGE}}},
    {"fsync", do_fsyncs, {{"fsync", 1, 0, 0}, {"fsyncdir", 1, 0, 0}}},
    {"lseek", do_seeks, {{"lseek", 1, 0, 0}}},
    {"stat", do_stats, {{"getattr", 1, 0, 0}}},
    {"create", do_creates, {{"create", 1, 0, 0}, {"flush", 1, 0, 0}, {"release", 1, 0, 0}, {"lookup", 1, 1, 0}, {"getattr", 3, 0, 0}}},
    {"unlink", do_unlinks, {{"unlink", 1, 0, 0}, {"lookup", 1, 0, 0}, {"getattr", 2, 0, 0}}},
    {"miss", do_misses, {{"lookup", 1, 1, 0}, {"getattr", 1, 0, 0}}},
    {"directory", do_directories, {{"mkdir", 1, 0, 0}, {"rmdir", 1, 0, 0}, {"lookup", 2, 1, 0}, {"getattr", 4, 0, 0}}},
    {"link",
     do_links,
     {{"symlink", 1, 0, 0}, {"readlink", 1, 0, 0}, {"link", 1, 0, 0}, {"rename", 1, 0, 0}, {"unlink", 3, 0, 0},
      {"mknod", 1, 0, 0}, {"lookup", 10, 4, 0}, {"getattr", 18, 0, 0}}},
    {"xattr",
     do_attributes,
     {{"setxattr", 1, 0, 0}, {"getxattr", 1, 0, 0}, {"listxattr", 1, 0, 0}, {"removexattr", 1, 0, 0},
      {"getattr", 3, 0, 0}}},
    {"setattr", do_changes, {{"setattr", 2, 0, 0}}},
    {"statfs", do_space, {{"statfs", 1, 0, 0}}},
    {"lock", do_locks, {{"setlk", 2, 0, 0}, {"getlk", 1, 0, 0}, {"flock", 2, 0, 0}}},
    {"open", do_opens, {{"open", 1, 0, 0}, {"flush", 1, 0, 0}, {"release", 1, 0, 0}, {"lookup", 1, 0, 0}, {"getattr", 2, 0, 0}}},
    {"list", do_listings, {{"opendir", 1, 0, 0}, {"releasedir", 1, 0, 0}, {"readdirplus", 1, 0, LISTED}, {"readdir", 1, 0, 0}, {"getattr", 2, 0, 0}}},
};

#define PHASE_COUNT (sizeof(phases) / sizeof(phases[0]))

struct worker {
    pthread_t thread;
    struct place place;
    const struct phase *phase;
};

static void *run_phase(void *argument)
{
    struct worker *worker = argument;

    worker->phase->run(&worker->place);
    return NULL;
}

static bool set_up(struct place *place, int number)
{
    char name[32];

    snprintf(name, sizeof(name), "thread%d", number);
    if (mkdir(name, 0755) < 0 && errno != EEXIST)
        return false;
    place->directory = open(name, O_RDONLY | O_DIRECTORY);
    place->file = openat(place->directory, "file", O_RDWR | O_CREAT, 0644);
    return place->directory >= 0 && place->file >= 0;
}

static json_t *read_counters(int control)
{
    static char text[ANSWER_BYTES];
    ssize_t size = fgetxattr(control, "user.tallyfs.stats.json", text, sizeof(text));

    return size < 0 ? NULL : json_loadb(text, (size_t)size, 0, NULL);
}

static json_int_t field(const json_t *operations, const char *operation, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(operations, operation), name));
}

static int check_one(const struct phase *phase, const json_t *operations, const struct expected *expected,
                     unsigned extra)
{
    const json_int_t rounds = THREADS * REPEAT;
    const struct {
        const char *name;
        json_int_t expected;
    } fields[] = {
        {"count", rounds * expected->count + extra},
        {"errors", rounds * expected->errors},
        {"bytes", rounds * expected->bytes},
    };
    int failures = 0;

    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        json_int_t found = field(operations, expected->operation, fields[i].name);

        if (found != fields[i].expected) {
            fprintf(stderr, "%s: %s.%s is %lld, not %lld\n", phase->name, expected->operation, fields[i].name,
                    (long long)found, (long long)fields[i].expected);
            failures++;
        }
    }
    return failures;
}

/* The reset is an operation of the new epoch, and reading the counters asks for the control file's permissions. */
static bool is_of_reading(const char *operation)
{
    return strcmp(operation, "setxattr") == 0 || strcmp(operation, "getattr") == 0;
}

static const struct expected *find_expected(const struct phase *phase, const char *operation)
{
    for (size_t i = 0; i < EXPECTED_MAX && phase->expected[i].operation; i++) {
        if (strcmp(phase->expected[i].operation, operation) == 0)
            return &phase->expected[i];
    }
    return NULL;
}

static int check(const struct phase *phase, json_t *operations)
{
    const char *operation;
    json_t *counters;
    int failures = 0;

    for (size_t i = 0; i < EXPECTED_MAX && phase->expected[i].operation; i++) {
        failures += check_one(phase, operations, &phase->expected[i], is_of_reading(phase->expected[i].operation));
    }
    json_object_foreach(operations, operation, counters) {
        const struct expected none = {operation, 0, 0, 0};

        /* The kernel forgets when it likes. */
        if (strncmp(operation, "forget", 6) != 0 && !find_expected(phase, operation))
            failures += check_one(phase, operations, &none, is_of_reading(operation));
    }
    return failures;
}

static int measure(const struct phase *phase, struct worker *workers, int control)
{
    int failures = 0;
    json_t *counters;

    if (fsetxattr(control, "user.tallyfs.cmd.reset", "1", 1, 0) < 0) {
        perror("cmd.reset");
        return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        workers[i].phase = phase;
        if (pthread_create(&workers[i].thread, NULL, run_phase, &workers[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        failures += workers[i].place.failures;
    }
    usleep(200000); /* RELEASE comes after close(2) has returned */
    counters = read_counters(control);
    if (!counters) {
        fprintf(stderr, "%s: no counters\n", phase->name);
        return 1;
    }
    failures += check(phase, json_object_get(counters, "operations"));
    json_decref(counters);
    return failures;
}

int main(int argc, char *argv[])
{
    static struct worker workers[THREADS];
    int control, failures = 0;

    if (argc != 4 || chdir(argv[1]) < 0) {
        fprintf(stderr, "usage: %s MOUNT LOWER write|check\n", argv[0]);
        return 2;
    }
    control = open(".tallyfs", O_RDWR);
    for (int i = 0; i < THREADS; i++) {
        if (control < 0 || !set_up(&workers[i].place, i)) {
            perror("setting up");
            return 1;
        }
    }
    /*
     * The kernel learns what is supported and which files have no capabilities: once, and not well with eight threads
     * at a time (it takes a second early answer to the newest kind of copy for "no copies at all").
     */
    for (int i = 0; i < THREADS; i++) {
        do_writes(&workers[i].place);
        do_allocations(&workers[i].place);
        do_copies(&workers[i].place);
    }
    for (size_t i = 0; i < PHASE_COUNT; i++)
        failures += measure(&phases[i], workers, control);
    return failures ? 1 : 0;
}
