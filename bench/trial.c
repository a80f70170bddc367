#include "trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"
#include "manifest.h"
#include "measure.h"
#include "phase.h"
#include "progress.h"
#include "result.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define UNTIL_FREE_LIMIT_S 60
#define UNTIL_FREE_POLL_MS 10

struct trial {
    const struct trial_config *config;
    struct reason *reason;
    json_t *record;
    struct mount mount;
    char *directory; /* what is removed at the end */
    char *lower, *point;
    const char *data;    /* where programs work: lower, or point */
    uint64_t free_bytes; /* before anything was written */
};

static int make_directories(struct trial *trial)
{
    const char *target = trial->config->configuration->target->directory;

    if (asprintf(&trial->directory, "%s/tallybench.XXXXXX", target) < 0)
        return reason_path(trial->reason, -ENOMEM, target);
    if (!mkdtemp(trial->directory)) {
        int r = reason_path(trial->reason, -errno, target);

        free(TAKE_POINTER(trial->directory));
        return r;
    }
    if (asprintf(&trial->lower, "%s/lower", trial->directory) < 0 ||
        asprintf(&trial->point, "%s/mnt", trial->directory) < 0)
        return reason_path(trial->reason, -ENOMEM, target);
    if (mkdir(trial->lower, 0700) < 0 || mkdir(trial->point, 0700) < 0)
        return reason_path(trial->reason, -errno, trial->directory);
    return 0;
}

static bool through_tallyfs(const struct trial *trial)
{
    return trial->config->configuration->path == PATH_TALLYFS;
}

static int start_mount(struct trial *trial)
{
    trial->data = trial->lower;
    if (!through_tallyfs(trial))
        return 0;
    trial->data = trial->point;
    return mount_start(trial->config->tallyfs, trial->lower, trial->point,
                       trial->config->configuration->codec, &trial->mount, trial->reason);
}

/* Empties caches where this is a cold run; the record tells where that was not possible. */
static int chill(struct trial *trial)
{
    const struct source *source = trial->config->source;

    if (trial->config->temperature != TEMPERATURE_COLD)
        return 0;
    if (measure_drop_caches() == 0)
        return 0;
    source_forget(source);
    for (size_t i = 0; trial->lower && i < source->set_count; i++) {
        char *directory AUTO_FREE = NULL;

        /* Stored files have the names of the originals. */
        if (asprintf(&directory, "%s/%s", trial->lower, source->sets[i].name) < 0)
            return reason_path(trial->reason, -ENOMEM, trial->lower);
        manifest_forget(directory, &source->sets[i].manifest);
    }
    return json_object_set_new(trial->record, "temperature", json_string("cold-unavailable"));
}

static int settle(struct trial *trial, const char *tree, bool *ret_settled)
{
    const char *target = trial->config->configuration->target->directory;
    int r = 0;

    if (trial->mount.point)
        r = mount_sync(&trial->mount);
    if (r == 0)
        r = measure_settle(target, tree, ret_settled);
    return r < 0 ? reason_path(trial->reason, r, tree ? tree : target) : 0;
}

/* Counters since the last reset, under the phase's name; then they are reset. */
static int save_counters(struct trial *trial, const char *phase)
{
    json_t *all = json_object_get(trial->record, "counters"), *counters;
    int r;

    if (!trial->mount.point)
        return 0;
    r = mount_counters(&trial->mount, &counters);
    if (r < 0)
        return reason_set(trial->reason, r, "%s: cannot read the counters: %s", trial->mount.point,
                          strerror(-r));
    if (!json_is_object(all)) {
        all = json_object();
        json_object_set_new(trial->record, "counters", all);
    }
    json_object_set_new(all, phase, counters);
    r = mount_reset(&trial->mount);
    return r < 0 ? reason_path(trial->reason, r, trial->mount.point) : 0;
}

