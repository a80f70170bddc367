#include "fs/handle.h"

#include <fcntl.h>
#include <string.h>

_Static_assert(offsetof(struct file_handle, f_handle) == offsetof(struct file_handle_bytes, bytes),
               "the kernel's layout");

int fhandle_get(struct split *split, int fd, union handle_buffer *ret_handle)
{
    union handle_buffer buffer = {.handle = {.size = HANDLE_BYTES_MAX}};
    int mount_id, r;

    r = LOWER(split, name_to_handle_at(fd, "", (struct file_handle *)&buffer, &mount_id, AT_EMPTY_PATH));
    if (r < 0)
        return r == -EOVERFLOW || r == -ENOSYS ? -EOPNOTSUPP : r;
    *ret_handle = buffer;
    return 0;
}

int fhandle_open(struct split *split, int mount, const struct file_handle_bytes *handle)
{
    union handle_buffer buffer;

    memcpy(&buffer, handle, sizeof(*handle) + handle->size);
    return LOWER(split, open_by_handle_at(mount, (struct file_handle *)&buffer,
                                          O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

bool fhandle_equal(const struct file_handle_bytes *a, const struct file_handle_bytes *b)
{
    return a->size == b->size && a->type == b->type && memcmp(a->bytes, b->bytes, a->size) == 0;
}
