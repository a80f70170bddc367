/* What a thread has on one side: its directory, descriptors and mappings. */
#ifndef TALLY_DIFFERENTIAL_VIEW_H
#define TALLY_DIFFERENTIAL_VIEW_H

#include <limits.h>
#include <stdbool.h>

#include "outcome.h"
#include "script.h"

#define VIEW_PATH_BYTES (PATH_MAX + 512)
#define BUFFER_BYTES (1024 * 1024)

/* The part of the file that all threads share that belongs to one of them: not a multiple of any chunk. */
#define SHARED_PART_BYTES (49 * 4096)

struct mapping {
    char *at; /* NULL when unused */
    size_t size;
    off_t offset; /* in the file */
    int fd;       /* of the mapped file, to know where it ends */
};

struct view {
    const char *root; /* of this run on this side; not owned */
    unsigned thread;
    bool is_left;
    const char *mountpoint; /* of the left side when it can be remounted, else NULL */
    uid_t user;             /* as whom calls are made, 0 being the user who runs this */
    mode_t umask;
    int slots[SLOTS]; /* -1 when closed */
    struct mapping maps[MAPS];
    unsigned char
        *buffer; /* BUFFER_BYTES, aligned for direct I/O; shared by the calls of this view */
    int memory;  /* a memfd through which mappings are copied, so that faults are EFAULT */
};

/* Where an argument path is. */
void view_path(const struct view *view, int64_t path, char ret_path[VIEW_PATH_BYTES]);
void view_shared_path(const struct view *view, char ret_path[VIEW_PATH_BYTES]);

/* 0 or -errno. */
int view_open(struct view *view);

/* Closes what is open. */
void view_close_files(struct view *view);
void view_close(struct view *view);

typedef void call_function(struct view *view, const int64_t *arguments, struct outcome *outcome);

#define CALL(name, weight, ...) call_function call_##name;
#include "calls.def"
#undef CALL

extern call_function *const call_functions[CALL_COUNT];

#endif