static int note_space(struct trial *trial, const struct source_set *set, uint64_t free_before)
{
    char *stored AUTO_FREE = NULL, *seen AUTO_FREE = NULL;
    struct tree_space lower, mounted;
    bool settled = false;
    uint64_t free_now = 0;
    int r;

    if (asprintf(&stored, "%s/%s", trial->lower, set->name) < 0 ||
        asprintf(&seen, "%s/%s", trial->data, set->name) < 0)
        return reason_path(trial->reason, -ENOMEM, trial->lower);
    r = settle(trial, stored, &settled);
    if (r < 0)
        return r;
    r = measure_free(trial->lower, &free_now);
    if (r == 0)
        r = measure_tree(stored, &lower);
    if (r == 0)
        r = measure_tree(seen, &mounted);
    if (r < 0)
        return reason_path(trial->reason, r, seen);
    if (json_array_append_new(
            json_object_get(trial->record, "space"),
            json_pack("{s:s, s:I, s:I, s:I, s:o, s:I, s:b}", "set", set->name, "original_bytes",
                      (json_int_t)set->bytes, "df_bytes", (json_int_t)(free_before - free_now),
                      "allocated_bytes", (json_int_t)lower.allocated_bytes, "mount_allocated_bytes",
                      through_tallyfs(trial) ? json_integer((json_int_t)mounted.allocated_bytes)
                                             : json_null(),
                      "apparent_bytes", (json_int_t)mounted.apparent_bytes, "settled", settled)) <
        0)
        return -ENOMEM;
    return 0;
}

static int run_phase(struct trial *trial, enum phase_kind kind, const struct source_set *set,
                     const char *directory)
{
    struct phase phase = {
        .kind = kind,
        .workload = trial->config->configuration->workload,
        .set = set,
        .directory = directory,
        .mount = trial->mount.point ? &trial->mount : NULL,
        .sync_directory = trial->lower,
    };

    return phase_run(&phase, json_object_get(trial->record, "phases"), trial->reason);
}

static int write_sets(struct trial *trial)
{
    const struct source *source = trial->config->source;
    int r = 0;

    for (size_t i = 0; r == 0 && i < source->set_count; i++) {
        uint64_t free_before = 0;

        r = chill(trial);
        if (r == 0)
            r = measure_free(trial->lower, &free_before);
        if (r == 0)
            r = run_phase(trial, PHASE_WRITE, &source->sets[i], trial->data);
        if (r == 0)
            r = note_space(trial, &source->sets[i], free_before);
        progress_part(trial->config->progress, 0.5 * (double)(i + 1) / (double)source->set_count);
    }
    return r < 0 ? r : save_counters(trial, "write");
}

/* What tallyfs itself keeps in memory goes only with its end. */
static int remount(struct trial *trial)
{
    int r;

    if (trial->config->temperature != TEMPERATURE_COLD || !through_tallyfs(trial))
        return 0;
    r = mount_stop(&trial->mount, trial->reason);
    return r < 0 ? r : start_mount(trial);
}

static int for_each_set(struct trial *trial,
                        int (*run)(struct trial *trial, const struct source_set *set,
                                   const char *directory))
{
    const struct source *source = trial->config->source;
    int r = 0;

    for (size_t i = 0; r == 0 && i < source->set_count; i++) {
        char *directory AUTO_FREE = NULL;

        if (asprintf(&directory, "%s/%s", trial->data, source->sets[i].name) < 0)
            return reason_path(trial->reason, -ENOMEM, trial->data);
        r = run(trial, &source->sets[i], directory);
    }
    return r;
}

static int read_set(struct trial *trial, const struct source_set *set, const char *directory)
{
    return run_phase(trial, PHASE_READ, set, directory);
}

static int verify_set(struct trial *trial, const struct source_set *set, const char *directory)
{
    return manifest_verify(directory, &set->manifest, trial->reason);
}

static int delete_set(struct trial *trial, const struct source_set *set, const char *directory)
{
    return run_phase(trial, PHASE_DELETE, set, directory);
}

static int read_back(struct trial *trial)
{
    int r = remount(trial);

    if (r == 0)
        r = chill(trial);
    if (r == 0)
        r = for_each_set(trial, read_set);
    if (r == 0)
        r = save_counters(trial, "read");
    progress_part(trial->config->progress, 0.75);
    return r < 0 ? r : for_each_set(trial, verify_set);
}

