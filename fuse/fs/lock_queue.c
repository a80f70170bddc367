#include "fs/lock_queue.h"

#include <pthread.h>
#include <sys/file.h>

#include "fs/context.h"
#include "stats/stats.h"
#include "util/cleanup.h"

#define RETRY_NS 10000000

/* Before one gives up: on a machine with much to do our own thread, too, comes late to each. */
#define TRIES_MIN 20

struct waiter {
    struct waiter *next;
    struct call call;
    struct lock_attempt attempt;
    uint64_t began_ns;
    unsigned tries;
};

struct lock_queue {
    pthread_mutex_t deciding; /* taken before the other */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct waiter *waiters; /* oldest first */
    pthread_t thread;
    bool started;
    bool ending;
};

int lock_try(struct split *split, const struct lock_attempt *attempt)
{
    struct flock lock = attempt->lock;
    int r;

    if (attempt->is_flock)
        return LOWER(split, flock(attempt->fd, attempt->operation | LOCK_NB));
    /* A lock that belongs to the descriptor: the daemon is one process for all its programs. */
    lock.l_pid = 0;
    r = LOWER(split, fcntl(attempt->fd, F_OFD_SETLK, &lock));
    return r == -EACCES ? -EAGAIN : r;
}

int lock_queue_create(struct lock_queue **ret_queue)
{
    struct lock_queue *queue = calloc(1, sizeof(*queue));
    pthread_condattr_t attributes;

    if (!queue)
        return -ENOMEM;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_mutex_init(&queue->deciding, NULL);
    *ret_queue = queue;
    return 0;
}

static void waiter_end(struct waiter *waiter, int r)
{
    struct call *call = &waiter->call;

    if (call->split) {
        call->split = &call->times;
        call->thread = stats_thread(call->fs->stats);
        split_end_wait(call->split, waiter->began_ns);
    }
    if (r == 0)
        reply_done(call);
    call_end(call, r);
    cleanup_close(&waiter->attempt.fd);
    free(waiter);
}

/* Takes those out that need not wait longer, and answers them. Called with the lock held, which it gives up meanwhile. */
static void try_all(struct lock_queue *queue)
{
    struct waiter **link = &queue->waiters;

    while (*link) {
        struct waiter *waiter = *link;
        uint64_t give_up_ns = waiter->attempt.give_up_ns;
        int r = queue->ending || fuse_req_interrupted(waiter->call.req) ? -EINTR : lock_try(NULL, &waiter->attempt);

        if (r == -EAGAIN && (!give_up_ns || ++waiter->tries < TRIES_MIN || clock_ns() < give_up_ns)) {
            link = &waiter->next;
            continue;
        }
        *link = waiter->next;
        pthread_mutex_unlock(&queue->lock);
        waiter_end(waiter, r);
        pthread_mutex_lock(&queue->lock);
        link = &queue->waiters;
    }
}

static void wait_for_retry(struct lock_queue *queue)
{
    uint64_t until_ns = clock_ns() + RETRY_NS;
    struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SECOND), .tv_nsec = (long)(until_ns % NS_PER_SECOND)};

    if (queue->waiters)
        pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
    else
        pthread_cond_wait(&queue->changed, &queue->lock);
}

static void *run(void *argument)
{
    struct lock_queue *queue = argument;

    pthread_mutex_lock(&queue->lock);
    while (!queue->ending) {
        wait_for_retry(queue);
        try_all(queue);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

static void append(struct lock_queue *queue, struct waiter *waiter)
{
    struct waiter **link = &queue->waiters;

    while (*link)
        link = &(*link)->next;
    *link = waiter;
}

void lock_queue_hold(struct lock_queue *queue)
{
    pthread_mutex_lock(&queue->deciding);
}

void lock_queue_let_go(struct lock_queue *queue)
{
    pthread_mutex_unlock(&queue->deciding);
}

int lock_queue_wait(struct lock_queue *queue, struct call *call, const struct lock_attempt *attempt)
{
    struct waiter *waiter = malloc(sizeof(*waiter));
    int r = 0;

    if (!waiter)
        return -ENOMEM;
    *waiter = (struct waiter){.call = *call, .attempt = *attempt, .began_ns = split_begin(call->split)};
    waiter->attempt.fd = LOWER(call->split, fcntl(attempt->fd, F_DUPFD_CLOEXEC, 0));
    if (waiter->attempt.fd < 0) {
        r = waiter->attempt.fd;
        free(waiter);
        return r;
    }
    /* From here on the request is the queue's. */
    call->deferred = true;
    pthread_mutex_lock(&queue->lock);
    if (!queue->started) {
        r = -pthread_create(&queue->thread, NULL, run, queue);
        queue->started = r == 0;
    }
    if (r == 0)
        append(queue, waiter);
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    if (r < 0) {
        call->deferred = false;
        cleanup_close(&waiter->attempt.fd);
        free(waiter);
    }
    return r;
}

bool lock_queue_find(struct lock_queue *queue, uint64_t owner, struct lock_attempt *ret_attempt)
{
    bool found = false;

    pthread_mutex_lock(&queue->lock);
    for (const struct waiter *waiter = queue->waiters; waiter && !found; waiter = waiter->next) {
        struct lock_attempt attempt = waiter->attempt;

        if (attempt.is_flock || attempt.owner != owner)
            continue;
        attempt.fd = fcntl(attempt.fd, F_DUPFD_CLOEXEC, 0);
        found = attempt.fd >= 0;
        if (found) {
            inode_hold(waiter->call.fs->inodes, attempt.node);
            *ret_attempt = attempt;
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return found;
}

void lock_queue_wake(struct lock_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    if (queue->waiters)
        pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

void lock_queue_end(struct lock_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->ending = true;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    if (queue->started)
        pthread_join(queue->thread, NULL);
    queue->started = false;
}

void lock_queue_destroy(struct lock_queue *queue)
{
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->deciding);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}
