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

/* On the stack of the one whose work it is, who waits for its helpers. */
struct share {
    struct share *next; /* in store.shares, as long as there may be work left */
    bool listed;
    unsigned helpers;   /* with store.lock */
    int (*work)(void *user, struct split *split, size_t number);
    void *user;
    size_t count;
    _Atomic size_t taken;
    _Atomic int error;
};

static size_t share_do(struct share *share, struct split *split)
{
    size_t number, done = 0;

    while (share->error == 0 && (number = share->taken++) < share->count) {
        int r = share->work(share->user, split, number);

        if (r < 0)
            share->error = r;
        done++;
    }
    return done;
}

static void share_list(struct store *store, struct share *share)
{
    share->next = store->shares;
    share->listed = true;
    store->shares = share;
    for (size_t i = 1; i < share->count && i <= store->config.worker_count; i++)
        pthread_cond_signal(&store->work);
}

static void share_unlist(struct store *store, struct share *share)
{
    struct share **link = &store->shares;

    if (!share->listed)
        return;
    while (*link != share)
        link = &(*link)->next;
    *link = share->next;
    share->listed = false;
}

int workers_share(struct store *store, struct split *split, size_t count,
                  int (*work)(void *user, struct split *split, size_t number), void *user)
{
    struct share share = {.work = work, .user = user, .count = count};

    if (store->config.worker_count == 0 || count < 2) {
        share_do(&share, split);
        return share.error;
    }
    pthread_mutex_lock(&store->lock);
    share_list(store, &share);
    pthread_mutex_unlock(&store->lock);
    share_do(&share, split);
    pthread_mutex_lock(&store->lock);
    share_unlist(store, &share);
    while (share.helpers) {
        uint64_t began_ns = split_begin(split);

        pthread_cond_wait(&store->shared, &store->lock);
        split_end_wait(split, began_ns);
    }
    pthread_mutex_unlock(&store->lock);
    return share.error;
}

/* With the store's lock held, which is given back meanwhile. */
static void help(struct store *store)
{
    struct share *share = store->shares;
    struct split split = {0};
    size_t done;
    int error;

    share->helpers++;
    pthread_mutex_unlock(&store->lock);
    done = share_do(share, &split);
    error = share->error;
    pthread_mutex_lock(&store->lock);
    share_unlist(store, share);
    share->helpers--;
    pthread_cond_broadcast(&store->shared);
    if (done == 0 || !store->config.observe)
        return;
    pthread_mutex_unlock(&store->lock);
    store->config.observe(store->config.user, STORE_BACKGROUND_DECODE, &split, 0, error);
    pthread_mutex_lock(&store->lock);
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

        while (!store->shares && !store->queue_first && !store->stopping)
            pthread_cond_wait(&store->work, &store->lock);
        if (store->shares) {
            help(store); /* a program waits for it */
            continue;
        }
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
