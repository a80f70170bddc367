/* Files are made with the owner and group of the caller, although the daemon is root. */
#ifndef TALLY_FS_CREDENTIALS_H
#define TALLY_FS_CREDENTIALS_H

#include <stdbool.h>
#include <sys/types.h>

#include "fs/call.h"

struct credentials {
    bool switched;
    bool lent_groups;
    uid_t uid;
    gid_t gid;
};

#define CREDENTIALS_INIT {false, false, 0, 0}

/*
 * This thread's file-system user and group become the caller's, until credentials_restore. With `privileged` it keeps
 * its capabilities: the kernel has checked the caller's permission. Without, the lower file system checks again, with the
 * caller's supplementary groups. 0 or -errno. Does nothing when the daemon is not root, which has no such groups itself.
 */
int credentials_switch(struct call *call, bool privileged, struct credentials *ret_credentials);
void credentials_restore(struct credentials *credentials);

#define AUTO_CREDENTIALS __attribute__((cleanup(credentials_restore)))

/* Whether the caller is in the group, by its own group or one of its others. */
bool credentials_in_group(struct call *call, gid_t group);

/*
 * The mode for a new file in the directory open at `parent`: the caller's umask applied, unless a default ACL takes
 * its place.
 */
mode_t credentials_mode(struct call *call, int parent, mode_t mode);

#endif
