/* One file from making to removing it, with each phase timed. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "speed.h"
#include "statistics/random.h"
#include "store/backend.h"
#include "store/store.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* As a mount has it. */
#define DIRTY_LIMIT_BYTES ((size_t)64 << 20)
#define CACHE_LIMIT_BYTES ((size_t)8 << 20)

struct run {
    const struct settings *settings;
    const struct contents *contents;
    const struct subject *subject;
    char path[4096];
    struct store *store; /* NULL for a plain file */
    struct backend *file;
    uint8_t *expected; /* what the file should have, with room for the appended bytes */
    size_t size;
    uint8_t *buffer; /* of one request */
    struct random_stream random;
    struct sample *sample;
};

static double seconds_since(uint64_t began_ns)
{
    return (double)(clock_ns() - began_ns) / 1e9;
}

double cpu_seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What streaming over all of the file took. */
static void set_streamed(struct run *run, enum measure measure, uint64_t began_ns,
                         double cpu_began_s)
{
    static const enum measure cpu[MEASURE_COUNT] = {
        [MEASURE_WRITE] = MEASURE_WRITE_CPU,
        [MEASURE_READ_COLD] = MEASURE_READ_COLD_CPU,
        [MEASURE_READ_WARM] = MEASURE_READ_WARM_CPU,
    };
    double size = (double)run->size / MIB;

    run->sample->values[measure] = size / seconds_since(began_ns);
    run->sample->values[cpu[measure]] = (cpu_seconds() - cpu_began_s) * 1e3 / size;
}

static int open_file(struct run *run, int flags)
{
    AUTO_CLOSE int fd = open(run->path, O_RDWR | O_CLOEXEC | flags, 0600);
    struct backend *raw;
    int r;

    if (fd < 0)
        return -errno;
    r = raw_backend_create(fd, NULL, &raw);
    if (r < 0)
        return r;
    fd = -1;
    run->file = raw;
    if (!run->store)
        return 0;
    r = store_file_open(run->store, NULL, raw, &run->subject->choice, false, &run->file);
    if (r < 0) {
        backend_close(raw, NULL);
        run->file = NULL;
    }
    return r;
}

static int close_file(struct run *run)
{
    struct backend *file = TAKE_POINTER(run->file);

    return file ? backend_close(file, NULL) : 0;
}

static int write_all(struct run *run)
{
    size_t request = (size_t)run->settings->request_bytes;
    uint64_t began_ns = clock_ns();
    double cpu_began_s = cpu_seconds();
    int r;

    while (run->size < run->contents->size) {
        size_t left = run->contents->size - run->size;
        ssize_t done = backend_pwrite(run->file, NULL, run->contents->data + run->size,
                                      left < request ? left : request, (off_t)run->size, false);

        if (done < 0)
            return (int)done;
        if (interrupt_pending())
            return -ECANCELED;
        run->size += (size_t)done;
    }
    r = backend_sync(run->file, NULL, false);
    set_streamed(run, MEASURE_WRITE, began_ns, cpu_began_s);
    memcpy(run->expected, run->contents->data, run->size);
    return r;
}

/* Reads everything; compares it where the time is not measured. */
static int read_all(struct run *run, enum measure measure, bool compare)
{
    size_t request = (size_t)run->settings->request_bytes, done = 0;
    uint64_t began_ns = clock_ns();
    double cpu_began_s = cpu_seconds();

    while (done < run->size) {
        ssize_t got = backend_pread(run->file, NULL, run->buffer, request, (off_t)done);

        if (got < 0)
            return (int)got;
        if (interrupt_pending())
            return -ECANCELED;
        if (got == 0 || (compare && memcmp(run->buffer, run->expected + done, (size_t)got) != 0))
            return -EBADMSG;
        done += (size_t)got;
    }
    if (!compare)
        set_streamed(run, measure, began_ns, cpu_began_s);
    return 0;
}

