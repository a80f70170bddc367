#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"

static const struct command commands[] = {
    {"list", SUBCOMMAND_LIST, "list", "show the workloads", command_list},
    {"corpus", SUBCOMMAND_CORPUS, "corpus trigger|mailbox [--size 1G] [--seed N] DIR",
     "make a workload's files", command_corpus},
    {"run", SUBCOMMAND_RUN,
     "run WORKLOAD[,WORKLOAD...] --target NAME=DIR... [OPTION...] -o RESULT.json", "measure",
     command_run},
    {"report", SUBCOMMAND_REPORT, "report RESULT.json... [--format FORMAT] [-o FILE]",
     "show what was measured", command_report},
    {"compare", SUBCOMMAND_COMPARE, "compare BASE.json NEW.json [--threshold 5%] [OPTION...]",
     "find what became slower or larger", command_compare},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
    puts("tallybench runs what people compare file systems with, natively and through "
         "tallyfs.\n\nUsage:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  tallybench %s\n", commands[i].synopsis);
    puts("\nSubcommands:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  %-8s %s\n", commands[i].name, commands[i].summary);
    puts("\n`tallybench SUBCOMMAND -h` shows its options, `tallybench -V` the version.\n"
         "Exit status: 0 done, 1 something failed, 2 wrong usage, 3 compare found a regression.");
}

static void print_command_help(const struct command *command)
{
    printf("Usage: tallybench %s\n\nOptions:\n", command->synopsis);
    options_print_help(command->subcommand);
}

static int run_command(const struct command *command, int argc, char **argv, const struct log *log)
{
    struct options options;
    int status;

    if (options_parse(command->subcommand, argc, argv, log, &options) < 0) {
        log_error(log, "`tallybench %s -h` shows the usage", command->name);
        return EXIT_WRONG_USAGE;
    }
    if (options.help) {
        print_command_help(command);
        status = EXIT_SUCCESS;
    } else {
        status = command->run(&options, log);
        if (status == EXIT_WRONG_USAGE)
            log_error(log, "`tallybench %s -h` shows the usage", command->name);
    }
    options_free(&options);
    return status;
}

int main(int argc, char **argv)
{
    const struct log log = {.program = "tallybench"};
    const char *word = argc > 1 ? argv[1] : "";
    int status = EXIT_WRONG_USAGE;

    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        print_help();
        status = EXIT_SUCCESS;
    } else if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
        puts("tallybench " TALLY_VERSION);
        status = EXIT_SUCCESS;
    } else {
        const struct command *command = NULL;

        for (size_t i = 0; i < COMMAND_COUNT; i++) {
            if (strcmp(commands[i].name, word) == 0)
                command = &commands[i];
        }
        if (command)
            status = run_command(command, argc - 1, argv + 1, &log);
        else if (*word)
            log_error(&log, "%s: no such subcommand; `tallybench -h` shows the usage", word);
        else
            log_error(&log, "a subcommand is missing; `tallybench -h` shows the usage");
    }
    /* A full disk or a closed pipe shows only here. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_error(&log, "standard output: cannot be written");
        status = status ? status : EXIT_FAILURE;
    }
    return status;
}
