#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "manifest.h"
#include "measure.h"
#include "progress.h"
#include "tree_compare.h"
#include "trial_state.h"
#include "util/cleanup.h"

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

static int start_mount(struct trial *trial)
{
    trial->data = trial->lower;
    if (trial->config->configuration->path != PATH_TALLYFS)
        return 0;
    trial->data = trial->point;
    return mount_start(trial->config->tallyfs, trial->lower, trial->point,
                       trial->config->configuration->codec, &trial->mount, trial->reason);
}

static int write_sets(struct trial *trial)
{
    const struct source *source = trial->config->source;
    int r = 0;

    for (size_t i = 0; r == 0 && i < source->set_count; i++) {
        uint64_t free_before = 0;

        r = trial_chill(trial);
        if (r == 0)
            r = measure_free(trial->lower, &free_before);
        if (r == 0)
            r = trial_phase(trial, PHASE_WRITE, &source->sets[i], trial->data);
        if (r == 0)
            r = trial_note_space(trial, &source->sets[i], free_before);
        progress_part(trial->config->progress, 0.5 * (double)(i + 1) / (double)source->set_count);
    }
    return r;
}

/* What tallyfs itself keeps in memory goes only with its end. */
static int remount(struct trial *trial)
{
    int r;

    if (trial->config->temperature != TEMPERATURE_COLD ||
        trial->config->configuration->path != PATH_TALLYFS)
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
    return trial_phase(trial, PHASE_READ, set, directory);
}

static int verify_set(struct trial *trial, const struct source_set *set, const char *directory)
{
    int r = manifest_verify(directory, &set->manifest, trial->reason);

    return r < 0 ? r : tree_compare(set->directory, directory, trial->reason);
}

static int delete_set(struct trial *trial, const struct source_set *set, const char *directory)
{
    return trial_phase(trial, PHASE_DELETE, set, directory);
}

static int read_back(struct trial *trial)
{
    int r = remount(trial);

    if (r == 0)
        r = trial_chill(trial);
    if (r == 0)
        r = for_each_set(trial, read_set);
    progress_part(trial->config->progress, 0.75);
    return r < 0 ? r : for_each_set(trial, verify_set);
}

static int delete_sets(struct trial *trial)
{
    bool settled;
    int r = trial_settle(trial, NULL, &settled);

    if (r == 0)
        r = for_each_set(trial, delete_set);
    return r < 0 ? r : trial_wait_until_free(trial);
}

int trial_on_target(struct trial *trial)
{
    bool settled;
    int r = make_directories(trial);

    if (r == 0)
        r = trial_settle(trial, NULL, &settled);
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
