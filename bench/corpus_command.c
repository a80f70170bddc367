#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "interrupt.h"
#include "progress.h"
#include "util/cleanup.h"

#define DEFAULT_SEED 1

static void report_bytes(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    progress_part(context, (double)done_bytes / (double)total_bytes);
}

static void print_figures(const struct corpus_result *result)
{
    printf("%-8s %7s %15s %7s %7s %7s\n", "set", "files", "bytes", "lz4 %", "zlib %", "zstd %");
    for (unsigned int i = 0; i < result->set_count; i++) {
        const struct corpus_set *set = &result->sets[i];

        printf("%-8s %7" PRIu64 " %15" PRIu64 " %7.1f %7.1f %7.1f\n", set->name, set->files,
               set->bytes, 100 * set->ratios.lz4, 100 * set->ratios.zlib6, 100 * set->ratios.zstd3);
    }
    printf("hash (XXH3-64) %016" PRIx64 "\n", result->hash);
}

int command_corpus(struct options *options, const struct log *log)
{
    struct corpus_config config = {
        .total_bytes = options->size_bytes,
        .seed = options->has_seed ? options->seed : DEFAULT_SEED,
        .progress = report_bytes,
        .cancel = interrupt_flag(),
    };
    char *failed AUTO_FREE = NULL;
    struct corpus_result result;
    struct progress progress;
    char what[64];
    int r;

    if (options->argument_count != 2) {
        log_error(log, "corpus: wanted are a workload's name and a directory");
        return EXIT_WRONG_USAGE;
    }
    if (corpus_kind_parse(options->arguments[0], &config.kind) < 0) {
        log_error(log, "corpus: %s: known are trigger, mailbox", options->arguments[0]);
        return EXIT_WRONG_USAGE;
    }
    config.directory = options->arguments[1];
    if (interrupt_install() < 0) {
        log_error(log, "signals: %s", strerror(errno));
        return EXIT_FAILURE;
    }
    progress_begin(&progress, 1);
    config.progress_context = &progress;
    snprintf(what, sizeof(what), "making the %s corpus, seed %" PRIu64,
             corpus_kind_name(config.kind), config.seed);
    progress_step(&progress, what);
    r = corpus_generate(&config, &result, &failed);
    progress_clear(&progress);
    if (r == -ECANCELED)
        log_error(log, "corpus: interrupted, what was made is removed");
    else if (r < 0)
        log_error(log, "%s: %s", failed ? failed : config.directory, strerror(-r));
    else
        print_figures(&result);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
