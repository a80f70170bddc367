/* What `tallybench run` needs beyond well-formed options. */
#ifndef TALLY_BENCH_RUN_OPTIONS_H
#define TALLY_BENCH_RUN_OPTIONS_H

#include "options.h"

/* Reads the workloads' names, checks that all that is needed was given and that directories are there, and makes their
 * paths absolute. 0, or the exit status after a message. */
int run_options_check(struct options *options, const struct log *log);

#endif