static int wait_until_free(struct trial *trial)
{
    uint64_t began_ns = clock_ns(), free_now = 0, used = 0;
    json_t *spaces = json_object_get(trial->record, "space"), *space;
    size_t i;

    json_array_foreach(spaces, i, space) used +=
        (uint64_t)json_integer_value(json_object_get(space, "allocated_bytes"));
    for (;;) {
        uint64_t waited_ns = clock_ns() - began_ns;
        int r = measure_free(trial->lower, &free_now);

        if (r < 0)
            return reason_path(trial->reason, r, trial->lower);
        if (free_now + measure_space_tolerance(used) >= trial->free_bytes)
            return json_object_set_new(trial->record, "until_free_s",
                                       json_real((double)waited_ns * 1e-9));
        if (waited_ns > UNTIL_FREE_LIMIT_S * NS_PER_SECOND)
            return 0; /* stays null */
        r = interrupt_sleep_ms(UNTIL_FREE_POLL_MS);
        if (r < 0)
            return r;
    }
}

static int delete_sets(struct trial *trial)
{
    bool settled;
    int r = settle(trial, NULL, &settled);

    if (r == 0 && trial->mount.point)
        r = mount_reset(&trial->mount); /* verifying was no part of the workload */
    if (r == 0)
        r = for_each_set(trial, delete_set);
    if (r == 0)
        r = wait_until_free(trial);
    return r < 0 ? r : save_counters(trial, "delete");
}

static int measure_target(struct trial *trial)
{
    bool settled;
    int r = make_directories(trial);

    if (r == 0)
        r = settle(trial, NULL, &settled);
    if (r == 0)
        r = measure_free(trial->lower, &trial->free_bytes);
    if (r == 0)
        r = start_mount(trial);
    if (r == 0)
        r = write_sets(trial);
    if (r == 0)
        r = read_back(trial);
    return r < 0 ? r : delete_sets(trial);
}

static int measure_source(struct trial *trial)
{
    const struct source *source = trial->config->source;
    int r = chill(trial);

    for (size_t i = 0; r == 0 && i < source->set_count; i++)
        r = run_phase(trial, PHASE_READ, &source->sets[i], source->sets[i].directory);
    return r;
}

/* The daemon's end says more than what a program that lost it has to say. */
static void note_failure(struct trial *trial)
{
    struct reason ended;

    if (trial->mount.point && !mount_alive(&trial->mount, &ended))
        *trial->reason = ended;
    json_object_set_new(trial->record, "status", json_string("failed"));
    /* A file's name need not be UTF-8, JSON must be. */
    if (json_object_set_new(trial->record, "reason", json_string(trial->reason->text)) < 0)
        json_object_set_new(trial->record, "reason", json_string("(a file's name is not UTF-8)"));
}

static int clean_up(struct trial *trial)
{
    struct reason reason = {""};
    int stopped = mount_stop(&trial->mount, &reason), removed = 0;

    if (stopped < 0 && json_string_value(json_object_get(trial->record, "reason")) == NULL) {
        *trial->reason = reason;
        note_failure(trial);
    }
    if (trial->directory)
        removed = remove_tree(trial->directory, &reason);
    if (removed < 0)
        *trial->reason = reason;
    free(trial->directory);
    free(trial->lower);
    free(trial->point);
    return removed < 0 ? -EIO : 0;
}

static json_t *new_record(const struct trial_config *config)
{
    return json_pack("{s:I, s:I, s:o, s:s, s:n, s:s, s:[], s:[], s:n, s:n}", "configuration",
                     (json_int_t)config->configuration_index, "block", (json_int_t)config->block,
                     "started", result_time_now(), "status", "ok", "reason", "temperature",
                     config->temperature == TEMPERATURE_COLD ? "cold" : "warm", "phases", "space",
                     "until_free_s", "counters");
}

int trial_run(const struct trial_config *config, json_t **ret_record, struct reason *reason)
{
    struct trial trial = {
        .config = config, .reason = reason, .record = new_record(config), .mount = MOUNT_NONE};
    int r, cleaned;

    if (!trial.record)
        return reason_set(reason, -ENOMEM, "out of memory");
    reason->text[0] = '\0';
    if (config->configuration->path == PATH_SOURCE)
        r = measure_source(&trial);
    else
        r = measure_target(&trial);
    if (r < 0 && r != -ECANCELED) {
        if (!reason->text[0])
            reason_set(reason, r, "%s", strerror(-r));
        note_failure(&trial);
    }
    cleaned = clean_up(&trial);
    if (cleaned < 0 || r == -ECANCELED) {
        json_decref(trial.record);
        return cleaned < 0 ? cleaned : r;
    }
    *ret_record = trial.record;
    return 0;
}
