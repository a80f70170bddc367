#include "run_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "util/cleanup.h"

static int read_workloads(struct options *options, const struct log *log)
{
    char *copy AUTO_FREE = strdup(options->arguments[0]);
    char *rest = copy, *name;

    while (copy && (name = strsep(&rest, ","))) {
        const struct workload *workload = workload_find(name);

        for (size_t i = 0; workload && i < options->workload_count; i++) {
            if (options->workloads[i] == workload) {
                log_error(log, "run: %s: is there twice", name);
                return EXIT_WRONG_USAGE;
            }
        }
        if (!workload) {
            log_error(log, "run: %s: no such workload; known are trigger, mailbox", name);
            return EXIT_WRONG_USAGE;
        }
        options->workloads[options->workload_count++] = workload;
    }
    return copy ? 0 : EXIT_FAILURE;
}

static int make_absolute(char **path, const struct log *log)
{
    char *absolute = realpath(*path, NULL);
    struct stat st;

    if (!absolute || stat(absolute, &st) < 0) {
        log_error(log, "%s: %s", *path, strerror(errno));
        free(absolute);
        return EXIT_FAILURE;
    }
    free(*path);
    *path = absolute;
    if (!S_ISDIR(st.st_mode)) {
        log_error(log, "%s: %s", *path, strerror(ENOTDIR));
        return EXIT_FAILURE;
    }
    return 0;
}

static int check_directories(struct options *options, const struct log *log)
{
    int status = 0;

    for (size_t i = 0; !status && i < options->target_count; i++) {
        status = make_absolute(&options->targets[i].directory, log);
        if (!status && access(options->targets[i].directory, W_OK) < 0) {
            log_error(log, "%s: %s", options->targets[i].directory, strerror(errno));
            status = EXIT_FAILURE;
        }
    }
    if (!status && options->source)
        status = make_absolute(&options->source, log);
    if (!status && options->work_directory)
        status = make_absolute(&options->work_directory, log);
    return status;
}

static int complain(const struct log *log, const char *what)
{
    log_error(log, "run: %s", what);
    return EXIT_WRONG_USAGE;
}

int run_options_check(struct options *options, const struct log *log)
{
    int status;

    if (options->argument_count != 1)
        return complain(log, "wanted is one list of workloads: trigger, mailbox");
    status = read_workloads(options, log);
    if (status)
        return status;
    if (options->target_count == 0)
        return complain(log, "--target NAME=DIR is missing");
    if (!options->output)
        return complain(log, "-o RESULT.json is missing");
    if (!options->path_native && !options->path_tallyfs)
        return complain(log, "--path: wanted are native, tallyfs or both");
    if (!options->path_tallyfs && (options->codec_count > 1 || strcmp(options->codecs[0], "none")))
        return complain(log, "--path native has no codec; add tallyfs to it");
    return check_directories(options, log);
}
