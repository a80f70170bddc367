/*
 * differential: makes the same random file-system calls in two directories and compares what comes of them.
 *
 * Usage: differential [OPTION…] LEFT RIGHT
 *        differential --replay SCRIPT [OPTION…] LEFT RIGHT
 *     --tallyfs PROGRAM --lower DIR   mount DIR on LEFT, and again between the phases of a script
 *     --options OPTIONS               of the mount; given more than once, the mounts take turns
 *     --seed N       of the first script (default 1); the next ones have the numbers that follow
 *     --rounds N     how many scripts (default 1)
 *     --threads N    that make calls (default 2)
 *     --phases N     of a script, with a remount behind each (default 2)
 *     --operations N of each thread in a phase (default 150)
 *     --sequential   one thread makes the calls of all, in the order of the script
 *     --save FILE    write a script that shows a difference, made short, to FILE
 *     --statistics   print how often each call was made, and how often it failed on both sides
 *     --leave-out CALL   leave CALL out on the left: the test of the test
 *
 * Exit status: 0 no difference; 1 a difference, or the test cannot be made; 2 wrong usage.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "shrink.h"
#include "util/parse.h"

#define OPTIONS_MAX 8
#define CHUNK_DEFAULT 131072

struct settings {
    struct script_shape shape;
    int64_t seed, rounds;
    const char *replay, *save;
    bool is_sequential, statistics;
    const char *options[OPTIONS_MAX];
};

static int wrong_usage(const char *reason, const char *what)
{
    fprintf(stderr, "differential: %s: %s\n", what, reason);
    return 2;
}

/* What can be known from the options about how files are stored. */
static void set_traits(struct trial *trial)
{
    for (unsigned i = 0; i < trial->place.option_count; i++) {
        const char *options = trial->place.options[i];
        const char *chunk = strstr(options, "chunk=");
        int64_t bytes = chunk ? atoll(chunk + strlen("chunk=")) * 1024 : CHUNK_DEFAULT;

        trial->traits.compressed |=
            strstr(options, "compress=") && !strstr(options, "compress=none");
        trial->traits.writeback |= strstr(options, "cache=writeback") != NULL;
        if (bytes > trial->traits.chunk_bytes)
            trial->traits.chunk_bytes = bytes;
    }
}

static int find_call(const char *name)
{
    int call = 0;

    while (call < CALL_COUNT && strcmp(call_types[call].name, name) != 0)
        call++;
    return call;
}

enum {
    TALLYFS = 1,
    LOWER,
    OPTIONS,
    SEED,
    ROUNDS,
    THREADS,
    PHASES,
    OPERATIONS,
    REPLAY,
    SAVE,
    LEAVE_OUT,
    SEQUENTIAL,
    STATISTICS
};

static const struct option options[] = {
    {"tallyfs", required_argument, NULL, TALLYFS},
    {"lower", required_argument, NULL, LOWER},
    {"options", required_argument, NULL, OPTIONS},
    {"seed", required_argument, NULL, SEED},
    {"rounds", required_argument, NULL, ROUNDS},
    {"threads", required_argument, NULL, THREADS},
    {"phases", required_argument, NULL, PHASES},
    {"operations", required_argument, NULL, OPERATIONS},
    {"replay", required_argument, NULL, REPLAY},
    {"save", required_argument, NULL, SAVE},
    {"leave-out", required_argument, NULL, LEAVE_OUT},
    {"sequential", no_argument, NULL, SEQUENTIAL},
    {"statistics", no_argument, NULL, STATISTICS},
    {NULL, 0, NULL, 0},
};

static int parse_count(const char *text, int64_t max, unsigned *ret_count)
{
    int64_t value;

    if (parse_integer(text, 1, max, &value) < 0)
        return -EINVAL;
    *ret_count = (unsigned)value;
    return 0;
}

static int take_option(int option, struct trial *trial, struct settings *settings)
{
    switch (option) {
    case TALLYFS:
        trial->place.tallyfs = optarg;
        return 0;
    case LOWER:
        trial->place.lower = optarg;
        return 0;
    case OPTIONS:
        if (trial->place.option_count == OPTIONS_MAX)
            return -EINVAL;
        settings->options[trial->place.option_count++] = optarg;
        return 0;
    case SEED:
        return parse_integer(optarg, 0, INT64_MAX, &settings->seed);
    case ROUNDS:
        return parse_integer(optarg, 1, INT64_MAX, &settings->rounds);
    case THREADS:
        return parse_count(optarg, THREADS_MAX, &settings->shape.threads);
    case PHASES:
        return parse_count(optarg, 1000, &settings->shape.phases);
    case OPERATIONS:
        return parse_count(optarg, 1000000, &settings->shape.operations);
    case REPLAY:
        settings->replay = optarg;
        return 0;
    case SAVE:
        settings->save = optarg;
        return 0;
    case LEAVE_OUT:
        trial->left_out = find_call(optarg);
        return trial->left_out == CALL_COUNT ? -EINVAL : 0;
    case STATISTICS:
        settings->statistics = true;
        return 0;
    case SEQUENTIAL:
        settings->is_sequential = true;
        return 0;
    default:
        return -EINVAL;
    }
}

