/* The subcommands. Each: the program's exit status, after its messages. */
#ifndef TALLY_BENCH_COMMANDS_H
#define TALLY_BENCH_COMMANDS_H

#include "options.h"

#define EXIT_WRONG_USAGE 2
#define EXIT_REGRESSION 3

int command_list(struct options *options, const struct log *log);
int command_corpus(struct options *options, const struct log *log);
int command_run(struct options *options, const struct log *log);
int command_compare(struct options *options, const struct log *log);
int command_report(struct options *options, const struct log *log);

/* One row a subcommand: dispatch, usage and help come from it. */
struct command {
    const char *name;
    enum subcommand subcommand;
    const char *synopsis;
    const char *summary;
    int (*run)(struct options *options, const struct log *log);
};

#endif
