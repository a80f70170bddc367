#include "result.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/cleanup.h"

json_t *result_time_now(void)
{
    time_t now = time(NULL);
    char text[32];
    struct tm tm;

    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    return json_string(text);
}

static json_t *arguments_json(const struct options *options)
{
    json_t *workloads = json_array(), *targets = json_object(), *codecs = json_array();

    for (size_t i = 0; i < options->workload_count; i++)
        json_array_append_new(workloads, json_string(options->workloads[i]->name));
    for (size_t i = 0; i < options->target_count; i++)
        json_object_set_new(targets, options->targets[i].name,
                            json_string(options->targets[i].directory));
    for (size_t i = 0; i < options->codec_count; i++)
        json_array_append_new(codecs, json_string(options->codecs[i]));
    return json_pack("{s:o, s:o, s:o, s:b, s:b, s:b, s:s?, s:I, s:s}", "workloads", workloads,
                     "targets", targets, "codecs", codecs, "path_native", options->path_native,
                     "path_tallyfs", options->path_tallyfs, "twin", options->twin, "source",
                     options->source, "size_bytes", (json_int_t)options->size_bytes, "temperature",
                     options->temperature == TEMPERATURE_COLD ? "cold" : "warm");
}

json_t *result_new(const struct options *options, const struct plan *plan)
{
    return json_pack("{s:i, s:s, s:o, s:I, s:o, s:i, s:o, s:f, s:b, s:n, s:o, s:[], s:[]}",
                     "schema", RESULT_SCHEMA, "program", "tallybench " TALLY_VERSION, "started",
                     result_time_now(), "seed", (json_int_t)options->seed, "arguments",
                     arguments_json(options), "trials_wanted", (int)options->trials, "time_limit_s",
                     options->time_limit_s > 0 ? json_real(options->time_limit_s) : json_null(),
                     "precision", options->precision, "quick", options->quick, "stopped",
                     "configurations", plan_configurations_json(plan), "block_order", "trials");
}

int result_load(const char *path, json_t **ret_result, struct reason *reason)
{
    json_error_t error;
    json_t *result;

    if (access(path, R_OK) < 0)
        return reason_path(reason, -errno, path);
    result = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!result)
        return reason_set(reason, -EPROTO, "%s: not a result of tallybench: %s", path, error.text);
    if (json_integer_value(json_object_get(result, "schema")) != RESULT_SCHEMA ||
        !json_is_array(json_object_get(result, "configurations")) ||
        !json_is_array(json_object_get(result, "corpora")) ||
        !json_is_array(json_object_get(result, "trials"))) {
        json_decref(result);
        return reason_set(reason, -EPROTO, "%s: not a result of tallybench with schema %d", path,
                          RESULT_SCHEMA);
    }
    *ret_result = result;
    return 0;
}

int result_check_resumable(const json_t *old, const json_t *new, const char *path,
                           struct reason *reason)
{
    static const char *const keys[] = {"arguments", "seed", "configurations", "environment"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (!json_equal(json_object_get(old, keys[i]), json_object_get(new, keys[i])))
            return reason_set(reason, -EINVAL,
                              "%s: cannot go on with it: it was begun with other %s", path,
                              keys[i]);
    }
    return 0;
}

static bool is_trial(const json_t *trial, json_int_t configuration, json_int_t block)
{
    return json_integer_value(json_object_get(trial, "configuration")) == configuration &&
           json_integer_value(json_object_get(trial, "block")) == block;
}

json_t *result_find_trial(const json_t *result, size_t configuration, unsigned int block)
{
    json_t *trials = json_object_get(result, "trials"), *trial;
    size_t i;

    json_array_foreach(trials, i, trial) {
        if (is_trial(trial, (json_int_t)configuration, block))
            return trial;
    }
    return NULL;
}

int result_put_trial(json_t *result, json_t *trial)
{
    json_t *trials = json_object_get(result, "trials"), *old;
    size_t i;

    json_array_foreach(trials, i, old) {
        if (is_trial(old, json_integer_value(json_object_get(trial, "configuration")),
                     json_integer_value(json_object_get(trial, "block"))))
            return json_array_set_new(trials, i, trial) < 0 ? -ENOMEM : 0;
    }
    return json_array_append_new(trials, trial) < 0 ? -ENOMEM : 0;
}

static int write_synced(const json_t *result, int fd)
{
    char *text AUTO_FREE = json_dumps(result, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    size_t length, done = 0;

    if (!text)
        return -ENOMEM;
    length = strlen(text);
    text[length++] = '\n'; /* in place of the NUL */
    while (done < length) {
        ssize_t put = write(fd, text + done, length - done);

        if (put < 0 && errno != EINTR)
            return -errno;
        if (put > 0)
            done += (size_t)put;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

int result_save(const json_t *result, const char *path, struct reason *reason)
{
    char *temporary AUTO_FREE = NULL, *copy AUTO_FREE = strdup(path);
    int fd AUTO_CLOSE = -1, directory AUTO_CLOSE = -1;
    mode_t mask;
    int r;

    if (!copy || asprintf(&temporary, "%s.XXXXXX", path) < 0)
        return reason_path(reason, -ENOMEM, path);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return reason_path(reason, -errno, path);
    mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    r = write_synced(result, fd);
    if (r == 0 && rename(temporary, path) < 0)
        r = -errno;
    if (r < 0) {
        unlink(temporary);
        return reason_path(reason, r, path);
    }
    directory = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0 || fsync(directory) < 0)
        return reason_path(reason, -errno, path);
    return 0;
}
