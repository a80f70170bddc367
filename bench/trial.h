/*
 * One trial: a configuration measured once, in a new directory that is gone afterwards. Its record:
 *
 *   configuration, block, started
 *   status        "ok" or "failed"; with failed a "reason", and figures only of what was done before it
 *   temperature   "cold", "warm", or "cold-unavailable" where caches could not be emptied
 *   phases        for each of write, read, delete and each set: name, set, bytes, files, wall_s, user_s, system_s (the
 *                 programs'), sync_s (null for read); daemon_user_s, daemon_system_s, counters (of tallyfs; all null
 *                 without it); machine_busy_s. What is not the programs' own is taken until the sync has ended; the
 *                 counters hold the request for that sync as one call.
 *   space         for each set: original_bytes, df_bytes (less free space on the target), allocated_bytes (st_blocks on
 *                 the target), mount_allocated_bytes (st_blocks through tallyfs), apparent_bytes; settled
 *   until_free_s  from the last sync after deleting until free space was back; null when it was not in time
 */
#ifndef TALLY_BENCH_TRIAL_H
#define TALLY_BENCH_TRIAL_H

#include <jansson.h>

#include "plan.h"
#include "source.h"

struct trial_config {
    const struct configuration *configuration;
    size_t configuration_index;
    unsigned int block;
    const struct source *source;
    const char *tallyfs; /* NULL unless the path is tallyfs */
    enum temperature temperature;
    struct progress *progress;
};

/*
 * Runs it. 0, with a record whether the trial succeeded or failed; -ECANCELED when a signal came, -ENOMEM, -EIO when
 * what the trial made could not be removed (with a reason), without one. Nothing stays mounted in any case.
 */
int trial_run(const struct trial_config *config, json_t **ret_record, struct reason *reason);

#endif
