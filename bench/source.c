#include "source.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"
#include "manifest.h"
#include "progress.h"
#include "util/cleanup.h"

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *place)
{
    (void)st;
    (void)type;
    (void)place;
    return remove(path) < 0 ? -errno : 0;
}

int remove_tree(const char *directory, struct reason *reason)
{
    int r = nftw(directory, remove_entry, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);

    if (r == -1)
        r = -errno;
    if (r == -ENOENT)
        r = 0;
    return r < 0 ? reason_path(reason, r, directory) : 0;
}

static int add_set(struct source *source, const char *name, const char *directory,
                   struct reason *reason)
{
    struct source_set *set = &source->sets[source->set_count];
    int r;

    *set = (struct source_set){.name = name, .directory = realpath(directory, NULL)};
    if (!set->directory)
        return reason_path(reason, -errno, directory);
    source->set_count++;
    r = manifest_read(set->directory, &set->manifest, reason);
    for (size_t i = 0; r == 0 && i < set->manifest.count; i++)
        set->bytes += set->manifest.files[i].bytes;
    source->bytes += set->bytes;
    source->files += set->manifest.count;
    return r;
}

static bool has_directory(const char *directory, const char *name)
{
    char *path AUTO_FREE = NULL;
    struct stat st;

    return asprintf(&path, "%s/%s", directory, name) >= 0 && lstat(path, &st) == 0 &&
           S_ISDIR(st.st_mode);
}

static int add_sets(struct source *source, enum corpus_kind kind, const char *directory,
                    const char *single, struct reason *reason)
{
    /* The order of the published runs. */
    static const char *const names[] = {"gz", "raw"};
    int r = 0;

    if (kind != CORPUS_TRIGGER || !has_directory(directory, names[0]) ||
        !has_directory(directory, names[1]))
        return add_set(source, single, directory, reason);
    for (size_t i = 0; r == 0 && i < 2; i++) {
        char *path AUTO_FREE = NULL;

        if (asprintf(&path, "%s/%s", directory, names[i]) < 0)
            return reason_path(reason, -ENOMEM, directory);
        r = add_set(source, names[i], path, reason);
    }
    return r;
}

static void report_bytes(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
    progress_part(context, (double)done_bytes / (double)total_bytes);
}

int source_generate(enum corpus_kind kind, uint64_t bytes, uint64_t seed,
                    const char *work_directory, struct progress *progress,
                    struct source *ret_source, struct reason *reason)
{
    struct source source = {0};
    struct corpus_config config = {
        .kind = kind,
        .total_bytes = bytes,
        .seed = seed,
        .progress = report_bytes,
        .progress_context = progress,
        .cancel = interrupt_flag(),
    };
    char *failed AUTO_FREE = NULL;
    int r;

    if (asprintf(&source.own_directory, "%s/tallybench-corpus.XXXXXX", work_directory) < 0)
        return reason_path(reason, -ENOMEM, work_directory);
    if (!mkdtemp(source.own_directory)) {
        r = reason_path(reason, -errno, work_directory);
        free(source.own_directory);
        return r;
    }
    config.directory = source.own_directory;
    r = corpus_generate(&config, &source.figures, &failed);
    if (r == -ECANCELED)
        reason_set(reason, r, "interrupted");
    else if (r < 0)
        reason_path(reason, r, failed ? failed : source.own_directory);
    if (r == 0)
        r = add_sets(&source, kind, source.own_directory, corpus_kind_name(kind), reason);
    if (r < 0)
        source_release(&source);
    else
        *ret_source = source;
    return r;
}

int source_adopt(enum corpus_kind kind, const char *directory, struct source *ret_source,
                 struct reason *reason)
{
    struct source source = {0};
    char *failed AUTO_FREE = NULL;
    int r = corpus_survey(directory, interrupt_flag(), &source.figures, &failed);

    if (r < 0)
        reason_path(reason, r, failed ? failed : directory);
    else if (source.figures.bytes == 0)
        r = reason_set(reason, -ENODATA, "%s: there is nothing in it to measure with", directory);
    if (r == 0)
        r = add_sets(&source, kind, directory, "source", reason);
    if (r < 0)
        source_release(&source);
    else
        *ret_source = source;
    return r;
}

void source_forget(const struct source *source)
{
    for (size_t i = 0; i < source->set_count; i++)
        manifest_forget(source->sets[i].directory, &source->sets[i].manifest);
}

void source_release(struct source *source)
{
    struct reason ignored;

    for (size_t i = 0; i < source->set_count; i++) {
        free(source->sets[i].directory);
        catalog_free(&source->sets[i].manifest);
    }
    if (source->own_directory)
        remove_tree(source->own_directory, &ignored);
    free(source->own_directory);
    *source = (struct source){0};
}
