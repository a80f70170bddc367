#include "fs/slow.h"

#include <stdlib.h>
#include <time.h>

struct slow_log *slow_log_create(void)
{
    struct slow_log *slow = calloc(1, sizeof(*slow));

    if (slow)
        pthread_mutex_init(&slow->lock, NULL);
    return slow;
}

void slow_log_destroy(struct slow_log *slow)
{
    slow_log_clear(slow);
    pthread_mutex_destroy(&slow->lock);
    free(slow);
}

void slow_log_add(struct slow_log *slow, const struct stats_sample *sample, char *path)
{
    struct slow_entry *entry;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    pthread_mutex_lock(&slow->lock);
    entry = &slow->entries[slow->count++ % SLOW_ENTRIES];
    free(entry->path);
    *entry = (struct slow_entry){
        .time_ns = (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec,
        .sample = *sample,
        .path = path,
    };
    pthread_mutex_unlock(&slow->lock);
}

void slow_log_clear(struct slow_log *slow)
{
    pthread_mutex_lock(&slow->lock);
    for (size_t i = 0; i < SLOW_ENTRIES; i++) {
        free(slow->entries[i].path);
        slow->entries[i] = (struct slow_entry){0};
    }
    slow->count = 0;
    pthread_mutex_unlock(&slow->lock);
}

void slow_log_for_each(struct slow_log *slow, void (*visit)(void *user, const struct slow_entry *entry), void *user)
{
    pthread_mutex_lock(&slow->lock);
    for (uint64_t i = slow->count > SLOW_ENTRIES ? slow->count - SLOW_ENTRIES : 0; i < slow->count; i++)
        visit(user, &slow->entries[i % SLOW_ENTRIES]);
    pthread_mutex_unlock(&slow->lock);
}
