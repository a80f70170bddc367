#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "util/parse.h"

#define DEFAULT_SIZE ((uint64_t)1 << 30)
#define DEFAULT_TRIALS 10
#define TIME_TRIALS 5 /* the fewest, with a time limit: fewer say little about their own spread */
#define QUICK_SIZE ((uint64_t)64 << 20)
#define QUICK_TRIALS 3
#define DEFAULT_PRECISION 0.05
#define DEFAULT_THRESHOLD 0.05
#define MAX_TRIALS 100000
#define MAX_TIME_S (366.0 * 86400)

/* Every setter: 0; -EINVAL after a message. */
typedef int set_option(struct options *options, const char *value, const struct log *log);

struct option_row {
    const char *name;
    char letter;       /* 0: none */
    const char *value; /* NULL: takes none */
    const char *help;
    unsigned int subcommands;
    set_option *set;
};

static int replace(char **text, const char *value)
{
    free(*text);
    *text = strdup(value);
    return *text ? 0 : -ENOMEM;
}

static int set_target(struct options *options, const char *value, const struct log *log)
{
    const char *equals = strchr(value, '=');
    struct target *target = &options->targets[options->target_count];

    if (!equals || equals == value || !equals[1]) {
        log_error(log, "--target %s: wanted is NAME=DIR", value);
        return -EINVAL;
    }
    if (options->target_count == OPTIONS_MAX_TARGETS) {
        log_error(log, "--target: more than %d", OPTIONS_MAX_TARGETS);
        return -EINVAL;
    }
    target->name = strndup(value, (size_t)(equals - value));
    target->directory = strdup(equals + 1);
    options->target_count++;
    if (!target->name || !target->directory)
        return -ENOMEM;
    for (size_t i = 0; i + 1 < options->target_count; i++) {
        if (strcmp(options->targets[i].name, target->name) == 0) {
            log_error(log, "--target %s: the name is there twice", value);
            return -EINVAL;
        }
    }
    return 0;
}

static bool codec_is_well_formed(const char *codec)
{
    static const char *const names[] = {"none", "lz4", "lz4hc", "zstd", "gzip"};
    size_t length = strcspn(codec, ":");
    int64_t level;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == length && strncmp(names[i], codec, length) == 0)
            return !codec[length] ||
                   (i > 1 && parse_integer(codec + length + 1, -50, 22, &level) == 0);
    }
    return false;
}

static int set_codecs(struct options *options, const char *value, const struct log *log)
{
    char *copy AUTO_FREE = strdup(value);
    char *rest = copy, *name;

    while (options->codec_count)
        free(options->codecs[--options->codec_count]);
    while (copy && (name = strsep(&rest, ","))) {
        if (!codec_is_well_formed(name)) {
            log_error(log,
                      "--codec %s: known are none, lz4, lz4hc[:3..12], zstd[:-50..19], gzip[:1..9]",
                      name);
            return -EINVAL;
        }
        for (size_t i = 0; i < options->codec_count; i++) {
            if (strcmp(options->codecs[i], name) == 0) {
                log_error(log, "--codec %s: is there twice", name);
                return -EINVAL;
            }
        }
        if (options->codec_count == OPTIONS_MAX_CODECS) {
            log_error(log, "--codec: more than %d", OPTIONS_MAX_CODECS);
            return -EINVAL;
        }
        options->codecs[options->codec_count++] = strdup(name);
    }
    return copy ? 0 : -ENOMEM;
}

static int set_paths(struct options *options, const char *value, const struct log *log)
{
    char *copy AUTO_FREE = strdup(value);
    char *rest = copy, *name;

    options->path_native = options->path_tallyfs = false;
    while (copy && (name = strsep(&rest, ","))) {
        if (strcmp(name, "native") == 0) {
            options->path_native = true;
        } else if (strcmp(name, "tallyfs") == 0) {
            options->path_tallyfs = true;
        } else {
            log_error(log, "--path %s: known are native, tallyfs", name);
            return -EINVAL;
        }
    }
    return copy ? 0 : -ENOMEM;
}

static int set_format(struct options *options, const char *value, const struct log *log)
{
    static const char *const names[] = {"table", "json", "csv", "markdown", "html"};

    for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], value) == 0) {
            options->format = (enum report_format)i;
            return 0;
        }
    }
    log_error(log, "--format %s: known are table, json, csv, markdown, html", value);
    return -EINVAL;
}

static int set_size(struct options *options, const char *value, const struct log *log)
{
    int r = parse_size(value, CORPUS_MIN_BYTES, CORPUS_MAX_BYTES, &options->size_bytes);

    if (r < 0)
        log_error(log, "--size %s: wanted is a size from 8K to 1024T, such as 1G", value);
    options->has_size = true;
    return r;
}

