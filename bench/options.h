/* The command line of all subcommands, from one table. */
#ifndef TALLY_BENCH_OPTIONS_H
#define TALLY_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/log.h"
#include "workload.h"

/* Bits, so that a row of the table can belong to several. */
enum subcommand {
    SUBCOMMAND_LIST = 1,
    SUBCOMMAND_CORPUS = 2,
    SUBCOMMAND_RUN = 4,
    SUBCOMMAND_REPORT = 8,
    SUBCOMMAND_COMPARE = 16,
};

enum temperature { TEMPERATURE_COLD, TEMPERATURE_WARM };
enum report_format { REPORT_TABLE, REPORT_JSON, REPORT_CSV, REPORT_MARKDOWN, REPORT_HTML };

struct target {
    char *name;
    char *directory; /* absolute */
};

#define OPTIONS_MAX_TARGETS 64
#define OPTIONS_MAX_CODECS 32

struct options {
    const struct workload *workloads[WORKLOAD_COUNT];
    size_t workload_count;
    struct target targets[OPTIONS_MAX_TARGETS];
    size_t target_count;
    char *codecs[OPTIONS_MAX_CODECS];
    size_t codec_count;
    bool path_native, path_tallyfs;
    char *source;         /* NULL: make a corpus */
    char *work_directory; /* where corpora are made; NULL: the default */
    char *tallyfs;        /* NULL: find it */
    char *output;         /* NULL: stdout, where allowed */
    uint64_t size_bytes;
    uint64_t seed;
    bool has_seed;
    unsigned int trials; /* of each configuration; with a time limit, the fewest before precision is enough */
    bool has_size, has_trials;
    double time_limit_s; /* add blocks until the intervals are narrow or this is over; 0: only as many as trials */
    double precision;    /* half an interval over its mean that is narrow enough */
    bool twin;           /* one configuration of each target twice in a block, for the noise floor */
    bool quick;
    enum temperature temperature;
    bool resume;
    enum report_format format;
    double threshold; /* of compare: a smaller change is no regression */
    bool help;
    char **arguments; /* what is left after the options; not owned */
    size_t argument_count;
};

/*
 * Reads what follows the subcommand's name: argv[0] is that name. 0; -EINVAL after a message for each thing that is
 * wrong. With --help nothing else is checked.
 */
int options_parse(enum subcommand subcommand, int argc, char **argv, const struct log *log,
                  struct options *ret_options);

void options_free(struct options *options);

/* Prints the options that the subcommand takes, a line each. */
void options_print_help(enum subcommand subcommand);

#endif
