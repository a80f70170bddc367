#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "corpus/catalog.h"
#include "corpus/corpus.h"
#include "corpus/sampler.h"
#include "util/cleanup.h"

/* Whole blocks, so that the sampler sees each block of a file at once. */
#define BUFFER_BYTES (8 * CORPUS_BLOCK_BYTES)

struct survey {
    const char *directory;
    const volatile sig_atomic_t *cancel;
    char *failed_path;
    struct catalog files;
    uint64_t bytes;        /* as stat told them */
    size_t directory_path; /* length of the directory's path as fts has it */
    struct sampler sampler;
    XXH3_state_t *hash;
    uint8_t *buffer;
};

static int fail(struct survey *survey, const char *path, int error)
{
    free(survey->failed_path);
    survey->failed_path = strdup(path);
    return error;
}

static int add_entry(struct survey *survey, const FTSENT *entry)
{
    const char *path;

    switch (entry->fts_info) {
    case FTS_D:
        if (entry->fts_level == FTS_ROOTLEVEL)
            survey->directory_path = entry->fts_pathlen;
        return 0;
    case FTS_F:
        path = entry->fts_path + survey->directory_path;
        survey->bytes += (uint64_t)entry->fts_statp->st_size;
        return catalog_add(&survey->files, path + strspn(path, "/"));
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return fail(survey, entry->fts_path, -entry->fts_errno);
    default:
        return 0;
    }
}

static int list_files(struct survey *survey)
{
    char *directory AUTO_FREE = strdup(survey->directory);
    char *paths[] = {directory, NULL};
    const FTSENT *entry;
    struct stat st;
    int r = 0;
    FTS *fts;

    if (!directory)
        return -ENOMEM;
    if (stat(directory, &st) < 0)
        return fail(survey, directory, -errno);
    if (!S_ISDIR(st.st_mode))
        return fail(survey, directory, -ENOTDIR);
    fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV, NULL);
    if (!fts)
        return -errno;
    errno = 0;
    while (r == 0 && (entry = fts_read(fts)))
        r = add_entry(survey, entry);
    if (r == 0 && errno)
        r = fail(survey, directory, -errno);
    fts_close(fts);
    return r;
}

/* Fills the buffer; fewer bytes only at the end of the file. */
static int fill_buffer(int fd, uint8_t *buffer, size_t *ret_length)
{
    size_t length = 0;

    while (length < BUFFER_BYTES) {
        ssize_t got = read(fd, buffer + length, BUFFER_BYTES - length);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    *ret_length = length;
    return 0;
}

static int read_file(struct survey *survey, int root, struct catalog_file *file)
{
    int fd AUTO_CLOSE = openat(root, file->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    size_t length = 0;

    if (fd < 0)
        return -errno;
    XXH3_64bits_reset(survey->hash);
    do {
        int r = survey->cancel && *survey->cancel ? -ECANCELED
                                                  : fill_buffer(fd, survey->buffer, &length);

        if (r == 0)
            r = sampler_add(&survey->sampler, survey->buffer, length);
        if (r < 0)
            return r;
        XXH3_64bits_update(survey->hash, survey->buffer, length);
        file->bytes += length;
    } while (length == BUFFER_BYTES);
    file->hash = XXH3_64bits_digest(survey->hash);
    return 0;
}

static int read_files(struct survey *survey, struct corpus_set *set)
{
    int root AUTO_CLOSE = open(survey->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (root < 0)
        return fail(survey, survey->directory, -errno);
    for (size_t i = 0; i < survey->files.count; i++) {
        struct catalog_file *file = &survey->files.files[i];
        int r = read_file(survey, root, file);

        if (r == -ECANCELED)
            return r;
        if (r < 0) {
            char *path AUTO_FREE = NULL;

            if (asprintf(&path, "%s/%s", survey->directory, file->path) < 0)
                return r;
            return fail(survey, path, r);
        }
        set->files++;
        set->bytes += file->bytes;
    }
    return 0;
}

int corpus_survey(const char *directory, const volatile sig_atomic_t *cancel,
                  struct corpus_result *ret_result, char **ret_failed_path)
{
    struct survey survey = {.directory = directory, .cancel = cancel};
    struct corpus_result result = {.set_count = 1, .sets = {{.name = "source"}}};
    int r;

    survey.hash = XXH3_createState();
    survey.buffer = malloc(BUFFER_BYTES);
    r = survey.hash && survey.buffer ? list_files(&survey) : -ENOMEM;
    if (r == 0)
        r = sampler_init(&survey.sampler, survey.bytes);
    /* Sorted before they are read, so that the sample does not depend on the order of a directory.
     */
    if (r == 0) {
        catalog_sort(&survey.files);
        r = read_files(&survey, &result.sets[0]);
    }
    if (r == 0)
        r = catalog_digest(&survey.files, &result.hash);
    if (r == 0) {
        result.sets[0].ratios = sampler_ratios(&survey.sampler);
        result.files = result.sets[0].files;
        result.bytes = result.sets[0].bytes;
        *ret_result = result;
    }
    *ret_failed_path = r < 0 ? TAKE_POINTER(survey.failed_path) : NULL;
    free(survey.failed_path);
    sampler_free(&survey.sampler);
    catalog_free(&survey.files);
    XXH3_freeState(survey.hash);
    free(survey.buffer);
    return r;
}
