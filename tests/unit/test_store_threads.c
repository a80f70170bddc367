/* One store under many threads: own regions of one file, own files, readers beside writers. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "store_model.h"

#define THREADS 6
#define REGION (300u * 1024) /* no multiple of a chunk, so that neighbours share chunks */
#define STEPS 150

struct worker {
    pthread_t thread;
    struct backend *file;
    unsigned number;
    uint64_t random;
    uint8_t *model;
    const char *failed; /* written by its own thread, read after join */
};

static const char *run_region(struct worker *self)
{
    off_t base = (off_t)self->number * REGION;
    uint8_t *buffer = malloc(REGION);
    const char *failed = NULL;

    for (unsigned i = 0; i < STEPS && !failed; i++) {
        size_t offset = random_below(&self->random, REGION), size = random_below(&self->random, REGION - offset) + 1;

        if (random_below(&self->random, 4) == 0)
            size = size < 5000 ? size : 5000;
        switch (random_below(&self->random, 5)) {
        case 0 ... 1:
            fill(buffer, size, &self->random);
            if (backend_pwrite(self->file, NULL, buffer, size, base + (off_t)offset, false) != (ssize_t)size)
                failed = "write";
            memcpy(self->model + offset, buffer, size);
            break;
        case 2 ... 3:
            memset(buffer, 0xA5, size);
            if (backend_pread(self->file, NULL, buffer, size, base + (off_t)offset) != (ssize_t)size)
                failed = "read";
            else if (memcmp(buffer, self->model + offset, size) != 0)
                failed = "contents";
            break;
        default:
            if (random_below(&self->random, 2) ? backend_sync(self->file, NULL, true) : backend_flush(self->file, NULL))
                failed = "sync";
        }
    }
    free(buffer);
    return failed;
}

static void *region_thread(void *argument)
{
    struct worker *self = argument;

    self->failed = run_region(self);
    return NULL;
}

static void run_threads(const char *codec, uint32_t chunk_bytes, unsigned workers)
{
    struct store *store = make_store(chunk_bytes, workers);
    struct worker threads[THREADS];
    uint8_t *check = malloc(REGION);
    int fd = memory_file();
    struct backend *file;

    CHECK_EQ(open_container(store, fd, codec, false, &file), 0);
    CHECK_EQ(backend_truncate(file, NULL, THREADS * REGION), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = (struct worker){.file = file, .number = i, .random = i + 1, .model = calloc(1, REGION)};
        CHECK_EQ(pthread_create(&threads[i].thread, NULL, region_thread, &threads[i]), 0);
    }
    for (unsigned i = 0; i < 20; i++)
        CHECK_EQ(store_drain(store, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i].thread, NULL);
        if (threads[i].failed)
            FAIL("thread %u failed in %s with %s", i, threads[i].failed, codec);
    }
    CHECK_EQ(backend_close(file, NULL), 0);
    CHECK_EQ(open_container(store, fd, codec, true, &file), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK_EQ(backend_pread(file, NULL, check, REGION, (off_t)i * REGION), REGION);
        CHECK_EQ(memcmp(check, threads[i].model, REGION), 0);
        free(threads[i].model);
    }
    CHECK_EQ(backend_close(file, NULL), 0);
    close(fd);
    free(check);
    store_destroy(store);
}

static void keeps_regions_apart_when_threads_share_a_file(void)
{
    run_threads("lz4", FORMAT_CHUNK_MIN, 2);
    run_threads("zstd:1", 128u << 10, 3);
    run_threads("none", 128u << 10, 2);
    run_threads("gzip:1", 64u << 10, 0);
}

/* Appends of one record each by several threads: every record is there once and whole. */
#define RECORD 48
#define RECORDS 400

static void *append_thread(void *argument)
{
    struct worker *self = argument;
    uint8_t record[RECORD];

    for (unsigned i = 0; i < RECORDS; i++) {
        memset(record, (int)self->number + 'A', sizeof(record));
        record[0] = (uint8_t)i;
        record[1] = (uint8_t)(i >> 8);
        if (backend_pwrite(self->file, NULL, record, sizeof(record), 0, true) != sizeof(record))
            self->failed = "append";
    }
    return NULL;
}

static void keeps_every_record_when_threads_append(void)
{
    struct store *store = make_store(FORMAT_CHUNK_MIN, 2);
    unsigned next[THREADS] = {0};
    struct worker threads[THREADS];
    int fd = memory_file();
    struct backend *file;

    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = (struct worker){.file = file, .number = i};
        CHECK_EQ(pthread_create(&threads[i].thread, NULL, append_thread, &threads[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i].thread, NULL);
        CHECK(threads[i].failed == NULL);
    }
    CHECK_EQ(backend_close(file, NULL), 0);
    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    for (off_t at = 0; at < THREADS * RECORDS * RECORD; at += RECORD) {
        uint8_t record[RECORD];
        unsigned thread;

        CHECK_EQ(backend_pread(file, NULL, record, sizeof(record), at), sizeof(record));
        thread = record[2] - (unsigned)'A';
        CHECK(thread < THREADS);
        CHECK_EQ(record[0] | record[1] << 8, next[thread]);
        next[thread]++;
    }
    CHECK_EQ(backend_close(file, NULL), 0);
    close(fd);
    store_destroy(store);
}

