#include "fs/credentials.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "fs/context.h"

/* Raw system calls: the C library's functions of these names would change every thread of the process. */
static void set_fs_ids(uid_t uid, gid_t gid)
{
    syscall(SYS_setfsgid, gid);
    syscall(SYS_setfsuid, uid);
}

/* Taking another file-system user has dropped the capabilities over files from this thread's effective set. */
static int raise_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, data) < 0)
        return -errno;
    for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        data[i].effective = data[i].permitted;
    return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

/* More are left out: their permissions are then refused. */
#define LENT_GROUPS_MAX 1024

/* The caller's supplementary groups, if there still is a caller to ask for them; else it has none here. */
static int lend_groups(fuse_req_t req)
{
    gid_t groups[LENT_GROUPS_MAX];
    int count = fuse_req_getgroups(req, LENT_GROUPS_MAX, groups);

    if (count > LENT_GROUPS_MAX)
        count = LENT_GROUPS_MAX;
    return count > 0 && syscall(SYS_setgroups, count, groups) < 0 ? -errno : 0;
}

int credentials_switch(struct call *call, bool privileged, struct credentials *ret_credentials)
{
    const struct fuse_ctx *caller = fuse_req_ctx(call->req);
    struct credentials own = {true, !privileged, geteuid(), getegid()};
    int r = 0;

    if (!call->fs->switch_user || (caller->uid == own.uid && caller->gid == own.gid))
        return 0;
    if (own.lent_groups)
        r = lend_groups(call->req);
    set_fs_ids(caller->uid, caller->gid);
    if (r == 0 && privileged && caller->uid != own.uid)
        r = raise_capabilities();
    if (r < 0)
        credentials_restore(&own);
    else
        *ret_credentials = own;
    return r;
}

void credentials_restore(struct credentials *credentials)
{
    int saved = errno;

    if (credentials->switched)
        set_fs_ids(credentials->uid, credentials->gid);
    if (credentials->lent_groups)
        syscall(SYS_setgroups, 0, NULL);
    credentials->lent_groups = false;
    credentials->switched = false;
    errno = saved;
}

bool credentials_in_group(struct call *call, gid_t group)
{
    gid_t groups[LENT_GROUPS_MAX];
    int count;

    if (fuse_req_ctx(call->req)->gid == group)
        return true;
    count = fuse_req_getgroups(call->req, LENT_GROUPS_MAX, groups);
    for (int i = 0; i < count && i < LENT_GROUPS_MAX; i++) {
        if (groups[i] == group)
            return true;
    }
    return false;
}

mode_t credentials_mode(struct call *call, int parent, mode_t mode)
{
    mode_t umask = fuse_req_ctx(call->req)->umask;
    char path[PROC_PATH_BYTES];

    if ((mode & umask) == 0)
        return mode;
    if (call->fs->posix_acl) {
        proc_path(parent, path);
        if (LOWER(call->split, getxattr(path, "system.posix_acl_default", NULL, 0)) > 0)
            return mode;
    }
    return mode & ~umask;
}
