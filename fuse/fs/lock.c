/* Locks that programs take on files. */
#include <sys/file.h>

#include "fs/handlers.h"

int handle_getlk(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
    (void)call; (void)ino; (void)fi; (void)lock;
    return -ENOSYS;
}

int handle_setlk(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleep)
{
    (void)call; (void)ino; (void)fi; (void)lock; (void)sleep;
    return -ENOSYS;
}

int handle_flock(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi, int operation)
{
    (void)call; (void)ino; (void)fi; (void)operation;
    return -ENOSYS;
}
