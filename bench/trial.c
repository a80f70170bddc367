#include "trial.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest.h"
#include "measure.h"
#include "result.h"
#include "trial_state.h"
#include "util/cleanup.h"

int trial_chill(struct trial *trial)
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

int trial_phase(struct trial *trial, enum phase_kind kind, const struct source_set *set,
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

static int measure_source(struct trial *trial)
{
    const struct source *source = trial->config->source;
    int r = trial_chill(trial);

    for (size_t i = 0; r == 0 && i < source->set_count; i++)
        r = trial_phase(trial, PHASE_READ, &source->sets[i], source->sets[i].directory);
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
    return json_pack("{s:I, s:I, s:o, s:s, s:n, s:s, s:[], s:[], s:n}", "configuration",
                     (json_int_t)config->configuration_index, "block", (json_int_t)config->block,
                     "started", result_time_now(), "status", "ok", "reason", "temperature",
                     config->temperature == TEMPERATURE_COLD ? "cold" : "warm", "phases", "space",
                     "until_free_s");
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
        r = trial_on_target(&trial);
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
