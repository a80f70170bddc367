/* Attributes: every struct stat that programs see has passed attributes_present. */
#include "fs/control.h"
#include "fs/credentials.h"
#include "fs/handlers.h"

/* Programs that copy take a file without blocks for one hole, and the kernel may hold data that is not written yet. */
static bool may_have_data_in_pages(const struct call *call, const struct node *node, const struct stat *attributes)
{
    if (!S_ISREG(attributes->st_mode) || node->writers == 0)
        return false;
    return call->fs->cache == FS_CACHE_WRITEBACK || (call->fs->cache == FS_CACHE_AUTO && attributes->st_size > 0);
}

int attributes_present(struct call *call, struct node *node, int fd, struct stat *attributes)
{
    int r = S_ISREG(attributes->st_mode) ? content_present(call, node, fd, attributes) : 0;

    if (attributes->st_blocks == 0 && may_have_data_in_pages(call, node, attributes))
        attributes->st_blocks = 1;
    attributes->st_ino = inode_number(node->device, attributes->st_ino);
    return r;
}

/* With its write-back cache the kernel keeps attributes over writes: a file without blocks may get data any moment. */
double attributes_timeout_s(const struct call *call, const struct stat *attributes)
{
    if (call->fs->cache == FS_CACHE_WRITEBACK && S_ISREG(attributes->st_mode) && attributes->st_blocks == 0)
        return 0;
    return call->fs->attr_timeout_s;
}

int attributes_get(struct call *call, struct node *node, int fd, struct stat *ret_attributes)
{
    struct stat attributes;
    int r = LOWER(call->split, fstatat(fd, "", &attributes, AT_EMPTY_PATH));

    if (r == 0)
        r = attributes_present(call, node, fd, &attributes);
    if (r == 0)
        *ret_attributes = attributes;
    return r;
}

int attributes_kill_privilege(struct call *call, int fd, bool wanted)
{
    struct stat attributes;
    char path[PROC_PATH_BYTES];
    mode_t killed;
    int r;

    if (!wanted)
        return 0;
    r = LOWER(call->split, fstatat(fd, "", &attributes, AT_EMPTY_PATH));
    if (r < 0 || !S_ISREG(attributes.st_mode))
        return r;
    killed = attributes.st_mode & S_ISUID;
    /* Without group execution the set-group-id bit is no privilege, but only members of the group may keep it. */
    if (attributes.st_mode & S_IXGRP || !credentials_in_group(call, attributes.st_gid))
        killed |= attributes.st_mode & S_ISGID;
    if (!killed)
        return 0;
    proc_path(fd, path);
    return LOWER(call->split, chmod(path, attributes.st_mode & 07777 & ~killed));
}

int handle_getattr(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct stat attributes;
    int r = 0;

    (void)fi;
    if (ino == CONTROL_INO) {
        control_attributes(call->fs, &attributes);
    } else {
        r = fs_pin(call, ino, &pin);
        if (r == 0)
            r = attributes_get(call, pin.node, pin.fd, &attributes);
    }
    if (r == 0)
        reply_attributes(call, &attributes, attributes_timeout_s(call, &attributes));
    return r;
}

