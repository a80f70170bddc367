#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "environment.h"
#include "interrupt.h"
#include "mount.h"
#include "plan.h"
#include "progress.h"
#include "result.h"
#include "run_options.h"
#include "stop_rule.h"
#include "trial.h"
#include "util/cleanup.h"
#include "util/clock.h"

struct run {
    const struct options *options;
    const struct log *log;
    struct plan plan;
    struct source sources[WORKLOAD_COUNT]; /* of options->workloads */
    char *tallyfs;
    json_t *result;
    struct progress progress;
    size_t failed;         /* trials of this call */
    size_t adopted_blocks; /* of the run that is resumed; the last may be incomplete */
};

/* Seeds from the system are kept short, so that people can type them. */
static int choose_seed(struct options *options)
{
    uint32_t seed;

    if (options->has_seed)
        return 0;
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        return -EIO;
    options->seed = seed;
    options->has_seed = true;
    return 0;
}

/* The file that is resumed also tells the seed where none was given. */
static int load_old(struct options *options, json_t **ret_old, struct reason *reason)
{
    json_t *old;
    int r;

    if (!options->resume || access(options->output, F_OK) < 0)
        return 0;
    r = result_load(options->output, &old, reason);
    if (r < 0)
        return r;
    if (!options->has_seed) {
        options->seed = (uint64_t)json_integer_value(json_object_get(old, "seed"));
        options->has_seed = true;
    }
    *ret_old = old;
    return 0;
}

static int make_sources(struct run *run, struct reason *reason)
{
    const struct options *options = run->options;
    const char *work = options->work_directory ? options->work_directory : getenv("TMPDIR");
    json_t *corpora = json_array();

    if (!work || !*work)
        work = "/var/tmp";
    json_object_set_new(run->result, "corpora", corpora);
    for (size_t i = 0; i < options->workload_count; i++) {
        const struct workload *workload = options->workloads[i];
        struct source *source = &run->sources[i];
        char what[64];
        int r;

        snprintf(what, sizeof(what), "%s: %s", workload->name,
                 options->source ? "reading the source" : "making the corpus");
        progress_step(&run->progress, what);
        r = options->source ? source_adopt(workload->corpus, options->source, source, reason)
                            : source_generate(workload->corpus, options->size_bytes, options->seed,
                                              work, &run->progress, source, reason);
        if (r < 0)
            return r;
        json_array_append_new(corpora,
                              environment_corpus_json(workload, options->source, &source->figures));
    }
    return 0;
}

/* By their hashes: the ratios may have lost a digit in the file. */
static bool same_corpora(const json_t *old, const json_t *new)
{
    const json_t *corpus;
    size_t i;

    json_array_foreach(new, i, corpus) {
        if (!json_equal(json_object_get(json_array_get(old, i), "hash_xxh3_64"),
                        json_object_get(corpus, "hash_xxh3_64")))
            return false;
    }
    return true;
}

/* Takes over the trials of the run that is resumed. Failed ones are tried again. */
static int adopt_old(struct run *run, const json_t *old, struct reason *reason)
{
    json_t *trial;
    size_t i;
    int r;

    r = result_check_resumable(old, run->result, run->options->output, reason);
    if (r < 0)
        return r;
    if (!same_corpora(json_object_get(old, "corpora"), json_object_get(run->result, "corpora")))
        return reason_set(reason, -EINVAL, "%s: cannot go on with it: the corpus is not the same",
                          run->options->output);
    json_array_foreach(json_object_get(old, "trials"), i, trial) {
        size_t block = (size_t)json_integer_value(json_object_get(trial, "block"));

        json_array_append(json_object_get(run->result, "trials"), trial);
        if (block >= run->adopted_blocks)
            run->adopted_blocks = block + 1;
    }
    return 0;
}

static void describe_machine(struct run *run)
{
    json_t *targets = json_array();

    for (size_t i = 0; i < run->options->target_count; i++)
        json_array_append_new(targets, environment_target_json(&run->options->targets[i]));
    json_object_set_new(run->result, "targets", targets);
    json_object_set_new(run->result, "environment", environment_json(run->tallyfs));
}

static const struct source *source_of(const struct run *run, const struct workload *workload)
{
    size_t i = 0;

    while (run->options->workloads[i] != workload)
        i++;
    return &run->sources[i];
}

