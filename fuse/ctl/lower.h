/* A file of a lower directory, read without a mount. */
#ifndef TALLY_CTL_LOWER_H
#define TALLY_CTL_LOWER_H

#include "store/store.h"
#include "tally/codec.h"

struct lower_file {
    struct store *store;
    struct backend *file; /* the contents as programs see them */
    bool is_stored;       /* else a plain file */
};

#define LOWER_FILE_NONE                                                                            \
    {                                                                                              \
        0                                                                                          \
    }

/* Opens for reading; nothing is written, not even a repair. 0; -EISDIR; -EINVAL for no regular file; other -errno. */
int lower_file_open(const char *path, struct lower_file *ret_lower);

void lower_file_close(struct lower_file *lower);

#define AUTO_LOWER_FILE __attribute__((cleanup(lower_file_close)))

/* What it is stored as. 0 or -errno. */
int lower_file_info(const struct lower_file *lower, struct store_file_info *ret_info);

#endif