static int set_owner(struct call *call, const struct pin *pin, const struct stat *attr, int to_set)
{
    uid_t uid = to_set & FUSE_SET_ATTR_UID ? attr->st_uid : (uid_t)-1;
    gid_t gid = to_set & FUSE_SET_ATTR_GID ? attr->st_gid : (gid_t)-1;
    int r;

    content_hold(pin->node);
    r = LOWER(call->split, fchownat(pin->fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
    content_let_go(pin->node);
    return r;
}

static int set_size(struct call *call, const struct pin *pin, off_t size, struct fuse_file_info *fi)
{
    struct content content;
    AUTO_CLOSE int fd = -1;
    int r, s;

    if (fi) {
        r = backend_truncate(file_of(fi)->content.backend, call->split, size);
        if (r == 0)
            content_wrote(call, &file_of(fi)->content);
        return r;
    }
    r = content_open(call, pin, O_WRONLY | (size == 0 ? O_TRUNC : 0), &fd, &content);
    if (r < 0)
        return r;
    if (size > 0) {
        r = backend_truncate(content.backend, call->split, size);
        content_wrote(call, &content);
    }
    s = content_close(call, &content);
    return r < 0 ? r : s;
}

static struct timespec time_to_set(struct timespec given, bool set, bool now)
{
    struct timespec time = {.tv_nsec = UTIME_OMIT};

    if (now)
        time.tv_nsec = UTIME_NOW;
    else if (set)
        time = given;
    return time;
}

static int set_times(struct call *call, const struct pin *pin, const struct stat *attr, int to_set)
{
    struct timespec times[2] = {
        time_to_set(attr->st_atim, to_set & FUSE_SET_ATTR_ATIME, to_set & FUSE_SET_ATTR_ATIME_NOW),
        time_to_set(attr->st_mtim, to_set & FUSE_SET_ATTR_MTIME, to_set & FUSE_SET_ATTR_MTIME_NOW),
    };
    struct stat now;
    int r;

    content_hold(pin->node);
    r = LOWER(call->split, utimensat(pin->fd, "", times, AT_EMPTY_PATH));
    /* The time as given, not read back: a buffer that is written just now changes the lower file's. */
    if (r == 0 && times[1].tv_nsec == UTIME_NOW) {
        r = LOWER(call->split, fstatat(pin->fd, "", &now, AT_EMPTY_PATH));
        times[1] = now.st_mtim;
    }
    if (r == 0 && times[1].tv_nsec != UTIME_OMIT)
        content_set_mtime(pin->node, times[1]);
    content_let_go(pin->node);
    return r;
}

static int set_mode(struct call *call, const struct pin *pin, mode_t mode)
{
    char path[PROC_PATH_BYTES];
    int r;

    proc_path(pin->fd, path);
    content_hold(pin->node);
    r = content_settle(call, pin->node);
    if (r == 0)
        r = LOWER(call->split, chmod(path, mode & 07777));
    content_let_go(pin->node);
    return r;
}

static int set_attributes(struct call *call, const struct pin *pin, const struct stat *attr, int to_set,
                          struct fuse_file_info *fi)
{
    const int times =
        FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW;
    /* chown(-1, -1), which changes no owner, but takes set-id bits away and moves ctime. */
    const bool is_bare_chown = (to_set & ~(FUSE_SET_ATTR_KILL_SUID | FUSE_SET_ATTR_CTIME)) == 0;
    int r = 0;

    if (to_set & FUSE_SET_ATTR_MODE)
        r = set_mode(call, pin, attr->st_mode);
    if (r == 0 && (is_bare_chown || to_set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID)))
        r = set_owner(call, pin, attr, to_set);
    if (r == 0 && to_set & FUSE_SET_ATTR_SIZE) {
        r = set_size(call, pin, attr->st_size, fi);
        if (r == 0)
            r = attributes_kill_privilege(call, pin->fd,
                                          call->fs->kill_privilege && to_set & FUSE_SET_ATTR_KILL_SUID);
    }
    if (r == 0 && to_set & times)
        r = set_times(call, pin, attr, to_set);
    return r;
}

int handle_setattr(struct call *call, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct stat attributes;
    int r = fs_pin(call, ino, &pin);

    if (r == 0)
        r = set_attributes(call, &pin, attr, to_set, fi);
    if (r == 0)
        r = attributes_get(call, pin.node, pin.fd, &attributes);
    if (r == 0)
        reply_attributes(call, &attributes, attributes_timeout_s(call, &attributes));
    return r;
}

int handle_access(struct call *call, fuse_ino_t ino, int mask)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    int r;

    /* With default_permissions, which is always on, the kernel has answered for everything but existence. */
    (void)mask;
    r = ino == CONTROL_INO ? 0 : fs_pin(call, ino, &pin);
    if (r == 0)
        reply_done(call);
    return r;
}

#if TALLY_FUSE_HAS_V318
static struct statx_timestamp statx_time(struct timespec time)
{
    return (struct statx_timestamp){.tv_sec = time.tv_sec, .tv_nsec = (uint32_t)time.tv_nsec};
}

/* What every struct stat has; the rest is left as it is. */
static void statx_fill(struct statx *to, const struct stat *from)
{
    to->stx_mask |= STATX_BASIC_STATS;
    to->stx_mode = (uint16_t)from->st_mode;
    to->stx_nlink = (uint32_t)from->st_nlink;
    to->stx_uid = from->st_uid;
    to->stx_gid = from->st_gid;
    to->stx_ino = from->st_ino;
    to->stx_size = (uint64_t)from->st_size;
    to->stx_blocks = (uint64_t)from->st_blocks;
    to->stx_blksize = (uint32_t)from->st_blksize;
    to->stx_atime = statx_time(from->st_atim);
    to->stx_mtime = statx_time(from->st_mtim);
    to->stx_ctime = statx_time(from->st_ctim);
}

int handle_statx(struct call *call, fuse_ino_t ino, int flags, int mask, struct fuse_file_info *fi)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct statx answer = {0};
    struct stat attributes;
    int r = 0;

    (void)fi;
    if (ino == CONTROL_INO) {
        control_attributes(call->fs, &attributes);
    } else {
        r = fs_pin(call, ino, &pin);
        if (r == 0)
            r = LOWER(call->split, statx(pin.fd, "", AT_EMPTY_PATH | (flags & AT_STATX_SYNC_TYPE), (unsigned)mask,
                                         &answer));
        if (r == 0)
            r = attributes_get(call, pin.node, pin.fd, &attributes);
    }
    if (r < 0)
        return r;
    statx_fill(&answer, &attributes);
    reply_statx(call, &answer, attributes_timeout_s(call, &attributes));
    return 0;
}
#endif
