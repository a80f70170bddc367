#include "fs/seek.h"

#include <pthread.h>

#include "fs/handlers.h"
#include "stats/stats.h"

/* One seek that waits. The kernel keeps its file open until it is answered. */
struct seek {
    struct seek *next;
    struct call call;
    struct content *content;
    fuse_ino_t ino;
    off_t offset;
    int whence;
    uint64_t began_ns;
};

struct seeker {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct seek *first, **end; /* oldest first */
    pthread_t thread;
    bool started;
    bool ending;
};

int seeker_create(struct seeker **ret_seeker)
{
    struct seeker *seeker = calloc(1, sizeof(*seeker));

    if (!seeker)
        return -ENOMEM;
    pthread_mutex_init(&seeker->lock, NULL);
    pthread_cond_init(&seeker->changed, NULL);
    seeker->end = &seeker->first;
    *ret_seeker = seeker;
    return 0;
}

static int seek_and_reply(struct call *call, const struct content *content, off_t offset, int whence)
{
    off_t found = backend_seek(content->backend, call->split, offset, whence);

    if (found < 0)
        return (int)found;
    reply_offset(call, found);
    return 0;
}

static void seek_end(struct seek *seek, bool ending)
{
    struct call *call = &seek->call;

    if (call->split) {
        call->split = &call->times;
        call->thread = stats_thread(call->fs->stats);
        split_end_wait(call->split, seek->began_ns);
    }
    call_end(call, ending ? -EINTR : seek_and_reply(call, seek->content, seek->offset, seek->whence));
    free(seek);
}

static void *run(void *argument)
{
    struct seeker *seeker = argument;

    pthread_mutex_lock(&seeker->lock);
    while (!seeker->ending || seeker->first) {
        struct seek *seek = seeker->first;
        bool ending = seeker->ending;

        if (!seek) {
            pthread_cond_wait(&seeker->changed, &seeker->lock);
            continue;
        }
        seeker->first = seek->next;
        if (!seeker->first)
            seeker->end = &seeker->first;
        pthread_mutex_unlock(&seeker->lock);
        /* Dropping an inode's pages writes them first. An error leaves the answer as good as it can be. */
        if (!ending)
            fuse_lowlevel_notify_inval_inode(seek->call.fs->session, seek->ino, 0, 0);
        seek_end(seek, ending);
        pthread_mutex_lock(&seeker->lock);
    }
    pthread_mutex_unlock(&seeker->lock);
    return NULL;
}

/* Has the thread answer the call. 0 or -errno. */
static int seek_later(struct seeker *seeker, struct call *call, const struct seek *wanted)
{
    struct seek *seek = malloc(sizeof(*seek));
    int r = 0;

    if (!seek)
        return -ENOMEM;
    *seek = *wanted;
    seek->began_ns = split_begin(call->split);
    seek->call = *call;
    pthread_mutex_lock(&seeker->lock);
    if (!seeker->started) {
        r = -pthread_create(&seeker->thread, NULL, run, seeker);
        seeker->started = r == 0;
    }
    if (r == 0) {
        call->deferred = true;
        *seeker->end = seek;
        seeker->end = &seek->next;
        pthread_cond_signal(&seeker->changed);
    }
    pthread_mutex_unlock(&seeker->lock);
    if (r < 0)
        free(seek);
    return r;
}

int handle_lseek(struct call *call, fuse_ino_t ino, off_t offset, int whence, struct fuse_file_info *fi)
{
    struct seek seek = {.ino = ino, .offset = offset, .whence = whence};

    if (ino == CONTROL_INO)
        return -ENXIO;
    seek.content = &file_of(fi)->content;
    if (seek.content->node->writers > 0)
        return seek_later(call->fs->seeker, call, &seek);
    return seek_and_reply(call, seek.content, offset, whence);
}

void seeker_end(struct seeker *seeker)
{
    pthread_mutex_lock(&seeker->lock);
    seeker->ending = true;
    pthread_cond_signal(&seeker->changed);
    pthread_mutex_unlock(&seeker->lock);
    if (seeker->started)
        pthread_join(seeker->thread, NULL);
    seeker->started = false;
}

void seeker_destroy(struct seeker *seeker)
{
    pthread_cond_destroy(&seeker->changed);
    pthread_mutex_destroy(&seeker->lock);
    free(seeker);
}
