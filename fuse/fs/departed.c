#include "fs/departed.h"

#include <pthread.h>
#include <stdlib.h>

struct departed {
    pthread_mutex_t lock;
    unsigned next; /* to be replaced */
    struct {
        uint64_t subject;
        char *path;
    } names[DEPARTED_NAMES];
};

struct departed *departed_create(void)
{
    struct departed *departed = calloc(1, sizeof(*departed));

    if (departed)
        pthread_mutex_init(&departed->lock, NULL);
    return departed;
}

void departed_destroy(struct departed *departed)
{
    for (unsigned i = 0; i < DEPARTED_NAMES; i++)
        free(departed->names[i].path);
    pthread_mutex_destroy(&departed->lock);
    free(departed);
}

void departed_add(struct departed *departed, uint64_t subject, char *path)
{
    if (!path)
        return;
    pthread_mutex_lock(&departed->lock);
    free(departed->names[departed->next].path);
    departed->names[departed->next].subject = subject;
    departed->names[departed->next].path = path;
    departed->next = (departed->next + 1) % DEPARTED_NAMES;
    pthread_mutex_unlock(&departed->lock);
}

bool departed_find(struct departed *departed, uint64_t subject, struct strbuf *path)
{
    bool found = false;

    pthread_mutex_lock(&departed->lock);
    for (unsigned i = 0; i < DEPARTED_NAMES && !found; i++) {
        found = departed->names[i].path && departed->names[i].subject == subject;
        if (found)
            strbuf_puts(path, departed->names[i].path);
    }
    pthread_mutex_unlock(&departed->lock);
    return found;
}