static void print_difference(const struct trial *trial, const struct script *script,
                             const struct difference *difference)
{
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;

    if (difference->index < script->count)
        script_print_op(&script->ops[difference->index], &line);
    else
        strbuf_puts(&line, "the end");
    fprintf(stderr, "differential: mounted with \"%s\", a difference at call %zu of %zu, %s:\n%s",
            place_options(&trial->place), difference->index + 1, script->count, line.data,
            difference->text.data ? difference->text.data : "");
}

static void save(const struct settings *settings, const struct script *script)
{
    FILE *file = settings->save ? fopen(settings->save, "w") : NULL;

    fprintf(stderr, "------ script\n");
    script_write(script, stderr);
    fprintf(stderr, "------\n");
    if (file) {
        script_write(script, file);
        fclose(file);
    }
}

static void explain(struct trial *trial, const struct settings *settings,
                    const struct script *script, struct difference *difference)
{
    struct script shorter;

    print_difference(trial, script, difference);
    if (settings->replay)
        return;
    if (shrink_script(trial, script, difference, &shorter) < 0) {
        fprintf(stderr, "differential: it does not show again; the whole script:\n");
        save(settings, script);
        return;
    }
    fprintf(stderr, "differential: made short:\n");
    print_difference(trial, &shorter, difference);
    save(settings, &shorter);
    script_free(&shorter);
}

/* 0 without a difference. */
static int run_one(struct trial *trial, const struct settings *settings,
                   const struct script *script)
{
    struct difference difference = {.text = STRBUF_INIT};
    int r = run_script(trial, script, settings->is_sequential, &difference);

    if (r > 0)
        explain(trial, settings, script, &difference);
    else if (r < 0)
        fprintf(stderr, "differential: cannot run:\n%s",
                difference.text.data ? difference.text.data : "");
    strbuf_free(&difference.text);
    return r;
}

static int replay(struct trial *trial, const struct settings *settings)
{
    AUTO_SCRIPT struct script script = {.ops = NULL};
    FILE *file = fopen(settings->replay, "r");
    unsigned line = 0;
    int r;

    if (!file) {
        fprintf(stderr, "differential: %s: %s\n", settings->replay, strerror(errno));
        return -1;
    }
    r = script_read(file, &script, &line);
    fclose(file);
    if (r < 0) {
        fprintf(stderr, "differential: %s:%u: not a line of a script\n", settings->replay, line);
        return r;
    }
    return run_one(trial, settings, &script);
}

static int run_rounds(struct trial *trial, const struct settings *settings)
{
    for (int64_t round = 0; round < settings->rounds; round++) {
        AUTO_SCRIPT struct script script = {.ops = NULL};
        uint64_t seed = (uint64_t)(settings->seed + round);

        if (script_draw(seed, &settings->shape, &script) < 0)
            return -1;
        if (run_one(trial, settings, &script) != 0) {
            fprintf(stderr,
                    "differential: that was --seed %llu --threads %u --phases %u --operations %u\n",
                    (unsigned long long)seed, settings->shape.threads, settings->shape.phases,
                    settings->shape.operations);
            return -1;
        }
    }
    return 0;
}

static void print_statistics(struct trial *trial)
{
    printf("%-18s %10s %10s\n", "call", "made", "failed");
    for (unsigned i = 0; i < CALL_COUNT; i++)
        printf("%-18s %10lu %10lu\n", call_types[i].name, atomic_load(&trial->statistics[i].made),
               atomic_load(&trial->statistics[i].failed));
}

int main(int argc, char **argv)
{
    struct settings settings = {.shape = {2, 2, 150}, .seed = 1, .rounds = 1};
    struct trial trial = {.left_out = CALL_COUNT, .traits.chunk_bytes = 4096};
    int option, r;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (take_option(option, &trial, &settings) < 0)
            return wrong_usage("wrong", optarg ? optarg : argv[optind - 1]);
    }
    if (argc - optind != 2)
        return wrong_usage("two directories are needed", "arguments");
    if (!trial.place.tallyfs != !trial.place.lower)
        return wrong_usage("comes with --lower", "--tallyfs");
    trial.left = trial.place.mountpoint = argv[optind];
    trial.right = argv[optind + 1];
    trial.place.options = settings.options;
    set_traits(&trial);
    r = settings.replay ? replay(&trial, &settings) : run_rounds(&trial, &settings);
    place_kill(&trial.place);
    if (settings.statistics)
        print_statistics(&trial);
    return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
