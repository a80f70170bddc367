#include "store/claim.h"

#include <fcntl.h>

int store_claim(int fd, struct split *split, enum store_claim claim)
{
    static const short types[] = {
        [STORE_CLAIM_NONE] = F_UNLCK,
        [STORE_CLAIM_READ] = F_RDLCK,
        [STORE_CLAIM_WRITE] = F_WRLCK,
    };
    struct flock lock = {.l_type = types[claim], .l_whence = SEEK_SET, .l_start = STORE_CLAIM_OFFSET, .l_len = 1};
    int r = LOWER(split, fcntl(fd, F_OFD_SETLK, &lock));

    switch (r) {
    case -EAGAIN:
    case -EACCES:
        return -EBUSY;
    case -ENOLCK:
    case -EOPNOTSUPP:
    case -ENOSYS:
        return 0;
    default:
        return r;
    }
}