static int set_seed(struct options *options, const char *value, const struct log *log)
{
    int64_t seed;
    int r = parse_integer(value, 0, INT64_MAX, &seed);

    if (r < 0) {
        log_error(log, "--seed %s: wanted is an integer from 0", value);
        return r;
    }
    options->seed = (uint64_t)seed;
    options->has_seed = true;
    return 0;
}

static int set_trials(struct options *options, const char *value, const struct log *log)
{
    int64_t trials;
    int r = parse_integer(value, 1, MAX_TRIALS, &trials);

    if (r < 0)
        log_error(log, "--trials %s: wanted is an integer from 1 to %d", value, MAX_TRIALS);
    else
        options->trials = (unsigned int)trials;
    options->has_trials = true;
    return r;
}

static int set_time(struct options *options, const char *value, const struct log *log)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
    char *number AUTO_FREE = strdup(value);
    size_t length = strlen(value);
    double factor = 1, seconds;

    if (!number)
        return -ENOMEM;
    for (size_t i = 0; length > 1 && i < sizeof(units) / sizeof(units[0]); i++) {
        if (value[length - 1] == units[i].letter) {
            number[length - 1] = '\0';
            factor = units[i].seconds;
        }
    }
    if (parse_seconds(number, MAX_TIME_S / factor, &seconds) < 0 || !(seconds > 0)) {
        log_error(log, "--time %s: wanted is a time such as 90s, 30m or 8h", value);
        return -EINVAL;
    }
    options->time_limit_s = seconds * factor;
    return 0;
}

static int read_percent(const char *name, const char *value, double *ret_share,
                        const struct log *log)
{
    char *number AUTO_FREE = strdup(value);
    size_t length = strlen(value);
    double percent;

    if (!number)
        return -ENOMEM;
    if (length > 1 && value[length - 1] == '%')
        number[length - 1] = '\0';
    if (parse_seconds(number, 1e6, &percent) < 0) {
        log_error(log, "--%s %s: wanted is a percentage, such as 5%%", name, value);
        return -EINVAL;
    }
    *ret_share = percent / 100;
    return 0;
}

static int set_threshold(struct options *options, const char *value, const struct log *log)
{
    return read_percent("threshold", value, &options->threshold, log);
}

static int set_precision(struct options *options, const char *value, const struct log *log)
{
    return read_percent("precision", value, &options->precision, log);
}

#define TEXT_SETTER(field)                                                                         \
    static int set_##field(struct options *options, const char *value, const struct log *log)      \
    {                                                                                              \
        (void)log;                                                                                 \
        return replace(&options->field, value);                                                    \
    }
#define FLAG_SETTER(name, field, to)                                                               \
    static int set_##name(struct options *options, const char *value, const struct log *log)       \
    {                                                                                              \
        (void)value;                                                                               \
        (void)log;                                                                                 \
        options->field = (to);                                                                     \
        return 0;                                                                                  \
    }

TEXT_SETTER(source)
TEXT_SETTER(work_directory)
TEXT_SETTER(tallyfs)
TEXT_SETTER(output)
FLAG_SETTER(cold, temperature, TEMPERATURE_COLD)
FLAG_SETTER(warm, temperature, TEMPERATURE_WARM)
FLAG_SETTER(resume, resume, true)
FLAG_SETTER(twin, twin, true)
FLAG_SETTER(quick, quick, true)
FLAG_SETTER(help, help, true)

#define MAKES_DATA (SUBCOMMAND_RUN | SUBCOMMAND_CORPUS)
#define SHOWS (SUBCOMMAND_REPORT | SUBCOMMAND_COMPARE)
#define WRITES_FILE (SUBCOMMAND_RUN | SHOWS)
#define ALL_SUBCOMMANDS (SUBCOMMAND_LIST | MAKES_DATA | WRITES_FILE)

