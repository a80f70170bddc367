/* Putting a new file in the place of another, at once and only if that one was not used meanwhile. */
#ifndef TALLY_CTL_REPLACE_H
#define TALLY_CTL_REPLACE_H

#include "ctl/tree.h"

struct replacement {
    int directory;    /* not owned */
    const char *name; /* of the old file; not owned */
    int old;          /* open for reading and writing, alone if the file system can tell; owned */
    struct stat attributes; /* of the old file, at the beginning */
    bool leased;
    int fd;             /* the new file, without a name yet where that can be; owned */
    char temporary[48]; /* the new file's name; empty while it has none */
};

#define REPLACEMENT_NONE                                                                           \
    {                                                                                              \
        .directory = -1, .old = -1, .fd = -1                                                       \
    }

/*
 * Opens the old file and makes an empty new one, for nobody but the owner of this process. 0; -EBUSY: a mount or another
 * program has it open; -ESTALE: the name means another file by now; other -errno.
 */
int replace_begin(const struct tree_file *file, struct replacement *ret_replacement);

/*
 * Syncs the new file and puts it in the place of the old one, which is removed. 0; -EBUSY where the old one was changed or
 * opened since: it stays; other -errno, and the old one stays.
 */
int replace_commit(struct replacement *replacement);

/* Also removes a new file that was not committed. */
void replace_end(struct replacement *replacement);

#define AUTO_REPLACEMENT __attribute__((cleanup(replace_end)))

#endif
