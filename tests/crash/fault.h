/*
 * A file in memory that can fail as disks do. What was written since the last sync is kept as a list of operations; when
 * the power fails, each of them is on its own kept, dropped, torn at 512 bytes or, unless it is a punch, garbled. Only one
 * thing is ordered, as every journalling or copy-on-write file system does it: what comes after a truncate that was lost,
 * is lost too, since the blocks it gave back are not used again before it is committed. Bytes outside of what was being
 * written stay as they were, also those of the same block.
 *
 * Not thread-safe: the tests' stores have no workers.
 */
#ifndef TALLY_TESTS_FAULT_H
#define TALLY_TESTS_FAULT_H

#include <stdint.h>

#include "store/backend.h"

/* A medium outlives the backends that are opened on it. */
struct medium;

struct medium *medium_create(uint64_t seed);
void medium_destroy(struct medium *medium);

/* A backend on the medium; closing it keeps what it wrote, synced or not. */
struct backend *medium_open(struct medium *medium);

/*
 * After `count` more writes, truncates, punches and syncs, what is done is lost: the power fails then, only the program
 * does not know yet.
 */
void medium_freeze_after(struct medium *medium, unsigned count);
bool medium_is_frozen(const struct medium *medium);

/*
 * The power fails: unsynced operations are kept, dropped, torn or garbled. The rest is on the medium from then on, and
 * it works again.
 */
void medium_cut_power(struct medium *medium);

/* It works again, with all that was written; only the program died. */
void medium_thaw(struct medium *medium);

/* The lower calls, as a set. */
enum medium_call {
    MEDIUM_READ = 1, /* and stat, size, seek */
    MEDIUM_WRITE = 2,
    MEDIUM_TRUNCATE = 4,
    MEDIUM_PUNCH = 8,
    MEDIUM_SYNC = 16,
    MEDIUM_FLUSH = 32,
    MEDIUM_CLOSE = 64,
};

struct medium_fault {
    unsigned calls;  /* which kinds count, and fail */
    uint64_t after;  /* so many of them still work */
    int error;       /* positive */
    bool lasting;    /* all after that fail, else only one */
    bool is_short;   /* a write fails after half of its bytes: it is short, and the next fails */
};

/* Replaces the fault; {0} is none. Calls are counted from here on. */
void medium_fail(struct medium *medium, const struct medium_fault *fault);

/* The calls counted. */
uint64_t medium_calls(const struct medium *medium);

void medium_forbid_punching(struct medium *medium);

/* Changes every byte in [offset, offset + size). */
void medium_damage(struct medium *medium, uint64_t offset, size_t size);

uint64_t medium_size(const struct medium *medium);

/* How many frames follow one another from its beginning on. */
unsigned medium_frames(const struct medium *medium);

#endif
