/* Attributes, and who asks. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "view.h"
#include "xattr_names.h"

#define VALUE_BYTES_MAX 70000 /* more than Linux takes */

static int no_follow(int64_t follow)
{
    return follow ? 0 : AT_SYMLINK_NOFOLLOW;
}

/* path follow */
void call_stat(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];
    struct stat attributes;

    view_path(view, arguments[0], path);
    if (outcome_result(outcome, fstatat(AT_FDCWD, path, &attributes, no_follow(arguments[1]))))
        outcome_attributes(outcome, &attributes);
}

/* slot */
void call_fstat(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    struct stat attributes;

    if (outcome_result(outcome, fstat(view->slots[arguments[0]], &attributes)))
        outcome_attributes(outcome, &attributes);
}

/* path follow */
void call_statx(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];
    struct statx attributes;
    bool has_birth;

    view_path(view, arguments[0], path);
    if (!outcome_result(outcome, statx(AT_FDCWD, path, no_follow(arguments[1]),
                                       STATX_BASIC_STATS | STATX_BTIME, &attributes)))
        return;
    has_birth = attributes.stx_mask & STATX_BTIME;
    outcome_value(outcome, "size", (int64_t)attributes.stx_size);
    outcome_value(outcome, "mode", attributes.stx_mode);
    outcome_value(outcome, "birth time is known", has_birth);
    if (has_birth)
        outcome_value(outcome, "birth time",
                      outcome_time((struct timespec){attributes.stx_btime.tv_sec,
                                                     attributes.stx_btime.tv_nsec}));
}

/* path */
void call_statfs(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];
    struct statvfs statistics;

    view_path(view, arguments[0], path);
    if (!outcome_result(outcome, statvfs(path, &statistics)))
        return;
    outcome_value(outcome, "block size", (int64_t)statistics.f_bsize);
    outcome_value(outcome, "fragment size", (int64_t)statistics.f_frsize);
    outcome_value(outcome, "blocks", (int64_t)statistics.f_blocks);
    outcome_value(outcome, "name length", (int64_t)statistics.f_namemax);
}

/* path mode follow */
void call_access(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome, syscall(SYS_faccessat2, AT_FDCWD, path, (int)arguments[1],
                                    AT_EACCESS | no_follow(arguments[2])));
}

/* path mode */
void call_chmod(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome, chmod(path, (mode_t)arguments[1]));
}

/* slot mode */
void call_fchmod(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    outcome_result(outcome, fchmod(view->slots[arguments[0]], (mode_t)arguments[1]));
}

/* path uid gid follow */
void call_chown(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome, fchownat(AT_FDCWD, path, (uid_t)arguments[1], (gid_t)arguments[2],
                                     no_follow(arguments[3])));
}

/* slot uid gid */
void call_fchown(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    outcome_result(outcome,
                   fchown(view->slots[arguments[0]], (uid_t)arguments[1], (gid_t)arguments[2]));
}

/* path atime mtime follow */
void call_utimens(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    struct timespec times[2] = {argument_time(arguments[1]), argument_time(arguments[2])};
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome, utimensat(AT_FDCWD, path, times, no_follow(arguments[3])));
}

/* slot atime mtime */
void call_futimens(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    struct timespec times[2] = {argument_time(arguments[1]), argument_time(arguments[2])};

    outcome_result(outcome, futimens(view->slots[arguments[0]], times));
}

struct acl {
    struct posix_acl_xattr_header header;
    struct posix_acl_xattr_entry entries[5];
};

static struct posix_acl_xattr_entry acl_entry(unsigned tag, unsigned permissions, unsigned id)
{
    return (struct posix_acl_xattr_entry){(__le16)tag, (__le16)(permissions & 7), id};
}

