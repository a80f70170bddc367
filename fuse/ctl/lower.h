/* A file of a lower directory, read without a mount. */
#ifndef TALLY_CTL_LOWER_H
#define TALLY_CTL_LOWER_H

#include "store/claim.h"
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

/*
 * Opens for reading; nothing is written, not even a repair. `claim`: -EBUSY where a mount is writing the file; else it is
 * read as it happens to be. 0; -EISDIR; -EINVAL for no regular file; other -errno.
 */
int lower_file_open(const char *path, bool claim, struct lower_file *ret_lower);

void lower_file_close(struct lower_file *lower);

#define AUTO_LOWER_FILE __attribute__((cleanup(lower_file_close)))

/* A store for work on lower files, which is closed by store_destroy, with workers that compress. 0 or -errno. */
int lower_store_create(uint32_t chunk_bytes, unsigned workers, struct store **ret_store);

#define LOWER_CHUNK_BYTES (128U << 10)

/* store_claim, but for a moment in which a mount may still be closing the file. */
int lower_claim(int fd, enum store_claim claim);

/* What it is stored as. 0 or -errno. */
int lower_file_info(const struct lower_file *lower, struct store_file_info *ret_info);

#endif
