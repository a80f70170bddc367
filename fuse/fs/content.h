/*
 * What the bytes of a regular file are kept in: the plain lower file, or a container of the store. A container has
 * one store file, shared by all opens of its inode. The lower file decides which it is; an empty one may become
 * either.
 */
#ifndef TALLY_FS_CONTENT_H
#define TALLY_FS_CONTENT_H

#include "fs/context.h"
#include "store/backend.h"
#include "tally/format.h"

/* One user's hold on a file's bytes. */
struct content {
    struct backend *backend;
    struct node *node; /* not pinned: whoever has a file open keeps its node */
    bool shared;       /* `backend` is the node's store file, else the user's own */
    _Atomic bool changed; /* since the last close of one of its descriptors */
};

#define CONTENT_INIT {NULL, NULL, false, false}

/*
 * Opens the bytes of a pinned regular file with open(2)'s `flags`, O_TRUNC included. *fd, unless -1, has the file open
 * with content_lower_flags of them already and is taken where it can be used. 0 or -errno.
 */
int content_open(struct call *call, const struct pin *pin, int flags, int *fd, struct content *ret_content);

/* The first error of writing that nobody was told of. */
int content_close(struct call *call, struct content *content);

/* The flags with which a lower file is opened for a program's flags; never with a side effect such as O_TRUNC's. */
int content_lower_flags(int flags);

/* A program has changed the bytes just now. */
void content_wrote(struct call *call, struct content *content);

/*
 * While a node is held its store file is not closed. Closing gives the lower file back the mode and times that it had,
 * and RELEASE comes after close(2) has returned: a program's chmod or utimens in between must not be undone by it.
 */
void content_hold(struct node *node);
void content_let_go(struct node *node);

/* A program has set the modification time. Called with the node held. */
void content_set_mtime(struct node *node, struct timespec mtime);

/* Size, blocks and times of a regular file as programs see them. Reads the file where nothing is known of it yet. */
int content_present(struct call *call, struct node *node, int fd, struct stat *attributes);

/*
 * Finds out whether the lower file, which nobody has open and whose attributes these are, is plain or a container,
 * unless that is known; fills in node->content. Called with content_lock held. 0 or -errno.
 */
int content_classify(struct call *call, struct node *node, int fd, const struct stat *attributes);

/* Bytes at the beginning of a file by which the store knows its own. */
#define CONTENT_GUARD_BYTES FORMAT_HEADER_BYTES

/*
 * Before plain bytes are written that would make the file look like a container: marks it as plain, for good. 0, or
 * -EIO when it cannot be marked, which is logged.
 */
int content_guard_plain(struct call *call, struct content *content, const void *data, size_t size, off_t offset);

/* Hands over what is buffered, so that an attribute set next is not undone by writing later. Called with the node held. */
int content_settle(struct call *call, struct node *node);

/* The codec's and store's numbers of a file; -ENODATA for a plain one. */
struct store_file_info;
int content_info(struct call *call, const struct pin *pin, struct store_file_info *ret_info);

#endif
