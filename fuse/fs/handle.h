/* File handles: names for inodes that survive without a descriptor and hold the inode's generation. */
#ifndef TALLY_FS_HANDLE_H
#define TALLY_FS_HANDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/split.h"

#define HANDLE_BYTES_MAX 128 /* the kernel's MAX_HANDLE_SZ */

/* The layout of the kernel's struct file_handle. */
struct file_handle_bytes {
    unsigned size; /* of `bytes`; 0: no handle */
    int type;
    unsigned char bytes[];
};

union handle_buffer {
    struct file_handle_bytes handle;
    unsigned char space[sizeof(struct file_handle_bytes) + HANDLE_BYTES_MAX];
};

/* The handle of what `fd` has open. 0 or -errno; -EOPNOTSUPP where the file system has none. */
int fhandle_get(struct split *split, int fd, union handle_buffer *ret_handle);

/* An O_PATH descriptor, or -errno; -ESTALE when the inode is gone. `mount` is any real descriptor of the device. */
int fhandle_open(struct split *split, int mount, const struct file_handle_bytes *handle);

bool fhandle_equal(const struct file_handle_bytes *a, const struct file_handle_bytes *b);

#endif