/* Most values of attributes that the kernel reads are such as it takes. The size of the value. */
static size_t make_value(const char *name, size_t length, int64_t data, unsigned char *to)
{
    unsigned bits = (unsigned)data;

    if (strncmp(name, "system.posix_acl", 16) == 0 && length % 5 != 0) {
        struct acl acl = {
            .header.a_version = POSIX_ACL_XATTR_VERSION,
            .entries = {acl_entry(ACL_USER_OBJ, bits, 0xffffffffu),
                        acl_entry(ACL_USER, bits >> 1, 1000),
                        acl_entry(ACL_GROUP_OBJ, bits >> 2, 0xffffffffu),
                        acl_entry(ACL_MASK, bits >> 3, 0xffffffffu),
                        acl_entry(ACL_OTHER, bits >> 4, 0xffffffffu)},
        };

        memcpy(to, &acl, sizeof(acl));
        return sizeof(acl);
    }
    if (strcmp(name, "security.capability") == 0 && length % 3 != 0) {
        struct vfs_cap_data capabilities = {
            .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
            .data[0].permitted = 1u << CAP_NET_RAW,
        };

        memcpy(to, &capabilities, XATTR_CAPS_SZ_2);
        return XATTR_CAPS_SZ_2;
    }
    if (length > VALUE_BYTES_MAX)
        length %= 300;
    for (size_t i = 0; i < length; i++)
        to[i] = (unsigned char)(bits * 31 + i * 7);
    return length;
}

/* path name length data flags follow */
void call_setxattr(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    const char *name = argument_xattr(arguments[1]);
    size_t size = make_value(name, (size_t)arguments[2], arguments[3], view->buffer);
    char path[VIEW_PATH_BYTES];
    int flags = (int)arguments[4];

    view_path(view, arguments[0], path);
    outcome_result(outcome, arguments[5] ? setxattr(path, name, view->buffer, size, flags)
                                         : lsetxattr(path, name, view->buffer, size, flags));
}

/* slot name length data flags */
void call_fsetxattr(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    const char *name = argument_xattr(arguments[1]);
    size_t size = make_value(name, (size_t)arguments[2], arguments[3], view->buffer);

    outcome_result(
        outcome, fsetxattr(view->slots[arguments[0]], name, view->buffer, size, (int)arguments[4]));
}

/* path name length follow */
void call_getxattr(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    const char *name = argument_xattr(arguments[1]);
    size_t room = (size_t)arguments[2];
    char path[VIEW_PATH_BYTES];
    ssize_t size;

    view_path(view, arguments[0], path);
    size = arguments[3] ? getxattr(path, name, view->buffer, room)
                        : lgetxattr(path, name, view->buffer, room);
    if (!outcome_result(outcome, size) || room == 0)
        return;
    outcome->data = view->buffer;
    outcome->size = (size_t)size;
}

/* path follow */
void call_listxattr(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];
    int r;

    view_path(view, arguments[0], path);
    r = xattr_names(path, arguments[1], &outcome->text);
    errno = -r;
    outcome_result(outcome, r < 0 ? -1 : 0);
}

/* path name follow */
void call_removexattr(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    const char *name = argument_xattr(arguments[1]);
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome, arguments[2] ? removexattr(path, name) : lremovexattr(path, name));
}

/* user */
void call_become(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    (void)outcome;
    view->user = (uid_t)arguments[0];
}

/* mask */
void call_umask(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    (void)outcome;
    view->umask = (mode_t)arguments[0];
}

/* Done by the runner, which has both sides. */
void call_tree(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    (void)view;
    (void)arguments;
    (void)outcome;
}

/* Remounting in the kernel drops the names that nobody uses, and with them inodes: the daemon gets FORGETs. */
void call_forget(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    struct statvfs statistics;

    (void)arguments;
    (void)outcome;
    if (!view->is_left || !view->mountpoint || statvfs(view->mountpoint, &statistics) < 0)
        return;
    mount(NULL, view->mountpoint, NULL,
          MS_REMOUNT | (statistics.f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC)), NULL);
}
