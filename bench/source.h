/* The files that a workload is run with: made from a seed, or the user's own. */
#ifndef TALLY_BENCH_SOURCE_H
#define TALLY_BENCH_SOURCE_H

#include "corpus/catalog.h"
#include "corpus/corpus.h"
#include "reason.h"

struct progress;

/* Files that are copied, measured and deleted together. */
struct source_set {
    const char *name; /* "gz", "raw", "mailbox", "source"; a constant */
    char *directory;  /* absolute; owned */
    struct catalog manifest;
    uint64_t bytes;
};

struct source {
    struct source_set sets[CORPUS_MAX_SETS];
    size_t set_count;
    uint64_t bytes, files;
    struct corpus_result figures;
    char *own_directory; /* made by source_generate, removed by source_release; else NULL */
};

/*
 * Makes the corpus in a new directory below `work_directory`. 0; -ECANCELED; -errno with a reason that names the path,
 * nothing left behind.
 */
int source_generate(enum corpus_kind kind, uint64_t bytes, uint64_t seed,
                    const char *work_directory, struct progress *progress,
                    struct source *ret_source, struct reason *reason);

/* Takes the files below `directory`. Subdirectories gz and raw are the two sets when it is for trigger and has both;
 * else all files are one. Errors as above; -ENODATA when there is no file. */
int source_adopt(enum corpus_kind kind, const char *directory, struct source *ret_source,
                 struct reason *reason);

/* Lets the kernel forget the files' contents. */
void source_forget(const struct source *source);

void source_release(struct source *source);

/* Removes a tree, never leaving its file system; for directories that this program made. 0; -errno with a reason. */
int remove_tree(const char *directory, struct reason *reason);

#endif
