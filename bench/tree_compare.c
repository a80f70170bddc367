#include "tree_compare.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"
#include "util/cleanup.h"

struct walk {
    FTS *fts;
    size_t skip; /* of each path: the root's */
};

static void walk_end(struct walk *walk)
{
    if (walk->fts)
        fts_close(walk->fts);
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int walk_begin(struct walk *walk, const char *directory, struct reason *reason)
{
    char *path AUTO_FREE = strdup(directory);
    char *paths[] = {path, NULL};

    if (!path)
        return reason_path(reason, -ENOMEM, directory);
    walk->fts =
        fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV, compare_names);
    return walk->fts ? 0 : reason_path(reason, -errno, directory);
}

/* The next entry below the root, in the same order in every tree; NULL at the end. */
static int walk_next(struct walk *walk, FTSENT **ret_entry, struct reason *reason)
{
    FTSENT *entry;

    for (;;) {
        if (interrupt_pending())
            return -ECANCELED;
        errno = 0;
        entry = fts_read(walk->fts);
        if (!entry && errno)
            return reason_set(reason, -errno, "a tree cannot be listed: %s", strerror(errno));
        if (!entry)
            break;
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
            return reason_path(reason, -entry->fts_errno, entry->fts_path);
        if (entry->fts_level == FTS_ROOTLEVEL)
            walk->skip = entry->fts_pathlen;
        else if (entry->fts_info != FTS_DP && !S_ISSOCK(entry->fts_statp->st_mode))
            break;
    }
    *ret_entry = entry;
    return 0;
}

static int compare_links(const FTSENT *original, const FTSENT *copy, struct reason *reason)
{
    char wanted[PATH_MAX], is[PATH_MAX];
    ssize_t wanted_length = readlink(original->fts_accpath, wanted, sizeof(wanted));
    ssize_t length = readlink(copy->fts_accpath, is, sizeof(is));

    if (wanted_length < 0 || length < 0)
        return reason_path(reason, -errno, wanted_length < 0 ? original->fts_path : copy->fts_path);
    if (length != wanted_length || memcmp(is, wanted, (size_t)length) != 0)
        return reason_set(reason, -EILSEQ, "%s: the link points elsewhere", copy->fts_path);
    return 0;
}

int tree_compare(const char *original, const char *copy, struct reason *reason)
{
    struct walk left CLEANUP(walk_end) = {0}, right CLEANUP(walk_end) = {0};
    int r = walk_begin(&left, original, reason);

    if (r == 0)
        r = walk_begin(&right, copy, reason);
    while (r == 0) {
        FTSENT *should = NULL, *is = NULL;
        int order;

        r = walk_next(&left, &should, reason);
        if (r == 0)
            r = walk_next(&right, &is, reason);
        if (r < 0 || (!should && !is))
            break;
        order = !should ? 1
                : !is   ? -1
                        : strcmp(should->fts_path + left.skip, is->fts_path + right.skip);
        if (order < 0)
            return reason_set(reason, -EILSEQ, "%s: is missing in the copy", should->fts_path);
        if (order > 0)
            return reason_set(reason, -EILSEQ, "%s: should not be there", is->fts_path);
        if ((should->fts_statp->st_mode & S_IFMT) != (is->fts_statp->st_mode & S_IFMT))
            return reason_set(reason, -EILSEQ, "%s: has another type than the original",
                              is->fts_path);
        if (S_ISLNK(is->fts_statp->st_mode))
            r = compare_links(should, is, reason);
    }
    return r;
}
