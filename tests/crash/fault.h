/*
 * A file in memory that can fail as disks do. What was written since the last sync is kept as a list of operations; when
 * the power fails, each of them is on its own kept, dropped, torn at 512 bytes or garbled. Only one thing is ordered, as
 * every journalling or copy-on-write file system does it: what comes after a truncate that was lost, is lost too, since
 * the blocks it gave back are not used again before it is committed.
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

/* From now on what is written is lost: the power fails here, only the program does not know yet. */
void medium_freeze(struct medium *medium);

/* The power fails: unsynced operations are kept, dropped, torn or garbled. The rest is on the medium from then on. */
void medium_cut_power(struct medium *medium);

/* Lets the writes after the next `count` fail with `error`, the first of them after half of its bytes; 0 for none. */
void medium_fail_after(struct medium *medium, unsigned count, int error);

uint64_t medium_size(const struct medium *medium);

/* How many frames follow one another from its beginning on. */
unsigned medium_frames(const struct medium *medium);

#endif
