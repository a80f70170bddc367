/* The last slow operations of a mount: a ring of bounded size. Thread-safe; slow operations are few, so it has a lock. */
#ifndef TALLY_FS_SLOW_H
#define TALLY_FS_SLOW_H

#include <pthread.h>

#include "stats/stats.h"

#define SLOW_ENTRIES 256

struct slow_entry {
    uint64_t time_ns; /* CLOCK_REALTIME when it ended */
    struct stats_sample sample;
    char *path; /* as path_describe has it; owned */
};

struct slow_log {
    pthread_mutex_t lock;
    uint64_t count; /* that were ever added since the last clear; entry i is at i % SLOW_ENTRIES */
    struct slow_entry entries[SLOW_ENTRIES];
};

/* NULL without memory. */
struct slow_log *slow_log_create(void);
void slow_log_destroy(struct slow_log *slow);

/* Takes `path` over, which may be NULL. */
void slow_log_add(struct slow_log *slow, const struct stats_sample *sample, char *path);
void slow_log_clear(struct slow_log *slow);

/* Calls `visit` for each entry, the oldest first, with the lock held. */
void slow_log_for_each(struct slow_log *slow, void (*visit)(void *user, const struct slow_entry *entry), void *user);

#endif