/* A writer fills whole chunks with one value, ever higher; a reader sees one value per chunk, never a lower one. */
struct watched {
    struct backend *file;
    atomic_bool done;
    const char *failed;
};

static void *watch_thread(void *argument)
{
    struct watched *watched = argument;
    uint8_t buffer[8192], highest = 0;

    while (!atomic_load(&watched->done) && !watched->failed) {
        if (backend_pread(watched->file, NULL, buffer, sizeof(buffer), 4096) != sizeof(buffer)) {
            watched->failed = "read";
            break;
        }
        for (size_t i = 1; i < sizeof(buffer); i++)
            if (buffer[i] != buffer[0])
                watched->failed = "torn";
        if (buffer[0] < highest)
            watched->failed = "old";
        highest = buffer[0];
    }
    return NULL;
}

static void shows_whole_writes_when_read_beside_a_writer(void)
{
    struct store *store = make_store(FORMAT_CHUNK_MIN, 2);
    struct watched watched = {0};
    uint8_t chunk[FORMAT_CHUNK_MIN];
    pthread_t reader;
    int fd = memory_file();

    memset(chunk, 0, sizeof(chunk));
    CHECK_EQ(open_container(store, fd, "lz4", false, &watched.file), 0);
    CHECK_EQ(backend_pwrite(watched.file, NULL, chunk, sizeof(chunk), 0, false), sizeof(chunk));
    CHECK_EQ(pthread_create(&reader, NULL, watch_thread, &watched), 0);
    for (int value = 1; value < 250; value++) {
        memset(chunk, value, sizeof(chunk));
        CHECK_EQ(backend_pwrite(watched.file, NULL, chunk, value % 2 ? sizeof(chunk) : 14000, 0, false),
                 value % 2 ? sizeof(chunk) : 14000);
        if (value % 8 == 0)
            CHECK_EQ(backend_flush(watched.file, NULL), 0);
    }
    atomic_store(&watched.done, true);
    pthread_join(reader, NULL);
    if (watched.failed)
        FAIL("the reader saw: %s", watched.failed);
    CHECK_EQ(backend_close(watched.file, NULL), 0);
    close(fd);
    store_destroy(store);
}

/* More files and bytes than the limit on buffered data allows: nobody waits for ever, nothing is lost. */
static void *many_files_thread(void *argument)
{
    struct worker *self = argument;
    struct store *store = (struct store *)self->file; /* each thread makes its own files */
    uint8_t *data = malloc(200000), *back = malloc(200000);

    for (unsigned i = 0; i < 12 && !self->failed; i++) {
        struct backend *file;
        int fd = memory_file();

        fill(data, 200000, &self->random);
        if (open_container(store, fd, "zstd:1", false, &file) != 0 ||
            backend_pwrite(file, NULL, data, 200000, 0, false) != 200000 || backend_flush(file, NULL) != 0 ||
            backend_pread(file, NULL, back, 200000, 0) != 200000 || memcmp(data, back, 200000) != 0 ||
            backend_close(file, NULL) != 0)
            self->failed = "file";
        close(fd);
    }
    free(data);
    free(back);
    return NULL;
}

static void ends_when_more_is_written_than_may_be_buffered(void)
{
    const struct store_config config = {
        .chunk_bytes = 64u << 10, .dirty_limit_bytes = 128u << 10, .cache_limit_bytes = 64u << 10, .worker_count = 2};
    struct worker threads[THREADS];
    struct store *store;

    CHECK_EQ(store_create(&config, &store), 0);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i] = (struct worker){.file = (struct backend *)store, .number = i, .random = i};
        CHECK_EQ(pthread_create(&threads[i].thread, NULL, many_files_thread, &threads[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i].thread, NULL);
        CHECK(threads[i].failed == NULL);
    }
    store_destroy(store);
}

/* The age limit: what nobody flushes reaches the lower file by itself. */
static void writes_behind_when_nobody_flushes(void)
{
    struct store *store = make_store(128u << 10, 1);
    struct stat attributes = {0};
    struct backend *file;
    int fd = memory_file();

    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    CHECK_EQ(backend_pwrite(file, NULL, "hello", 5, 0, false), 5);
    for (unsigned i = 0; i < 100 && attributes.st_size == 0; i++) {
        usleep(100000);
        CHECK_EQ(fstat(fd, &attributes), 0);
    }
    CHECK_EQ(attributes.st_size, 80);
    CHECK_EQ(backend_close(file, NULL), 0);
    close(fd);
    store_destroy(store);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(keeps_every_record_when_threads_append),
        CASE(shows_whole_writes_when_read_beside_a_writer),
        CASE(keeps_regions_apart_when_threads_share_a_file),
        CASE(ends_when_more_is_written_than_may_be_buffered),
        CASE(writes_behind_when_nobody_flushes),
    };

    return RUN_CASES(cases);
}
