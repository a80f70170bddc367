/* The threads behind a store: those that compress, one that watches how old buffered data is, one that reclaims. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "store/internal.h"

/* Chunks that wait for one worker. More would only leave the processor's caches before their turn comes. */
#define QUEUED_FOR_WORKER 3

#define AGE_LIMIT_NS NS_PER_SECOND
#define WATCH_INTERVAL_NS (NS_PER_SECOND / 4)

static void queue(struct store *store, struct buffer *buffer)
{
    buffer->queue_next = NULL;
    if (store->queue_last)
        store->queue_last->queue_next = buffer;
    else
        store->queue_first = buffer;
    store->queue_last = buffer;
    store->in_flight++;
    pthread_cond_signal(&store->work);
}

void workers_queue(struct store *store, struct buffer *buffer)
{
    pthread_mutex_lock(&store->lock);
    queue(store, buffer);
    pthread_mutex_unlock(&store->lock);
}

bool workers_offer(struct store *store, struct buffer *buffer)
{
    bool room;

    pthread_mutex_lock(&store->lock);
    room = store->in_flight < QUEUED_FOR_WORKER * store->config.worker_count;
    if (room)
        queue(store, buffer);
    pthread_mutex_unlock(&store->lock);
    return room;
}

static void *worker(void *argument)
{
    struct store *store = argument;

    pthread_mutex_lock(&store->lock);
    for (;;) {
        struct split split = {0};
        struct buffer *buffer;
        uint64_t bytes;
        int r;

        while (!store->queue_first && !store->stopping)
            pthread_cond_wait(&store->work, &store->lock);
        buffer = store->queue_first;
        if (!buffer)
            break;
        store->queue_first = buffer->queue_next;
        if (!store->queue_first)
            store->queue_last = NULL;
        pthread_mutex_unlock(&store->lock);
        bytes = buffer->end - buffer->begin;
        r = buffer_write(buffer, &split);
        if (store->config.observe)
            store->config.observe(store->config.user, STORE_BACKGROUND_COMPRESS, &split, bytes, r);
        pthread_mutex_lock(&store->lock);
        store->in_flight--;
        pthread_cond_broadcast(&store->room);
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

static void wait_interval(struct store *store)
{
    struct timespec until;
    uint64_t ns;

    clock_gettime(CLOCK_MONOTONIC, &until);
    ns = (uint64_t)until.tv_nsec + WATCH_INTERVAL_NS;
    until.tv_sec += (time_t)(ns / NS_PER_SECOND);
    until.tv_nsec = (long)(ns % NS_PER_SECOND);
    pthread_cond_timedwait(&store->watch, &store->lock, &until);
}

/* A file whose lock is held by a writer is left for the next round: the writer is not idle, it will be drained. */
static void submit_old(struct store_file *file)
{
    if (pthread_rwlock_tryrdlock(&file->content) != 0)
        return;
    buffer_submit_old(file, clock_ns() - AGE_LIMIT_NS);
    content_unlock(file);
}

static void *watcher(void *argument)
{
    struct store *store = argument;

    pthread_mutex_lock(&store->lock);
    while (!store->stopping) {
        if (store->dirty_bytes == 0) {
            pthread_cond_wait(&store->watch, &store->lock);
            continue;
        }
        wait_interval(store);
        for (struct store_file *file = store->files; file; file = file->next) {
            file->pins++;
            pthread_mutex_unlock(&store->lock);
            submit_old(file);
            pthread_mutex_lock(&store->lock);
            if (--file->pins == 0)
                pthread_cond_broadcast(&store->room);
        }
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

void workers_want_reclaim(struct store_file *file)
{
    struct store *store = file->store;

    pthread_mutex_lock(&store->lock);
    file->reclaim_wanted = true;
    pthread_cond_signal(&store->reclaim);
    pthread_mutex_unlock(&store->lock);
}

static void reclaim(struct store *store, struct store_file *file)
{
    struct split split = {0};
    uint64_t before, after;
    bool urgent;
    int r;

    if (!reclaim_is_due(file, &urgent))
        return;
    pthread_mutex_lock(&file->lock);
    before = file->used_bytes;
    pthread_mutex_unlock(&file->lock);
    r = reclaim_round(file, &split);
    pthread_mutex_lock(&file->lock);
    after = file->used_bytes;
    pthread_mutex_unlock(&file->lock);
    if (store->config.observe)
        store->config.observe(store->config.user, STORE_BACKGROUND_RECLAIM, &split,
                              before > after ? before - after : 0, r);
}

static void *reclaimer(void *argument)
{
    struct store *store = argument;

    pthread_mutex_lock(&store->lock);
    while (!store->stopping) {
        struct store_file *file = store->files;

        while (file && !file->reclaim_wanted)
            file = file->next;
        if (!file) {
            pthread_cond_wait(&store->reclaim, &store->lock);
            continue;
        }
        file->reclaim_wanted = false;
        file->pins++;
        pthread_mutex_unlock(&store->lock);
        reclaim(store, file);
        pthread_mutex_lock(&store->lock);
        if (--file->pins == 0)
            pthread_cond_broadcast(&store->room);
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

void workers_stop(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    store->stopping = true;
    pthread_cond_broadcast(&store->work);
    pthread_cond_broadcast(&store->watch);
    pthread_cond_broadcast(&store->reclaim);
    pthread_mutex_unlock(&store->lock);
    for (unsigned i = 0; i < store->thread_count; i++)
        pthread_join(store->threads[i], NULL);
    free(store->threads);
}

int workers_start(struct store *store)
{
    unsigned workers = store->config.worker_count, wanted = workers ? workers + 2 : 0;

    if (wanted == 0)
        return 0;
    store->threads = calloc(wanted, sizeof(*store->threads));
    if (!store->threads)
        return -ENOMEM;
    while (store->thread_count < wanted) {
        unsigned number = store->thread_count;
        void *(*body)(void *) = number < workers ? worker : number == workers ? watcher : reclaimer;
        int r = pthread_create(&store->threads[number], NULL, body, store);

        if (r != 0) {
            workers_stop(store);
            return -r;
        }
        store->thread_count++;
    }
    return 0;
}
