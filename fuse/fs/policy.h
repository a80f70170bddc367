/*
 * Which codec compresses what: the mount's own, or what user.tallyfs.compress says on a directory or file. The
 * attribute is kept on the lower file under the same name, and goes over from a directory to what is made in it.
 *
 * It is read once for each inode that the kernel knows, and followed when it is set through this mount.
 */
#ifndef TALLY_FS_POLICY_H
#define TALLY_FS_POLICY_H

#include "fs/call.h"
#include "fs/inode.h"
#include "tally/codec.h"

#define POLICY_NAME "compress"
#define POLICY_ATTRIBUTE TALLY_XATTR_PREFIX POLICY_NAME

/*
 * What a node itself says: 1 and the choice, 0 when it says nothing. `fd` has it open, perhaps O_PATH. What cannot be
 * read says nothing.
 */
int policy_own(struct call *call, struct node *node, int fd, struct tally_codec_choice *ret_choice);

/* The codec for a regular file's new data. */
struct tally_codec_choice policy_for(struct call *call, struct node *node, int fd);

/* Hands a directory's choice on to a file or directory that has just been made in it. */
void policy_inherit(struct call *call, const struct pin *directory, struct node *made, int fd);

/* 0; -EINVAL for no codec, or a level out of its range; -errno as setxattr(2), whose flags `flags` are. */
int policy_set(struct call *call, const struct pin *pin, const char *value, size_t size, int flags);

/* 0 or -errno as removexattr(2). */
int policy_remove(struct call *call, const struct pin *pin);

#endif
