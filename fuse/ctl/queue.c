#include "ctl/queue.h"

#include <stdlib.h>
#include <unistd.h>

#define WORKERS_MAX 16
#define QUEUED_MAX 32 /* each has two descriptors */

struct queued {
    char *path, *name;
    int directory;
    int fd;
    struct stat attributes;
};

struct queue {
    struct job *job;
    tree_visit *visit;
    void *user;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct queued files[QUEUED_MAX];
    unsigned first, count;
    bool closed;
    pthread_t workers[WORKERS_MAX];
    unsigned worker_count;
};

static void visit(struct queue *queue, struct queued *queued)
{
    const struct tree_file file = {
        .path = queued->path,
        .name = queued->name,
        .directory = queued->directory,
        .fd = &queued->fd,
        .attributes = queued->attributes,
    };

    if (!atomic_load(&queue->job->stop)) {
        queue->visit(queue->user, queue->job, &file);
        atomic_fetch_add(&queue->job->files, 1);
    }
    if (queued->fd >= 0)
        close(queued->fd);
    close(queued->directory);
    free(queued->path);
    free(queued->name);
}

static void *work(void *argument)
{
    struct queue *queue = argument;

    pthread_mutex_lock(&queue->lock);
    for (;;) {
        struct queued queued;

        while (queue->count == 0 && !queue->closed)
            pthread_cond_wait(&queue->changed, &queue->lock);
        if (queue->count == 0)
            break;
        queued = queue->files[queue->first];
        queue->first = (queue->first + 1) % QUEUED_MAX;
        queue->count--;
        pthread_cond_broadcast(&queue->changed);
        pthread_mutex_unlock(&queue->lock);
        visit(queue, &queued);
        pthread_mutex_lock(&queue->lock);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

struct queue *queue_create(struct job *job, tree_visit *visit_file, void *user)
{
    struct queue *queue = calloc(1, sizeof(*queue));
    long wanted = sysconf(_SC_NPROCESSORS_ONLN);

    if (!queue)
        return NULL;
    queue->job = job;
    queue->visit = visit_file;
    queue->user = user;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    wanted = wanted < 1 ? 1 : wanted > WORKERS_MAX ? WORKERS_MAX : wanted;
    while (queue->worker_count < (unsigned)wanted &&
           pthread_create(&queue->workers[queue->worker_count], NULL, work, queue) == 0)
        queue->worker_count++;
    if (queue->worker_count)
        return queue;
    queue_destroy(queue);
    return NULL;
}

void queue_destroy(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->closed = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    for (unsigned i = 0; i < queue->worker_count; i++)
        pthread_join(queue->workers[i], NULL);
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

void queue_add(struct queue *queue, char *path, char *name, int directory, int fd,
               const struct stat *attributes)
{
    pthread_mutex_lock(&queue->lock);
    while (queue->count == QUEUED_MAX)
        pthread_cond_wait(&queue->changed, &queue->lock);
    queue->files[(queue->first + queue->count) % QUEUED_MAX] = (struct queued){
        .path = path, .name = name, .directory = directory, .fd = fd, .attributes = *attributes};
    queue->count++;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}
