#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"

/* clang-format off */
static const struct command commands[] = {
    {"stat", "stat MOUNT [OPTION...]", "show what a mount has counted", stat_options, 1, command_stat},
    {"top", "top MOUNT [--by time|bytes|ops]", "show for what, or for whom, a mount has worked most", top_options, 1,
     command_top},
    {"slow", "slow MOUNT", "show the last operations of a mount that took long", slow_options, 1, command_slow},
    {"reset", "reset MOUNT", "set all counters to zero", NULL, 1, command_reset},
    {"sync", "sync MOUNT", "write out all buffers and sync the lower file system", NULL, 1, command_sync},
    {"file", "file PATH...", "show what files are stored as, on a mount or below it", NULL, INT_MAX, command_file},
    {"cat", "cat LOWERFILE", "write a stored file's contents to standard output, without a mount", NULL, 1,
     command_cat},
    {"check", "check LOWERFILE|LOWERDIR... [--repair]", "find damage in stored files, without a mount", check_options,
     INT_MAX, command_check},
    {"compact", "compact LOWERFILE...", "give unused space of stored files back, without a mount", NULL, INT_MAX,
     command_compact},
    {"convert", "convert [OPTION...] FILE|DIR...", "store plain files compressed, or the other way, without a mount",
     convert_options, INT_MAX, command_convert},
};
/* clang-format on */

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
    puts("tallyctl reads and steers tallyfs mounts, and checks, repairs and converts files that "
         "tallyfs stored.\n\nUsage:");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        printf("  tallyctl %-22s  %s\n", commands[i].synopsis, commands[i].help);
    puts("\n`tallyctl SUBCOMMAND -h` shows its options, `tallyctl -V` the version.\n"
         "Exit status: 0 done, 1 something failed, 2 wrong usage, 3 damage found.");
}

static int run_command(const struct command *command, char **words, const struct log *log)
{
    struct options options;

    if (options_parse(command->options, command->operands_max, words, log, &options) < 0) {
        log_error(log, "usage: tallyctl %s; `tallyctl %s -h` shows more", command->synopsis,
                  command->name);
        return EXIT_WRONG_USAGE;
    }
    if (options.help) {
        printf("Usage: tallyctl %s\n\nTo %s.\n\nOptions:\n", command->synopsis, command->help);
        options_print_help(command->options);
        return EXIT_DONE;
    }
    return command->run(&options, log);
}

static int dispatch(const char *word, char **words, const struct log *log)
{
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        print_help();
        return EXIT_DONE;
    }
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
        puts("tallyctl " TALLY_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, word) == 0)
            return run_command(&commands[i], words, log);
    if (*word)
        log_error(log, "%s: no such subcommand; `tallyctl -h` lists them", word);
    else
        log_error(log, "a subcommand is missing; `tallyctl -h` lists them");
    return EXIT_WRONG_USAGE;
}

int main(int argc, char **argv)
{
    const struct log log = {.program = "tallyctl"};
    int status = argc > 1 ? dispatch(argv[1], argv + 2, &log) : dispatch("", argv, &log);

    /* A full disk or a closed pipe may show only here. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == EXIT_DONE) {
        log_error(&log, "standard output: cannot be written");
        status = EXIT_FAILED;
    }
    return status;
}
