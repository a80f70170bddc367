/* What the numbers of a run depend on, as JSON. All functions: a new reference, NULL without memory. */
#ifndef TALLY_BENCH_ENVIRONMENT_H
#define TALLY_BENCH_ENVIRONMENT_H

#include <jansson.h>

#include "corpus/corpus.h"
#include "options.h"

/* Kernel, CPU, memory, versions of the libraries and of `tallyfs` (a path; NULL when none is used). */
json_t *environment_json(const char *tallyfs);

/* The target's file system: type, device, mount options, size. */
json_t *environment_target_json(const struct target *target);

/* A corpus: how it came about, sizes, hash, and per set the ratios that were reached. */
json_t *environment_corpus_json(const struct workload *workload, const char *source,
                                const struct corpus_result *figures);

#endif
