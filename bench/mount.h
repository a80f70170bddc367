/* Starts and ends a tallyfs of one's own, and reads its counters. */
#ifndef TALLY_BENCH_MOUNT_H
#define TALLY_BENCH_MOUNT_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "reason.h"

struct mount {
    char *point; /* NULL: not mounted */
    pid_t pid;   /* the daemon, a child of this process */
    int pidfd;
    int stderr_fd;
};

#define MOUNT_NONE                                                                                 \
    {                                                                                              \
        .pidfd = -1, .stderr_fd = -1                                                               \
    }

/*
 * The tallyfs that belongs to this program: beside its executable, in the build tree, in PATH; or `wanted` if that is
 * not NULL. The path is the caller's to free. 0; -ENOENT with a reason; -ENOMEM.
 */
int mount_find_program(const char *wanted, char **ret_path, struct reason *reason);

/* Mounts `lower` at `point` and waits until it answers. 0; -ECANCELED; -errno with a reason, nothing left mounted. */
int mount_start(const char *program, const char *lower, const char *point, const char *codec,
                struct mount *ret_mount, struct reason *reason);

/* False once the daemon is gone; the reason then tells how it ended. */
bool mount_alive(const struct mount *mount, struct reason *reason);

/* Unmounts, by force if need be, and waits for the daemon's end; nothing to do when not mounted. 0; -EIO with a reason
 * when the daemon did not end well. The mount is gone in either case. */
int mount_stop(struct mount *mount, struct reason *reason);

/* Drains all buffers to stable storage. 0; -errno. */
int mount_sync(const struct mount *mount);

/* Sets all counters to zero. 0; -errno. */
int mount_reset(const struct mount *mount);

/* All counters, a new reference. 0; -errno; -EPROTO when they are not JSON. */
int mount_counters(const struct mount *mount, json_t **ret_counters);

#endif