/* Closes the file and has the kernel forget its pages: all that can be done for one file. */
static int make_cold(struct run *run)
{
    AUTO_CLOSE int fd = -1;
    int r = close_file(run);

    if (r < 0)
        return r;
    fd = open(run->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        return -errno;
    r = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return r < 0 ? r : open_file(run, 0);
}

static int measure_stored(struct run *run)
{
    int fd = backend_descriptor(run->file);
    struct stat attributes;
    uint64_t bytes;
    int r = 0;

    if (fstat(fd, &attributes) < 0)
        return -errno;
    bytes = (uint64_t)attributes.st_blocks * 512;
    if (run->subject->kind == SUBJECT_BTRFS)
        r = btrfs_stored_bytes(fd, &bytes);
    run->sample->values[MEASURE_STORED] = (double)bytes;
    return r;
}

static size_t random_block(struct run *run)
{
    uint64_t blocks = run->contents->size / BLOCK_BYTES;

    return (size_t)(random_next(&run->random) % blocks) * BLOCK_BYTES;
}

static int read_block(struct run *run, unsigned number)
{
    ssize_t got =
        backend_pread(run->file, NULL, run->buffer, BLOCK_BYTES, (off_t)random_block(run));

    (void)number;
    return got == BLOCK_BYTES ? 0 : got < 0 ? (int)got : -EBADMSG;
}

/* With contents of another place of the file, so that it compresses as the file does. */
static int overwrite_block(struct run *run, unsigned number)
{
    size_t to = random_block(run), from = random_block(run);
    ssize_t done =
        backend_pwrite(run->file, NULL, run->contents->data + from, BLOCK_BYTES, (off_t)to, false);

    if (done != BLOCK_BYTES)
        return done < 0 ? (int)done : -EIO;
    memcpy(run->expected + to, run->contents->data + from, BLOCK_BYTES);
    number++;
    return number % run->settings->sync_every == 0 || number == run->settings->operations
               ? backend_sync(run->file, NULL, true)
               : 0;
}

static int append_line(struct run *run, unsigned number)
{
    const uint8_t *data = run->contents->data + random_block(run);
    ssize_t done = backend_pwrite(run->file, NULL, data, APPEND_BYTES, 0, true);

    (void)number;
    if (done != APPEND_BYTES)
        return done < 0 ? (int)done : -EIO;
    memcpy(run->expected + run->size, data, APPEND_BYTES);
    run->size += APPEND_BYTES;
    return backend_sync(run->file, NULL, true);
}

static int repeat(struct run *run, enum measure measure, int (*operation)(struct run *, unsigned))
{
    unsigned count = run->settings->operations;
    uint64_t began_ns = clock_ns();

    for (unsigned i = 0; i < count; i++) {
        int r = interrupt_pending() ? -ECANCELED : operation(run, i);

        if (r < 0)
            return r;
    }
    run->sample->values[measure] = count / seconds_since(began_ns);
    return 0;
}

static int reopen(struct run *run)
{
    uint64_t began_ns = clock_ns();
    int r = close_file(run);

    if (r == 0)
        r = open_file(run, 0);
    run->sample->values[MEASURE_REOPEN] = seconds_since(began_ns) * 1e6;
    return r;
}

static int run_phases(struct run *run)
{
    int r = open_file(run, O_CREAT | O_EXCL);

    if (r == 0)
        r = write_all(run);
    if (r == 0)
        r = make_cold(run);
    if (r == 0)
        r = measure_stored(run);
    if (r == 0)
        r = read_all(run, MEASURE_READ_COLD, false);
    if (r == 0)
        r = read_all(run, MEASURE_READ_WARM, false);
    if (r == 0)
        r = repeat(run, MEASURE_RANDOM_READ, read_block);
    if (r == 0)
        r = repeat(run, MEASURE_OVERWRITE, overwrite_block);
    if (r == 0)
        r = repeat(run, MEASURE_APPEND, append_line);
    if (r == 0)
        r = reopen(run);
    if (r == 0)
        r = read_all(run, MEASURE_COUNT, true);
    return r;
}

static int make_store(struct run *run)
{
    const struct store_config config = {
        .chunk_bytes = run->subject->chunk_bytes,
        .dirty_limit_bytes = DIRTY_LIMIT_BYTES,
        .cache_limit_bytes = CACHE_LIMIT_BYTES,
        .worker_count = run->settings->workers,
    };

    return run->subject->kind == SUBJECT_STORE ? store_create(&config, &run->store) : 0;
}

int file_measure(const struct settings *settings, const struct contents *contents,
                 const struct subject *subject, const char *directory, struct sample *sample)
{
    size_t room = contents->size + (size_t)settings->operations * APPEND_BYTES;
    size_t request = (size_t)settings->request_bytes;
    AUTO_FREE uint8_t *expected = malloc(room);
    AUTO_FREE uint8_t *buffer = malloc(request > BLOCK_BYTES ? request : BLOCK_BYTES);
    struct run run = {
        .settings = settings,
        .contents = contents,
        .subject = subject,
        .expected = expected,
        .buffer = buffer,
        .random = random_stream(settings->seed, 0),
        .sample = sample,
    };
    int r, s;

    if (!expected || !buffer)
        return -ENOMEM;
    memset(buffer, 1, request > BLOCK_BYTES ? request : BLOCK_BYTES);
    snprintf(run.path, sizeof(run.path), "%s/measured", directory);
    r = make_store(&run);
    if (r < 0)
        return r;
    r = run_phases(&run);
    s = close_file(&run);
    if (run.store)
        store_destroy(run.store);
    unlink(run.path);
    return r < 0 ? r : s;
}
