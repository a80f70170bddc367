/* The tables behind stats/shares.h. Inside fuse/stats only. */
#ifndef TALLY_STATS_SET_H
#define TALLY_STATS_SET_H

#include <stdatomic.h>

#include "stats/shares.h"

#define STATS_WAYS 4

/* Sets in a thread's table of each kind. */
#define STATS_INODE_SETS 64
#define STATS_PID_SETS 32
#define STATS_UID_SETS 8
#define STATS_TREE_SETS 32
#define STATS_SETS (STATS_INODE_SETS + STATS_PID_SETS + STATS_UID_SETS + STATS_TREE_SETS)

/* The words of a share, in the order of struct stats_share; the last fills its cache line. */
#define STATS_SHARE_WORDS (sizeof(struct stats_share) / sizeof(uint64_t))
#define STATS_SHARE_LINE 8

/* Of what has an entry: the inode's number or the process of a thread; its command; when that was asked. */
enum { STATS_NOTE_NUMBER, STATS_NOTE_COMMAND, STATS_NOTE_ASKED_NS = STATS_NOTE_COMMAND + 2, STATS_NOTE_WORDS };

/* A set's words. Counting touches the first cache line, and that of one share. Key 0: the place is free. */
enum {
    STATS_SET_SEQUENCE,
    STATS_SET_EPOCH,
    STATS_SET_KEYS,
    STATS_SET_SHARES = 8,
    STATS_SET_OTHER = STATS_SET_SHARES + STATS_WAYS * STATS_SHARE_LINE,
    STATS_SET_NOTES = STATS_SET_OTHER + STATS_SHARE_LINE,
    STATS_SET_WORDS = STATS_SET_NOTES + STATS_WAYS * STATS_NOTE_WORDS
};

struct stats_set {
    _Alignas(64) _Atomic uint64_t words[STATS_SET_WORDS];
};

_Static_assert(STATS_SET_KEYS + STATS_WAYS <= STATS_SET_SHARES, "the keys end before the shares begin");

/* Where the sets of each kind are in a thread's. */
struct stats_kind {
    unsigned first;
    unsigned count; /* a power of two */
};

struct stats_kind stats_kind(enum stats_by by);

/* Counts the sample in all tables of the thread that owns `sets`. */
void stats_record_shares(struct stats_set sets[static STATS_SETS], uint64_t epoch, const struct stats_sample *sample);

/* What runs as thread `id`: its process and command. False, and nothing is set, when it cannot be asked any more. */
bool stats_describe_thread(uint32_t id, uint32_t *ret_process, uint64_t ret_command[static 2]);

#endif
