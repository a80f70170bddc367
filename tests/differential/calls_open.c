/* Opening, closing, and what belongs to an open file. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "view.h"

/* What the slot held is closed, unless there is nothing to replace it. */
static void put_in_slot(struct view *view, int64_t slot, int fd)
{
    if (fd < 0)
        return;
    if (view->slots[slot] >= 0)
        close(view->slots[slot]);
    view->slots[slot] = fd;
}

static void open_in_slot(struct view *view, int64_t slot, int64_t path, int flags, mode_t mode,
                         struct outcome *outcome)
{
    char where[VIEW_PATH_BYTES];
    int fd;

    view_path(view, path, where);
    /* A fifo shall not wait for its other end. */
    fd = open(where, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
    outcome_result(outcome, fd < 0 ? -1 : 0);
    put_in_slot(view, slot, fd);
}

/* slot path flags mode */
void call_open(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    open_in_slot(view, arguments[0], arguments[1], (int)arguments[2], (mode_t)arguments[3],
                 outcome);
}

/* slot path flags mode */
void call_tmpfile(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    open_in_slot(view, arguments[0], arguments[1], (int)arguments[2], (mode_t)arguments[3],
                 outcome);
}

/* slot */
void call_close(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    outcome_result(outcome, close(view->slots[arguments[0]]));
    view->slots[arguments[0]] = -1;
}

/* slot to */
void call_dup(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int fd = fcntl(view->slots[arguments[0]], F_DUPFD_CLOEXEC, 0);

    outcome_result(outcome, fd < 0 ? -1 : 0);
    put_in_slot(view, arguments[1], fd);
}

/* slot flags */
void call_fcntl_flags(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int fd = view->slots[arguments[0]], flags;

    outcome_result(outcome, fcntl(fd, F_SETFL, (int)arguments[1] | O_NONBLOCK));
    flags = fcntl(fd, F_GETFL);
    outcome_value(outcome, "flags", flags);
}

/* slot operation */
void call_flock(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    outcome_result(outcome, flock(view->slots[arguments[0]], (int)arguments[1] | LOCK_NB));
}

/* slot command type offset length */
void call_lock(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int command = (int)arguments[1];
    struct flock lock = {
        .l_type = (short)arguments[2],
        .l_whence = SEEK_SET,
        .l_start = arguments[3],
        .l_len = arguments[4],
    };

    if (!outcome_result(outcome, fcntl(view->slots[arguments[0]], command, &lock)))
        return;
    if (command != F_GETLK && command != F_OFD_GETLK)
        return;
    outcome_value(outcome, "type", lock.l_type);
    outcome_value(outcome, "start", lock.l_start);
    outcome_value(outcome, "length", lock.l_len);
    outcome_value(outcome, "own pid", lock.l_pid == getpid());
    outcome_value(outcome, "no pid", lock.l_pid == -1);
}

/* slot */
void call_get_inode_flags(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    int flags = 0;

    outcome_result(outcome, ioctl(view->slots[arguments[0]], FS_IOC_GETFLAGS, &flags));
    outcome_value(outcome, "flags", flags);
}

/* slot flags */
void call_set_inode_flags(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    const int settable = FS_NODUMP_FL | FS_NOATIME_FL | FS_SYNC_FL | FS_APPEND_FL | FS_IMMUTABLE_FL;
    int fd = view->slots[arguments[0]], flags = 0;

    if (!outcome_result(outcome, ioctl(fd, FS_IOC_GETFLAGS, &flags)))
        return;
    flags = (flags & ~settable) | (int)arguments[1];
    outcome_result(outcome, ioctl(fd, FS_IOC_SETFLAGS, &flags));
}
