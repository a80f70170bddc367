/* A workload: how it puts a set of files onto the target and reads it back. The rest of a trial is common to all. */
#ifndef TALLY_BENCH_WORKLOAD_H
#define TALLY_BENCH_WORKLOAD_H

#include <stddef.h>

#include "corpus/corpus.h"
#include "process.h"
#include "source.h"

struct workload {
    const char *name;
    const char *summary; /* one line, for `tallybench list` */
    const char *write_name, *read_name,
        *delete_name; /* the programs, as a table's heading has them */
    enum corpus_kind corpus;

    /* Puts the set into the directory `into`, which exists; what it makes there is `into`/NAME OF SET. */
    int (*write)(const struct source_set *set, const char *into, struct process_usage *usage,
                 struct reason *reason);
    /* Reads all of the set from `from`, the source's or the target's. */
    int (*read)(const struct source_set *set, const char *from, struct process_usage *usage,
                struct reason *reason);
};

extern const struct workload workload_trigger;
extern const struct workload workload_mailbox;

#define WORKLOAD_COUNT 2

/* Number `index`, below WORKLOAD_COUNT. */
const struct workload *workload_at(size_t index);

/* NULL when there is none of that name. */
const struct workload *workload_find(const char *name);

#endif