static int run_trial(struct run *run, size_t index, unsigned int block, struct reason *reason)
{
    const struct configuration *configuration = &run->plan.configurations[index];
    struct trial_config config = {
        .configuration = configuration,
        .configuration_index = index,
        .block = block,
        .source = source_of(run, configuration->workload),
        .tallyfs = run->tallyfs,
        .temperature = run->options->temperature,
        .progress = &run->progress,
    };
    json_t *record, *done = result_find_trial(run->result, index, block);
    const char *failure;
    char label[96], what[128];
    int r;

    configuration_label(configuration, label, sizeof(label));
    snprintf(what, sizeof(what), "block %u %s", block + 1, label);
    progress_step(&run->progress, what);
    if (done && strcmp(json_string_value(json_object_get(done, "status")), "ok") == 0)
        return 0;
    r = trial_run(&config, &record, reason);
    if (r < 0)
        return r;
    failure = json_string_value(json_object_get(record, "reason"));
    if (failure) {
        progress_clear(&run->progress);
        log_error(run->log, "%s, block %u failed: %s", label, block + 1, failure);
        run->failed++;
    }
    r = result_put_trial(run->result, record);
    return r < 0 ? r : result_save(run->result, run->options->output, reason);
}

static int run_block(struct run *run, size_t block, struct reason *reason)
{
    json_t *order = plan_block_json(&run->plan, run->options->seed, block), *index;
    size_t place;
    int r = 0;

    if (json_array_append_new(json_object_get(run->result, "block_order"), order) < 0)
        return reason_set(reason, -ENOMEM, "out of memory");
    json_array_foreach(order, place, index) {
        r = run_trial(run, (size_t)json_integer_value(index), (unsigned int)block, reason);
        if (r < 0)
            return r;
    }
    return 0;
}

/* The blocks that a resumed run begins with count like new ones, but for the time that they took. */
static int run_blocks(struct run *run, struct reason *reason)
{
    uint64_t began_ns = clock_ns();
    struct stop stop = {STOP_NOT};
    double elapsed_s = 0;
    size_t block;

    for (block = 0; stop.why == STOP_NOT || block < run->adopted_blocks; block++) {
        int r = run_block(run, block, reason);

        if (r < 0)
            return r;
        elapsed_s = (double)(clock_ns() - began_ns) * 1e-9;
        r = stop_rule(run->options, run->result, block + 1, elapsed_s, &stop);
        if (r < 0)
            return reason_set(reason, r, "the trials do not fit together");
        if (stop.why == STOP_NOT && block + 1 >= run->options->trials)
            progress_more(&run->progress, run->plan.count);
    }
    json_object_set_new(run->result, "stopped", stop_json(&stop, block, elapsed_s));
    return result_save(run->result, run->options->output, reason);
}

static int run_all(struct run *run, struct options *options, struct reason *reason)
{
    json_t *old = NULL;
    int r = load_old(options, &old, reason);

    if (r == 0)
        r = choose_seed(options);
    if (r == 0 && options->path_tallyfs)
        r = mount_find_program(options->tallyfs, &run->tallyfs, reason);
    if (r == 0)
        r = plan_make(options, &run->plan);
    if (r == 0) {
        run->result = result_new(options, &run->plan);
        if (!run->result)
            r = reason_set(reason, -EILSEQ, "a name of a target or directory is not UTF-8");
    }
    if (r == 0) {
        progress_begin(&run->progress, options->workload_count + run->plan.count * options->trials);
        describe_machine(run);
        r = make_sources(run, reason);
    }
    if (r == 0 && old)
        r = adopt_old(run, old, reason);
    /* Before anything is timed: a file that cannot be written is to be known now. */
    if (r == 0)
        r = result_save(run->result, options->output, reason);
    if (r == 0)
        r = run_blocks(run, reason);
    json_decref(old);
    return r;
}

int command_run(struct options *options, const struct log *log)
{
    struct run run = {.options = options, .log = log};
    struct reason reason = {""};
    int r, status = run_options_check(options, log);

    if (status)
        return status;
    r = interrupt_install();
    if (r == 0)
        r = run_all(&run, options, &reason);
    progress_clear(&run.progress);
    for (size_t i = 0; i < options->workload_count; i++)
        source_release(&run.sources[i]);
    if (r == -ECANCELED)
        log_error(log, "interrupted; %s has the trials that were finished, --resume goes on",
                  options->output);
    else if (r < 0)
        log_error(log, "%s", reason.text[0] ? reason.text : strerror(-r));
    else if (run.failed)
        log_error(log, "%zu of the trials failed; the others are in %s", run.failed,
                  options->output);
    plan_free(&run.plan);
    json_decref(run.result);
    free(run.tallyfs);
    return r < 0 || run.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
