#include <stdio.h>
#include <stdlib.h>

#include "commands.h"

int command_list(struct options *options, const struct log *log)
{
    if (options->argument_count) {
        log_error(log, "list: takes no arguments");
        return EXIT_WRONG_USAGE;
    }
    for (size_t i = 0; i < WORKLOAD_COUNT; i++)
        printf("%-8s %s\n", workload_at(i)->name, workload_at(i)->summary);
    return EXIT_SUCCESS;
}
