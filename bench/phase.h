/* One timed part of a trial, with all that is measured around it. */
#ifndef TALLY_BENCH_PHASE_H
#define TALLY_BENCH_PHASE_H

#include <jansson.h>

#include "mount.h"
#include "workload.h"

enum phase_kind { PHASE_WRITE, PHASE_READ, PHASE_DELETE };

struct phase {
    enum phase_kind kind;
    const struct workload *workload;
    const struct source_set *set;
    const char *directory;      /* write: to put the set into; read, delete: the set's own */
    const struct mount *mount;  /* NULL: not through tallyfs */
    const char *sync_directory; /* on the target; not used by read */
};

/* "write", "read", "delete". */
const char *phase_name(enum phase_kind kind);

/* Runs it and appends its record to the array `phases`. 0; errors of process_run; -errno with a reason. */
int phase_run(const struct phase *phase, json_t *phases, struct reason *reason);

#endif
