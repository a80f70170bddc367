/*
 * Who and what the operations were for: counters by inode, by user, by process and by directory tree.
 *
 * Each thread has a small table of each kind, a set-associative one: a key belongs to one set of a few places. A key that
 * finds its set full takes the place of the one with the least time, whose counters are added to the set's "other".
 * So memory is bounded, nothing is counted twice or lost, what is in the table is exact since it came in, and what
 * takes much time stays in. A set is a sequence lock with one writer, and follows the epoch, as a row does (stats.h).
 */
#ifndef TALLY_STATS_SHARES_H
#define TALLY_STATS_SHARES_H

#include <stddef.h>
#include <stdint.h>

#include "stats/stats.h"

enum stats_by {
    STATS_BY_INODE,
    STATS_BY_PID,
    STATS_BY_UID,
    STATS_BY_TREE,
    STATS_BY_COUNT
};

/* The kernel's TASK_COMM_LEN. */
#define STATS_COMMAND_BYTES 16

/* Sums as those of struct tally_op_counters, over all operations. */
struct stats_share {
    uint64_t count;
    uint64_t errors;
    uint64_t bytes;
    uint64_t total_ns;
    uint64_t lower_ns;
    uint64_t codec_ns;
    uint64_t wait_ns;
};

struct stats_entry {
    union {
        uint64_t subject; /* by inode: as in the sample */
        uint64_t pid;     /* by process: of the process, not of its thread */
        uint64_t tree;    /* by tree: as in the sample */
    };
    uint64_t ino;  /* by inode: as in the sample */
    uint32_t uid;  /* by process and by user */
    char command[STATS_COMMAND_BYTES]; /* by process; empty when it was gone before it could be asked */
    struct stats_share share;
};

/*
 * All entries of one kind over all threads, the one with the most time first, in memory that the caller frees; what has no
 * entry, and what nobody asked for, is in *ret_other. Their sum is that of all operations of the epoch. Waits as
 * stats_render does. 0 or -ENOMEM.
 */
int stats_read_shares(struct stats *stats, enum stats_by by, struct stats_entry **ret_entries, size_t *ret_count,
                      struct stats_share *ret_other);

void stats_share_add(struct stats_share *to, const struct stats_share *from);

#endif
