/*
 * Usage: scale_phases DIRECTORY FILES [PID]
 * Makes FILES small files in DIRECTORY, a thousand in each of its own, works on all of them and removes them. Prints
 *     time PHASE NANOSECONDS            for each file
 *     time daemon-cpu NANOSECONDS       that PID used, for each file, over all phases
 *     memory start|peak|dropped KIB KIB resident and proportional, of the process PID
 *     descriptors most COUNT            the most that PID had
 * `peak` is the most that was seen, `dropped` after the kernel's caches were dropped, as they are before the cold phase,
 * too; that needs root.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES_PER_DIRECTORY 1000
#define CONTENT_BYTES 100
#define NAME_BYTES 32
/* Descriptors and memory are looked at this often, apart from the time that is measured. */
#define SAMPLE_INTERVAL 5000

struct run {
    int directory;
    unsigned long files;
    const char *pid; /* NULL: nobody is watched */
    unsigned descriptors; /* the most seen of it, and of its memory */
    unsigned long resident_kib, proportional_kib;
};

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *format, ...)
{
    int error = errno;
    va_list arguments;

    fputs("scale_phases: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, ": %s\n", strerror(error));
    exit(1);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void name_directory(char name[static NAME_BYTES], unsigned long i)
{
    snprintf(name, NAME_BYTES, "d%06lu", i / FILES_PER_DIRECTORY);
}

static void name_file(char name[static NAME_BYTES], unsigned long i)
{
    snprintf(name, NAME_BYTES, "d%06lu/file%03lu", i / FILES_PER_DIRECTORY, i % FILES_PER_DIRECTORY);
}

static void count_descriptors(struct run *run)
{
    char path[64];
    unsigned count = 0;
    DIR *list;

    snprintf(path, sizeof(path), "/proc/%s/fd", run->pid);
    list = opendir(path);
    if (!list)
        die("%s", path);
    for (struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    closedir(list);
    if (count > run->descriptors)
        run->descriptors = count;
}

static unsigned long read_kib(const char *pid, const char *field)
{
    char path[64], line[256];
    unsigned long value = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%s/smaps_rollup", pid);
    file = fopen(path, "r");
    if (!file)
        die("%s", path);
    while (fgets(line, sizeof(line), file)) {
        if (strncmp(line, field, strlen(field)) == 0)
            value = strtoul(line + strlen(field), NULL, 10);
    }
    fclose(file);
    return value;
}

static void report_memory(const struct run *run, const char *name)
{
    if (run->pid)
        printf("memory %s %lu %lu\n", name, read_kib(run->pid, "Rss:"), read_kib(run->pid, "Pss:"));
}

/* The kernel may forget inodes at any time, so the peak need not be at the end of a phase. */
static void sample(struct run *run)
{
    unsigned long resident, proportional;

    if (!run->pid)
        return;
    count_descriptors(run);
    resident = read_kib(run->pid, "Rss:");
    proportional = read_kib(run->pid, "Pss:");
    if (resident > run->resident_kib)
        run->resident_kib = resident;
    if (proportional > run->proportional_kib)
        run->proportional_kib = proportional;
}

/* The kernel tells of forgotten inodes when it finds the time: until memory has not fallen for a second. */
static void await_forgetting(const struct run *run)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    unsigned long least = ULONG_MAX;

    for (int still = 0; run->pid && still < 10; still++) {
        unsigned long resident = read_kib(run->pid, "Rss:");

        if (resident < least) {
            least = resident;
            still = 0;
        }
        nanosleep(&pause, NULL);
    }
}

/* Of the process, in all its threads. */
static uint64_t cpu_ns(const char *pid)
{
    char path[64], line[1024];
    unsigned long user, system;
    const char *rest;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    file = fopen(path, "r");
    if (!file || !fgets(line, sizeof(line), file))
        die("%s", path);
    fclose(file);
    /* Fields 14 and 15; the second is the name, in parentheses. */
    rest = strrchr(line, ')');
    if (!rest || sscanf(rest + 1, " %*s %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        die("%s", path);
    return (user + system) * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void drop_caches(void)
{
    int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

    sync();
    if (fd < 0 || write(fd, "3", 1) != 1)
        die("/proc/sys/vm/drop_caches");
    close(fd);
}

static void create(const struct run *run, const char *name)
{
    static const char content[CONTENT_BYTES] = "a small file";
    int fd = openat(run->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (fd < 0 || write(fd, content, sizeof(content)) != sizeof(content) || close(fd) < 0)
        die("making %s", name);
}

static void look_up(const struct run *run, const char *name)
{
    struct stat attributes;

    if (fstatat(run->directory, name, &attributes, 0) < 0)
        die("looking %s up", name);
    if (attributes.st_size != CONTENT_BYTES) {
        errno = EIO;
        die("%s has %jd bytes", name, (intmax_t)attributes.st_size);
    }
}

static void read_all(const struct run *run, const char *name)
{
    char content[CONTENT_BYTES + 1];
    int fd = openat(run->directory, name, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || read(fd, content, sizeof(content)) != CONTENT_BYTES || close(fd) < 0)
        die("reading %s", name);
}

static void remove_it(const struct run *run, const char *name)
{
    if (unlinkat(run->directory, name, 0) < 0)
        die("removing %s", name);
}

static void report_phase(const struct run *run, const char *name, uint64_t elapsed_ns)
{
    printf("time %s %" PRIu64 "\n", name, elapsed_ns / run->files);
    fflush(stdout);
}

static void phase(struct run *run, const char *name, void (*operation)(const struct run *run, const char *name))
{
    uint64_t elapsed_ns = 0, began_ns = now_ns();
    char file[NAME_BYTES];

    for (unsigned long i = 0; i < run->files; i++) {
        if (i % SAMPLE_INTERVAL == SAMPLE_INTERVAL - 1) {
            elapsed_ns += now_ns() - began_ns;
            sample(run);
            began_ns = now_ns();
        }
        name_file(file, i);
        operation(run, file);
    }
    elapsed_ns += now_ns() - began_ns;
    sample(run);
    report_phase(run, name, elapsed_ns);
}

static void make_directories(const struct run *run)
{
    char name[NAME_BYTES];

    for (unsigned long i = 0; i < run->files; i += FILES_PER_DIRECTORY) {
        name_directory(name, i);
        if (mkdirat(run->directory, name, 0755) < 0)
            die("making %s", name);
    }
}

static unsigned long list_directory(const struct run *run, const char *name)
{
    int fd = openat(run->directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    unsigned long count = 0;

    if (!list)
        die("listing %s", name);
    errno = 0;
    for (struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    if (errno)
        die("listing %s", name);
    closedir(list);
    return count;
}

static void list_all(const struct run *run)
{
    uint64_t began_ns = now_ns();
    unsigned long count = 0;
    char name[NAME_BYTES];

    for (unsigned long i = 0; i < run->files; i += FILES_PER_DIRECTORY) {
        name_directory(name, i);
        count += list_directory(run, name);
    }
    if (count != run->files) {
        errno = EIO;
        die("%lu files listed", count);
    }
    report_phase(run, "readdir", now_ns() - began_ns);
}

int main(int argc, char **argv)
{
    struct run run = {.pid = argc == 4 ? argv[3] : NULL};
    uint64_t began_cpu_ns;

    if (argc < 3 || argc > 4 || (run.files = strtoul(argv[2], NULL, 10)) == 0) {
        fputs("usage: scale_phases DIRECTORY FILES [PID]\n", stderr);
        return 2;
    }
    run.directory = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (run.directory < 0)
        die("%s", argv[1]);
    report_memory(&run, "start");
    began_cpu_ns = run.pid ? cpu_ns(run.pid) : 0;
    make_directories(&run);
    phase(&run, "create", create);
    drop_caches();
    phase(&run, "cold", look_up);
    phase(&run, "warm", look_up);
    phase(&run, "read", read_all);
    list_all(&run);
    drop_caches();
    await_forgetting(&run);
    report_memory(&run, "dropped");
    phase(&run, "unlink", remove_it);
    if (run.pid)
        report_phase(&run, "daemon-cpu", cpu_ns(run.pid) - began_cpu_ns);
    if (run.pid)
        printf("memory peak %lu %lu\ndescriptors most %u\n", run.resident_kib, run.proportional_kib, run.descriptors);
    return 0;
}