static const struct option_row rows[] = {
    {"target", 't', "NAME=DIR", "measure in a new directory below DIR; may be repeated",
     SUBCOMMAND_RUN, set_target},
    {"codec", 'c', "LIST", "tallyfs' codecs: none, lz4, lz4hc:N, zstd:N, gzip:N (none)",
     SUBCOMMAND_RUN, set_codecs},
    {"path", 'p', "LIST", "tallyfs, and native: without it, codec none only (tallyfs)",
     SUBCOMMAND_RUN, set_paths},
    {"source", 0, "DIR", "use the files below DIR instead of a made corpus", SUBCOMMAND_RUN,
     set_source},
    {"size", 's', "SIZE", "of the corpus, of each workload (1G)", MAKES_DATA, set_size},
    {"trials", 'n', "N", "of each configuration (10; with --time, at least 5)", SUBCOMMAND_RUN,
     set_trials},
    {"time", 0, "TIME", "add blocks until all intervals are narrow or TIME is over: 90s, 30m, 8h",
     SUBCOMMAND_RUN, set_time},
    {"precision", 0, "P%", "half width of an interval that is narrow enough for --time (5%)",
     SUBCOMMAND_RUN, set_precision},
    {"aa", 0, NULL, "measure one configuration of each target twice: the noise floor",
     SUBCOMMAND_RUN, set_twin},
    {"quick", 0, NULL, "a first look: 3 trials of 64M, unless told otherwise", SUBCOMMAND_RUN,
     set_quick},
    {"seed", 0, "N", "of the corpus and of the order of trials (run: random; corpus: 1)",
     MAKES_DATA, set_seed},
    {"cold", 0, NULL, "empty caches before each timed part (default; needs root)", SUBCOMMAND_RUN,
     set_cold},
    {"warm", 0, NULL, "leave caches as they are", SUBCOMMAND_RUN, set_warm},
    {"resume", 0, NULL, "go on with the run that RESULT.json has begun", SUBCOMMAND_RUN,
     set_resume},
    {"work", 0, "DIR", "make the corpus below DIR ($TMPDIR or /var/tmp)", SUBCOMMAND_RUN,
     set_work_directory},
    {"tallyfs", 0, "PROGRAM", "the tallyfs to mount with (the one beside tallybench)",
     SUBCOMMAND_RUN, set_tallyfs},
    {"format", 'f', "FORMAT",
     "table, markdown; of report html, json (each cell), csv (each trial) too", SHOWS, set_format},
    {"threshold", 0, "P%", "what a change must be beyond to be a regression (5%)",
     SUBCOMMAND_COMPARE, set_threshold},
    {"output", 'o', "FILE", "write to FILE", WRITES_FILE, set_output},
    {"help", 'h', NULL, "this help", ALL_SUBCOMMANDS, set_help},
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

void options_print_help(enum subcommand subcommand)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        char left[40];

        if (!(rows[i].subcommands & subcommand))
            continue;
        snprintf(left, sizeof(left), "%c%c%s --%s%s%s", rows[i].letter ? '-' : ' ',
                 rows[i].letter ? rows[i].letter : ' ', rows[i].letter ? "," : " ", rows[i].name,
                 rows[i].value ? " " : "", rows[i].value ? rows[i].value : "");
        printf("  %-22s %s\n", left, rows[i].help);
    }
}

static const struct option_row *row_of(int value)
{
    return value >= 256 && value < 256 + (int)ROW_COUNT ? &rows[value - 256] : NULL;
}

int options_parse(enum subcommand subcommand, int argc, char **argv, const struct log *log,
                  struct options *ret_options)
{
    struct options options = {.size_bytes = DEFAULT_SIZE,
                              .trials = DEFAULT_TRIALS,
                              .precision = DEFAULT_PRECISION,
                              .threshold = DEFAULT_THRESHOLD};
    struct option longs[ROW_COUNT + 1];
    char shorts[2 * ROW_COUNT + 2] = ":";
    size_t long_count = 0, length = 1;
    int option, r = 0;

    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!(rows[i].subcommands & subcommand))
            continue;
        longs[long_count++] = (struct option){
            rows[i].name, rows[i].value ? required_argument : no_argument, NULL, 256 + (int)i};
        if (rows[i].letter)
            shorts[length++] = rows[i].letter;
        if (rows[i].letter && rows[i].value)
            shorts[length++] = ':';
    }
    longs[long_count] = (struct option){0};
    shorts[length] = '\0';
    options.path_tallyfs = true;
    optind = 0;
    while (r == 0 && (option = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        const struct option_row *row = row_of(option);

        for (size_t i = 0; !row && i < ROW_COUNT; i++) {
            if (rows[i].letter == option && (rows[i].subcommands & subcommand))
                row = &rows[i];
        }
        if (row) {
            r = row->set(&options, optarg, log);
        } else {
            log_error(log, "%s: %s: %s", argv[0], argv[optind - 1],
                      option == ':' ? "needs a value" : "no such option");
            r = -EINVAL;
        }
    }
    options.arguments = argv + optind;
    options.argument_count = (size_t)(argc - optind);
    if (!options.has_trials && (options.quick || options.time_limit_s > 0))
        options.trials = options.quick ? QUICK_TRIALS : TIME_TRIALS;
    if (!options.has_size && options.quick)
        options.size_bytes = QUICK_SIZE;
    if (r == 0 && options.codec_count == 0)
        r = set_codecs(&options, "none", log);
    if (r < 0)
        options_free(&options);
    else
        *ret_options = options;
    return r;
}

void options_free(struct options *options)
{
    for (size_t i = 0; i < options->target_count; i++) {
        free(options->targets[i].name);
        free(options->targets[i].directory);
    }
    for (size_t i = 0; i < options->codec_count; i++)
        free(options->codecs[i]);
    free(options->source);
    free(options->work_directory);
    free(options->tallyfs);
    free(options->output);
    *options = (struct options){0};
}
