/* The subcommands of tallyctl. */
#ifndef TALLY_CTL_COMMAND_H
#define TALLY_CTL_COMMAND_H

#include "ctl/options.h"
#include "util/log.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2, EXIT_DAMAGED = 3 };

/* Each: the program's exit status, after its messages. The number of operands has been checked. */
typedef int command_run(const struct options *options, const struct log *log);

command_run command_stat, command_top, command_slow, command_reset, command_sync, command_file, command_cat, command_check,
    command_convert, command_compact;

/* One row a subcommand: dispatch, usage and help come from it. */
struct command {
    const char *name;
    const char *synopsis;
    const char *help;
    const struct option_row *options; /* ends with a row without a name; NULL: none */
    int operands_max;                 /* at least one is wanted */
    command_run *run;
};

#endif
