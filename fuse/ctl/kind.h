/* What a file of a lower directory is kept as. */
#ifndef TALLY_CTL_KIND_H
#define TALLY_CTL_KIND_H

#include <sys/stat.h>

enum lower_kind {
    LOWER_PLAIN,
    LOWER_STORED,
    LOWER_DISGUISED, /* a container so damaged that a mount takes it for a plain file */
};

/* On a lower file: its bytes are the program's although they begin like a container. */
#define LOWER_PLAIN_MARK "user.tallyfs.plain"

/* `fd` must be open for reading. 0 or -errno. */
int lower_kind(int fd, const struct stat *attributes, enum lower_kind *ret_kind);

/* Another opening of an open file, with flags of open(2). The descriptor or -errno. */
int lower_reopen(int fd, int flags);

#endif
