/* What the handlers' files share with each other. */
#ifndef TALLY_FS_HANDLERS_H
#define TALLY_FS_HANDLERS_H

#include <fcntl.h>

#include "fs/call.h"
#include "fs/context.h"
#include "fs/content.h"
#include "store/backend.h"
#include "util/cleanup.h"

/* An inode number that is no node's address: the control file. */
#define CONTROL_INO (FUSE_ROOT_ID + 1)

/* Pins the node of `ino`. 0; -EPERM for the control file, which is no inode of the lower file system; -errno. */
int fs_pin(struct call *call, fuse_ino_t ino, struct pin *ret_pin);

/* 0 when `name` may be made or removed in `parent`; -EINVAL for what is no single name; -EPERM for the control file. */
int fs_check_name(const struct fs *fs, fuse_ino_t parent, const char *name);

bool fs_is_control(const struct fs *fs, fuse_ino_t parent, const char *name);

/*
 * Looks `name` up in a directory, one lookup more on its node; the caller replies the entry or forgets. 0 or -errno.
 */
int lookup_child(struct call *call, const struct pin *parent, const char *name, struct fuse_entry_param *ret_entry);

/* The same for what `fd` has open. `is_path` and `name`, which may be NULL, as for inode_acquire. */
int lookup_open(struct call *call, int *fd, bool is_path, const struct pin *parent, const char *name,
                struct fuse_entry_param *ret_entry);

/* Replies an entry that has just been looked up; takes the lookup back when the kernel does not want it any more. */
int lookup_reply(struct call *call, const struct fuse_entry_param *entry);

/* Undoes the lookup of an entry that was not given to the kernel. */
void lookup_undo(struct call *call, const struct fuse_entry_param *entry);

/* fstat(2) of a pinned node as programs see it. */
int attributes_get(struct call *call, struct node *node, int fd, struct stat *ret_attributes);

/* Turns the lower file's attributes of a node into what programs see. `fd` may be an O_PATH one. */
int attributes_present(struct call *call, struct node *node, int fd, struct stat *attributes);

/* For how long the kernel may take these attributes, as programs see them, for right. */
double attributes_timeout_s(const struct call *call, const struct stat *attributes);

/*
 * Clears set-id bits of a regular file, where the kernel leaves that to us; the lower file system has cleared
 * capabilities. `wanted` is whether the caller may not keep them.
 */
int attributes_kill_privilege(struct call *call, int fd, bool wanted);

/* An open file: what fi->fh points to. */
struct file {
    struct opened opened; /* first */
    struct content content;
    bool writes;  /* opened for writing */
    int flock_fd; /* for BSD locks where `content` is shared; -1 while there are none */
    _Atomic bool locks;   /* a lock was taken through it */
    _Atomic bool leaving; /* and a descriptor of it closed since, so that RELEASE may be on its way */
};

static inline struct file *file_of(const struct fuse_file_info *fi)
{
    return (struct file *)(uintptr_t)fi->fh;
}

/* Write-back, RELEASE and the like come from no process: they count for the one that opened the file. */
static inline void call_for_opener(struct call *call, const struct opened *opened)
{
    if (call->pid == 0) {
        call->uid = opened->uid;
        call->pid = opened->pid;
    }
}

/*
 * Opens the pinned node as `fi` says and fills in `fi`. *fd, unless -1, has the lower file open already and is taken
 * where it can be used. 0 or -errno.
 */
int file_open(struct call *call, const struct pin *pin, int *fd, struct fuse_file_info *fi);

/* For requests with which the kernel does not say so: only root is sure to keep set-id bits. */
static inline bool file_is_unprivileged(const struct call *call)
{
    return fuse_req_ctx(call->req)->uid != 0;
}

/* The same for requests with which the kernel says so, if libfuse hands it on. */
static inline bool file_kills_privilege(const struct call *call, const struct fuse_file_info *fi)
{
#if TALLY_FUSE_HAS_KILL_SUIDGID
    if (call->fs->kill_privilege)
        return fi->kill_suidgid;
#else
    (void)fi;
#endif
    /* The kernel clears the bits itself, except for writes past its cache. */
    return call->fs->cache == FS_CACHE_NONE && file_is_unprivileged(call);
}

/* A process has closed a descriptor of the file: its POSIX locks are gone. */
void lock_release_owner(struct call *call, struct file *file, uint64_t owner);
/* The last descriptor of an open file is closed: gone are the locks that belonged to the open file itself. */
void lock_release_file(struct call *call, struct file *file);
void lock_release_all(struct node *node);

/* Closes and frees an open file. 0 or -errno. */
int file_close(struct call *call, struct file *file);

#endif
