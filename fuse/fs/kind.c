/* Whether a lower file is plain or a container. */
#include <string.h>
#include <sys/xattr.h>

#include "fs/content.h"
#include "fs/handlers.h"
#include "store/store.h"

/* On the lower file: its bytes are the program's although they begin like a container. */
#define PLAIN_MARK TALLY_XATTR_PREFIX "plain"

static bool is_marked_plain(struct call *call, int fd)
{
    char path[PROC_PATH_BYTES];

    proc_path(fd, path);
    return LOWER(call->split, getxattr(path, PLAIN_MARK, NULL, 0)) >= 0;
}

/* Reading must not show in the access time. */
static int open_to_probe(struct call *call, int fd)
{
    int opened = inode_reopen(call->fs->inodes, call->split, fd, O_RDONLY | O_NOATIME);

    if (opened == -EPERM)
        opened = inode_reopen(call->fs->inodes, call->split, fd, O_RDONLY);
    return opened;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_as_seen(const struct node_content *content, const struct stat *attributes)
{
    return content->kind != CONTENT_UNKNOWN && content->size == attributes->st_size &&
           is_same_time(content->mtime, attributes->st_mtim) && is_same_time(content->ctime, attributes->st_ctim);
}

int content_classify(struct call *call, struct node *node, int fd, const struct stat *attributes)
{
    struct node_content *content = &node->content;
    struct store_probe probe = {.is_container = false};
    AUTO_CLOSE int opened = -1;

    if (is_as_seen(content, attributes))
        return 0;
    content->kind = CONTENT_UNKNOWN;
    if (attributes->st_size >= FORMAT_HEADER_BYTES) {
        int r;

        opened = open_to_probe(call, fd);
        if (opened < 0)
            return opened;
        r = store_probe(opened, call->split, attributes, &probe);
        if (r < 0)
            return r;
        if (probe.is_container && is_marked_plain(call, fd))
            probe.is_container = false;
    }
    content->kind = probe.is_container ? CONTENT_CONTAINER : CONTENT_PLAIN;
    content->size = attributes->st_size;
    content->mtime = attributes->st_mtim;
    content->ctime = attributes->st_ctim;
    content->logical_size = probe.logical_bytes;
    return 0;
}

int content_guard_plain(struct call *call, struct content *content, const void *data, size_t size, off_t offset)
{
    int fd, r;

    if (content->shared || offset >= CONTENT_GUARD_BYTES)
        return 0;
    fd = backend_descriptor(content->backend);
    r = store_would_mimic(fd, call->split, data, size, offset);
    if (r <= 0)
        return r;
    r = LOWER(call->split, fsetxattr(fd, PLAIN_MARK, "1", 1, 0));
    if (r == 0)
        return 0;
    log_error(call->fs->log, "a file would look compressed and cannot be marked as plain: %s", strerror(-r));
    return -EIO;
}
