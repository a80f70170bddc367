/* The bytes that files are filled with: a corpus, or files of the user's, one after another. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "interrupt.h"
#include "speed.h"
#include "tree.h"
#include "util/cleanup.h"

static int read_file(const char *path, struct contents *contents, size_t capacity)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    while (contents->size < capacity) {
        ssize_t got = read(fd, contents->data + contents->size, capacity - contents->size);

        if (got < 0 && errno != EINTR)
            return -errno;
        if (got == 0)
            return 0;
        if (got > 0)
            contents->size += (size_t)got;
        if (interrupt_pending())
            return -ECANCELED;
    }
    return 0;
}

static int by_name(const FTSENT **left, const FTSENT **right)
{
    return strcmp((*left)->fts_name, (*right)->fts_name);
}

static int read_tree(const char *path, struct contents *contents, size_t capacity)
{
    char *paths[] = {(char *)(uintptr_t)path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, by_name);
    FTSENT *entry;
    int r = 0;

    if (!walk)
        return -errno;
    while (r == 0 && contents->size < capacity && (entry = fts_read(walk))) {
        if (entry->fts_info == FTS_F)
            r = read_file(entry->fts_path, contents, capacity);
        else if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR ||
                 entry->fts_info == FTS_NS)
            r = -entry->fts_errno;
    }
    fts_close(walk);
    return r;
}

static int make_corpus(const struct settings *settings, const char *path, enum corpus_kind kind,
                       const struct log *log)
{
    const struct corpus_config config = {
        .kind = kind,
        .total_bytes = settings->size_bytes,
        .seed = settings->seed,
        .directory = path,
        .cancel = interrupt_flag(),
    };
    AUTO_FREE char *failed = NULL;
    struct corpus_result result;
    int r = corpus_generate(&config, &result, &failed);

    if (r < 0 && r != -ECANCELED)
        log_error(log, "%s: %s", failed ? failed : path, strerror(-r));
    return r;
}

int contents_load(const struct settings *settings, const char *directory, enum corpus_kind kind,
                  const struct log *log, struct contents *ret_contents)
{
    struct contents contents = {.data = malloc(settings->size_bytes)};
    const char *path = settings->source;
    char corpus[4096];
    int r;

    if (!contents.data)
        return -ENOMEM;
    snprintf(contents.name, sizeof(contents.name), "%s",
             settings->source ? "source" : corpus_kind_name(kind));
    if (!settings->source) {
        snprintf(corpus, sizeof(corpus), "%s/corpus", directory);
        path = corpus;
        r = make_corpus(settings, corpus, kind, log);
        if (r < 0)
            goto failed;
    }
    r = read_tree(path, &contents, settings->size_bytes);
    if (r == 0 && contents.size < BLOCK_BYTES)
        r = -ENODATA;
    if (r < 0 && r != -ECANCELED)
        log_error(log, "%s: %s", path, r == -ENODATA ? "too little to measure with" : strerror(-r));
    if (!settings->source)
        tree_remove(corpus);
    if (r < 0)
        goto failed;
    *ret_contents = contents;
    return 0;

failed:
    free(contents.data);
    return r;
}
