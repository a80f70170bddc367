/* The codec alone: compressing and decompressing all chunks of the contents, in memory. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "speed.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* One chunk compressed. */
struct packed {
    uint8_t *data;
    ssize_t size; /* 0: did not become smaller */
};

struct work {
    const struct contents *contents;
    const struct tally_codec_choice *choice;
    uint32_t chunk_bytes;
    size_t chunk_count;
    struct packed *packed;
    bool decompress;
    _Atomic size_t next;
    _Atomic int error;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned ready; /* threads that have their contexts */
    bool started;
};

static size_t chunk_size(const struct work *work, size_t chunk)
{
    size_t begin = chunk * work->chunk_bytes;

    return work->contents->size - begin < work->chunk_bytes ? work->contents->size - begin
                                                            : work->chunk_bytes;
}

static int do_chunk(struct work *work, void *context, size_t chunk, uint8_t *out)
{
    const struct tally_codec *codec = work->choice->codec;
    struct packed *packed = &work->packed[chunk];
    size_t size = chunk_size(work, chunk);

    if (!work->decompress) {
        packed->size = codec->compress(context, work->contents->data + chunk * work->chunk_bytes,
                                       size, packed->data, size);
        return packed->size < 0 ? (int)packed->size : 0;
    }
    return packed->size == 0
               ? 0
               : codec->decompress(context, packed->data, (size_t)packed->size, out, size);
}

static int make_context(const struct work *work, void **ret_context)
{
    return work->decompress
               ? work->choice->codec->decompressor_create(ret_context)
               : work->choice->codec->compressor_create(work->choice->level, ret_context);
}

static void end_context(const struct work *work, void *context)
{
    if (work->decompress)
        work->choice->codec->decompressor_destroy(context);
    else
        work->choice->codec->compressor_destroy(context);
}

static void wait_for_start(struct work *work)
{
    pthread_mutex_lock(&work->lock);
    work->ready++;
    pthread_cond_broadcast(&work->changed);
    while (!work->started)
        pthread_cond_wait(&work->changed, &work->lock);
    pthread_mutex_unlock(&work->lock);
}

/* The time when the threads began. */
static uint64_t start(struct work *work, unsigned count)
{
    uint64_t began_ns;

    pthread_mutex_lock(&work->lock);
    while (work->ready < count)
        pthread_cond_wait(&work->changed, &work->lock);
    began_ns = clock_ns();
    work->started = true;
    pthread_cond_broadcast(&work->changed);
    pthread_mutex_unlock(&work->lock);
    return began_ns;
}

static void *run(void *pointer)
{
    struct work *work = pointer;
    AUTO_FREE uint8_t *out = malloc(work->chunk_bytes);
    void *context = NULL;
    int r = out ? make_context(work, &context) : -ENOMEM;
    bool made = r == 0;
    size_t chunk;

    wait_for_start(work);
    while (r == 0 && (chunk = work->next++) < work->chunk_count)
        r = interrupt_pending() ? -ECANCELED : do_chunk(work, context, chunk, out);
    if (r < 0)
        work->error = r;
    if (made)
        end_context(work, context);
    return NULL;
}

/* MiB/s of all chunks on `count` threads. */
static int run_threads(struct work *work, unsigned count, double *ret_speed)
{
    AUTO_FREE pthread_t *threads = calloc(count, sizeof(*threads));
    unsigned started = 0;
    uint64_t began_ns;

    if (!threads)
        return -ENOMEM;
    work->next = 0;
    work->error = 0;
    work->ready = 0;
    work->started = false;
    while (started < count && work->error == 0) {
        work->error = -pthread_create(&threads[started], NULL, run, work);
        started += work->error == 0;
    }
    if (work->error < 0)
        work->next = work->chunk_count;
    began_ns = start(work, started);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    *ret_speed = (double)work->contents->size / MIB / ((double)(clock_ns() - began_ns) / 1e9);
    return work->error;
}

static double per_mib(const struct work *work, double seconds)
{
    return seconds * 1e3 / ((double)work->contents->size / MIB);
}

static int run_all(struct work *work, unsigned workers, struct sample *sample)
{
    static const struct {
        bool decompress, all;
        enum measure measure, cpu;
    } runs[] = {
        {false, false, MEASURE_COMPRESS_ONE, MEASURE_COUNT},
        {false, true, MEASURE_COMPRESS_ALL, MEASURE_COMPRESS_CPU},
        {true, false, MEASURE_DECOMPRESS_ONE, MEASURE_DECOMPRESS_CPU},
        {true, true, MEASURE_DECOMPRESS_ALL, MEASURE_COUNT},
    };
    int r = 0;

    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]) && r == 0; i++) {
        double began_s = cpu_seconds();

        work->decompress = runs[i].decompress;
        r = run_threads(work, runs[i].all ? workers : 1, &sample->values[runs[i].measure]);
        if (runs[i].cpu != MEASURE_COUNT)
            sample->values[runs[i].cpu] = per_mib(work, cpu_seconds() - began_s);
    }
    return r;
}

int memory_measure(const struct settings *settings, const struct contents *contents,
                   const struct subject *subject, struct sample *sample)
{
    struct work work = {
        .contents = contents,
        .choice = &subject->choice,
        .chunk_bytes = subject->chunk_bytes,
        .chunk_count = (contents->size + subject->chunk_bytes - 1) / subject->chunk_bytes,
    };
    AUTO_FREE uint8_t *out = malloc(contents->size);
    AUTO_FREE struct packed *packed = calloc(work.chunk_count, sizeof(*packed));
    int r;

    if (!out || !packed)
        return -ENOMEM;
    memset(out, 1, contents->size); /* has the kernel give the pages now */
    for (size_t i = 0; i < work.chunk_count; i++)
        packed[i].data = out + i * subject->chunk_bytes;
    work.packed = packed;
    pthread_mutex_init(&work.lock, NULL);
    pthread_cond_init(&work.changed, NULL);
    r = run_all(&work, settings->workers, sample);
    pthread_cond_destroy(&work.changed);
    pthread_mutex_destroy(&work.lock);
    return r;
}
