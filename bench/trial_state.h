/* A trial under way: what its steps share. Functions: 0; -errno with the trial's reason set; -ECANCELED. */
#ifndef TALLY_BENCH_TRIAL_STATE_H
#define TALLY_BENCH_TRIAL_STATE_H

#include <stdint.h>

#include "mount.h"
#include "phase.h"
#include "trial.h"

struct trial {
    const struct trial_config *config;
    struct reason *reason;
    json_t *record;
    struct mount mount;
    char *directory; /* what is removed at the end */
    char *lower, *point;
    const char *data;    /* where programs work: lower, or point */
    uint64_t free_bytes; /* before anything was written */
};

/* Empties caches where this is a cold run; the record tells where that was not possible. */
int trial_chill(struct trial *trial);

/* Runs and records one timed part. */
int trial_phase(struct trial *trial, enum phase_kind kind, const struct source_set *set,
                const char *directory);

/* All that is measured on a target, from its new directory to the deleted files. */
int trial_on_target(struct trial *trial);

/* Drains and syncs, then waits until the target's free space and the tree's blocks (NULL: no tree) stand still. */
int trial_settle(struct trial *trial, const char *tree, bool *ret_settled);

/* Records what the set takes, given the free space before it was written. */
int trial_note_space(struct trial *trial, const struct source_set *set, uint64_t free_before);

/* Records how long it takes until free space is back; null stays when it is not in time. */
int trial_wait_until_free(struct trial *trial);

#endif
