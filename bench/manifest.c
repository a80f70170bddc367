#include "manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "interrupt.h"
#include "util/cleanup.h"

#define BUFFER_BYTES ((size_t)1 << 20)

static int list_files(const char *directory, struct catalog *files, struct reason *reason)
{
    char *path AUTO_FREE = strdup(directory);
    char *paths[] = {path, NULL};
    const FTSENT *entry;
    size_t skip = 0;
    int r = 0;
    FTS *fts;

    if (!path)
        return reason_path(reason, -ENOMEM, directory);
    fts = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV, NULL);
    if (!fts)
        return reason_path(reason, -errno, directory);
    errno = 0;
    while (r == 0 && (entry = fts_read(fts))) {
        if (entry->fts_level == FTS_ROOTLEVEL && entry->fts_info == FTS_D)
            skip = entry->fts_pathlen;
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
            r = reason_path(reason, -entry->fts_errno, entry->fts_path);
        else if (entry->fts_info == FTS_F)
            r = catalog_add(files, entry->fts_path + skip + strspn(entry->fts_path + skip, "/"));
    }
    if (r == 0 && errno)
        r = reason_path(reason, -errno, directory);
    fts_close(fts);
    catalog_sort(files);
    return r;
}

static int hash_file(int root, struct catalog_file *file, XXH3_state_t *state, void *buffer)
{
    int fd AUTO_CLOSE = openat(root, file->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return -errno;
    XXH3_64bits_reset(state);
    file->bytes = 0;
    while ((got = read(fd, buffer, BUFFER_BYTES)) != 0) {
        if (interrupt_pending())
            return -ECANCELED;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        XXH3_64bits_update(state, buffer, (size_t)got);
        file->bytes += (uint64_t)got;
    }
    file->hash = XXH3_64bits_digest(state);
    return 0;
}

int manifest_read(const char *directory, struct catalog *ret_manifest, struct reason *reason)
{
    int root AUTO_CLOSE = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    XXH3_state_t *state = XXH3_createState();
    void *buffer AUTO_FREE = malloc(BUFFER_BYTES);
    struct catalog files = {0};
    int r;

    if (root < 0)
        r = reason_path(reason, -errno, directory);
    else if (!state || !buffer)
        r = reason_path(reason, -ENOMEM, directory);
    else
        r = list_files(directory, &files, reason);
    for (size_t i = 0; r == 0 && i < files.count; i++) {
        r = hash_file(root, &files.files[i], state, buffer);
        if (r < 0)
            reason_set(reason, r, "%s/%s: %s", directory, files.files[i].path, strerror(-r));
    }
    XXH3_freeState(state);
    if (r == 0)
        *ret_manifest = files;
    else
        catalog_free(&files);
    return r;
}

static int compare_manifests(const char *directory, const struct catalog *found,
                             const struct catalog *expected, struct reason *reason)
{
    for (size_t i = 0; i < found->count || i < expected->count; i++) {
        const struct catalog_file *is = i < found->count ? &found->files[i] : NULL;
        const struct catalog_file *should = i < expected->count ? &expected->files[i] : NULL;
        int order = !is ? 1 : !should ? -1 : strcmp(is->path, should->path);

        if (order > 0)
            return reason_set(reason, -EILSEQ, "%s/%s: the file is missing", directory,
                              should->path);
        if (order < 0)
            return reason_set(reason, -EILSEQ, "%s/%s: the file should not be there", directory,
                              is->path);
        if (is->bytes != should->bytes)
            return reason_set(reason, -EILSEQ,
                              "%s/%s: has %" PRIu64 " bytes, the original %" PRIu64, directory,
                              is->path, is->bytes, should->bytes);
        if (is->hash != should->hash)
            return reason_set(reason, -EILSEQ, "%s/%s: wrong contents", directory, is->path);
    }
    return 0;
}

int manifest_verify(const char *directory, const struct catalog *expected, struct reason *reason)
{
    struct catalog found = {0};
    int r = manifest_read(directory, &found, reason);

    if (r == 0)
        r = compare_manifests(directory, &found, expected, reason);
    catalog_free(&found);
    return r;
}

void manifest_forget(const char *directory, const struct catalog *manifest)
{
    int root AUTO_CLOSE = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (size_t i = 0; root >= 0 && i < manifest->count; i++) {
        int fd AUTO_CLOSE = openat(root, manifest->files[i].path, O_RDONLY | O_CLOEXEC);

        if (fd >= 0)
            posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    }
}
