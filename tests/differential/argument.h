/* The arguments of calls: numbers, each of a kind that says how it is drawn, printed and parsed. */
#ifndef TALLY_DIFFERENTIAL_ARGUMENT_H
#define TALLY_DIFFERENTIAL_ARGUMENT_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "random.h"
#include "util/strbuf.h"

#define SLOTS 6 /* descriptors that a thread may have open */
#define MAPS 3  /* mappings that a thread may have */
#define LENGTH_MAX 400000
#define PROTECTION_PRIVATE 0x100 /* with a protection: a private mapping */

enum argument_kind {
    ARGUMENT_NONE,
    ARGUMENT_SLOT,     /* mostly one that was opened */
    ARGUMENT_NEW_SLOT, /* any; what it held is closed */
    ARGUMENT_MAP,
    ARGUMENT_NEW_MAP,
    ARGUMENT_OFFSET, /* around the boundaries of sectors, pages and chunks; a few negative or huge */
    ARGUMENT_LENGTH,       /* 0 … LENGTH_MAX */
    ARGUMENT_VALUE_LENGTH, /* of an extended attribute */
    ARGUMENT_COUNT,
    ARGUMENT_MODE,
    ARGUMENT_UMASK,
    ARGUMENT_PATH, /* an index for argument_path */
    ARGUMENT_LISTED, /* the same, or the directory that all threads share, which nothing may happen to */
    ARGUMENT_TARGET, /* the same */
    ARGUMENT_XATTR,  /* an index for argument_xattr */
    ARGUMENT_TIME,   /* an index for argument_time */
    ARGUMENT_DATA,   /* for data_fill */
    ARGUMENT_OPEN_FLAGS,
    ARGUMENT_TMPFILE_FLAGS,
    ARGUMENT_STATUS_FLAGS,
    ARGUMENT_RWF,
    ARGUMENT_WHENCE,
    ARGUMENT_FALLOCATE_MODE,
    ARGUMENT_PROTECTION,
    ARGUMENT_MSYNC_FLAGS,
    ARGUMENT_RENAME_FLAGS,
    ARGUMENT_FOLLOW,
    ARGUMENT_NODE_TYPE,
    ARGUMENT_ACCESS,
    ARGUMENT_OWNER,
    ARGUMENT_USER,
    ARGUMENT_XATTR_FLAGS,
    ARGUMENT_INODE_FLAGS,
    ARGUMENT_FLOCK,
    ARGUMENT_LOCK_COMMAND,
    ARGUMENT_LOCK_TYPE,
};

/* What a thread has probably open, from which slots are drawn. */
struct drawing {
    struct random random;
    unsigned slots, maps; /* bit masks */
};

int64_t argument_draw(enum argument_kind kind, struct drawing *drawing);
void argument_print(enum argument_kind kind, int64_t value, struct strbuf *to);

/* 0, or -EINVAL. */
int argument_parse(enum argument_kind kind, const char *text, int64_t *ret_value);

/* Relative to a thread's own directory, or with a leading "shared/" to its part of the one that all threads share. */
const char *argument_path(int64_t index);
const char *argument_xattr(int64_t index);
struct timespec argument_time(int64_t index);

#endif
