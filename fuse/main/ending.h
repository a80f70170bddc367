/*
 * The end of a mount by SIGTERM, SIGINT or SIGHUP: the kernel writes back what programs have written while requests
 * are still answered, then the session ends. A second signal ends the process at once.
 */
#ifndef TALLY_MAIN_ENDING_H
#define TALLY_MAIN_ENDING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "fs/fs.h"
#include "fs/libfuse.h"

struct ending {
    struct fs *fs;
    struct fuse_session *session;
    const char *mountpoint;
    pthread_t loop_thread;
    pthread_t signal_thread;
    _Atomic bool begun; /* a signal was taken; the next one kills */
    _Atomic bool over;
};

/* Blocks the signals in this thread and all that it starts from now on. */
void ending_block_signals(void);

/* Called by the thread that is to run the session's loop. 0 or -errno. */
int ending_start(struct ending *ending, struct fs *fs, struct fuse_session *session, const char *mountpoint);

/* The loop is over. */
void ending_stop(struct ending *ending);

#endif
