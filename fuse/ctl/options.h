/* What follows a subcommand on the command line. */
#ifndef TALLY_CTL_OPTIONS_H
#define TALLY_CTL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tally/codec.h"
#include "tally/stats.h"
#include "util/log.h"

enum stat_format { STAT_TABLE, STAT_JSON, STAT_OPENMETRICS, STAT_CSV };

enum top_by { TOP_BY_TIME, TOP_BY_BYTES, TOP_BY_OPERATIONS };
enum top_of { TOP_OF_FILES, TOP_OF_USERS, TOP_OF_PROCESSES, TOP_OF_TREES };

struct options {
    enum stat_format format;
    const char *since; /* a file; NULL: none */
    double watch_s;    /* 0: once */
    bool some_operations;
    bool operations[TALLY_OP_COUNT]; /* where some_operations */
    enum top_by top_by;
    enum top_of top_of;
    size_t rows_max;
    bool repair;
    struct tally_codec_choice to;
    uint32_t chunk_bytes;
    bool help;
    char **operands; /* not owned */
    int operand_count;
};

struct option_row {
    const char *name;  /* without "--" */
    const char *value; /* placeholder; NULL for an option without a value */
    const char *help;
    int (*set)(struct options *options, const char *value); /* 0 or -EINVAL */
};

/* The options of `tallyctl stat`, `tallyctl top` and `tallyctl slow`. */
extern const struct option_row stat_options[], top_options[], slow_options[];

/* Of `tallyctl check` and `tallyctl convert`. */
extern const struct option_row check_options[], convert_options[];

/* Prints a line for each row. */
void options_print_help(const struct option_row *rows);

/*
 * Reads what follows the subcommand's name; options may stand among operands, "--" ends them. 0; -EINVAL after a
 * message. With -h nothing else is checked.
 */
int options_parse(const struct option_row *rows, int operands_max, char **words,
                  const struct log *log, struct options *ret_options);

#endif
