#include "fs/content.h"

#include <string.h>
#include <sys/xattr.h>

#include "fs/handlers.h"
#include "store/store.h"

/* On the lower file: its bytes are the program's although they begin like a container. */
#define PLAIN_MARK TALLY_XATTR_PREFIX "plain"

#define CAPABILITY "security.capability"
#define CAPABILITY_BYTES_MAX 64

static int64_t to_ns(struct timespec time)
{
    return time.tv_sec * (int64_t)NS_PER_SECOND + time.tv_nsec;
}

static struct timespec from_ns(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / (int64_t)NS_PER_SECOND, .tv_nsec = ns % (int64_t)NS_PER_SECOND};

    if (time.tv_nsec < 0) {
        time.tv_sec--;
        time.tv_nsec += (long)NS_PER_SECOND;
    }
    return time;
}

static bool compresses(const struct fs *fs)
{
    return fs->compress.codec != NULL;
}

int content_lower_flags(int flags)
{
    const int dropped = O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW | O_APPEND | O_DIRECT;

    /*
     * The store reads what it writes, and so does the kernel's write-back cache. O_APPEND is done by each write: pages
     * written through a mapping go where they belong. Buffers of libfuse are aligned for no medium.
     */
    if ((flags & O_ACCMODE) == O_WRONLY)
        flags = (flags & ~O_ACCMODE) | O_RDWR;
    return flags & ~dropped;
}

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

static bool is_as_seen(const struct node_content *content, const struct stat *attributes)
{
    return content->kind != CONTENT_UNKNOWN && content->size == attributes->st_size &&
           to_ns(content->mtime) == to_ns(attributes->st_mtim) && to_ns(content->ctime) == to_ns(attributes->st_ctim);
}

/* Finds out what the lower file is, unless that is known. Called with content_lock held. */
static int classify(struct call *call, struct node *node, int fd, const struct stat *attributes)
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

/* Opens the lower file for the store: for writing also where the program only reads, since all opens share it. */
static int open_shared(struct call *call, const struct pin *pin, int *fd, bool to_write)
{
    struct node_content *content = &pin->node->content;
    AUTO_CLOSE int lower = -1;
    struct backend *raw, *file;
    bool read_only = false;
    int r;

    if (*fd >= 0 && (fcntl(*fd, F_GETFL) & O_ACCMODE) == O_RDWR) {
        lower = take_fd(fd);
    } else {
        lower = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDWR);
        if (!to_write && (lower == -EROFS || lower == -EACCES || lower == -EPERM || lower == -ETXTBSY)) {
            read_only = true;
            lower = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDONLY);
        }
    }
    if (lower < 0)
        return lower;
    r = raw_backend_create(lower, &raw);
    if (r < 0)
        return r;
    lower = -1;
    r = store_file_open(call->fs->store, call->split, raw, &call->fs->compress, read_only, &file);
    if (r < 0) {
        backend_close(raw, call->split);
        return r;
    }
    content->shared = file;
    content->shared_read_only = read_only;
    content->kind = CONTENT_UNKNOWN;
    return 0;
}

/* Opens of a container, and of what is to become one, share the store file. Called with content_lock held. */
static int use_shared(struct call *call, const struct pin *pin, int *fd, bool to_write, struct content *ret_content)
{
    struct node_content *content = &pin->node->content;
    int r = 0;

    if (!content->shared)
        r = open_shared(call, pin, fd, to_write);
    else if (to_write && content->shared_read_only)
        r = -EACCES;
    if (r < 0)
        return r;
    content->shared_users++;
    *ret_content = (struct content){content->shared, pin->node, true, false};
    return 0;
}

static int use_raw(struct call *call, const struct pin *pin, int flags, int *fd, struct content *ret_content)
{
    AUTO_CLOSE int opened = take_fd(fd);
    struct backend *raw;
    int r;

    if (opened < 0)
        opened = inode_reopen(call->fs->inodes, call->split, pin->fd, content_lower_flags(flags));
    if (opened == -EACCES && (flags & O_ACCMODE) == O_WRONLY)
        opened = inode_reopen(call->fs->inodes, call->split, pin->fd, O_WRONLY);
    if (opened < 0)
        return opened;
    r = raw_backend_create(opened, &raw);
    if (r < 0)
        return r;
    opened = -1;
    pin->node->content.raw_users++;
    *ret_content = (struct content){raw, pin->node, false, false};
    return 0;
}

static int truncate_lower(struct call *call, int fd)
{
    char path[PROC_PATH_BYTES];

    proc_path(fd, path);
    return LOWER(call->split, truncate(path, 0));
}

/* content_open with content_lock held. */
static int open_locked(struct call *call, const struct pin *pin, int flags, int *fd, struct content *ret_content)
{
    struct node_content *content = &pin->node->content;
    bool to_write = (flags & O_ACCMODE) != O_RDONLY;
    struct stat attributes;
    int r;

    if (content->shared)
        return use_shared(call, pin, fd, to_write, ret_content);
    if (content->raw_users > 0)
        return use_raw(call, pin, flags, fd, ret_content);
    if (flags & O_TRUNC) {
        /* Nobody has it open: what it was does not bind what it becomes. */
        r = truncate_lower(call, pin->fd);
        if (r < 0)
            return r;
    }
    r = LOWER(call->split, fstatat(pin->fd, "", &attributes, AT_EMPTY_PATH));
    if (r == 0)
        r = classify(call, pin->node, pin->fd, &attributes);
    if (r < 0)
        return r;
    if (content->kind == CONTENT_CONTAINER || (attributes.st_size == 0 && compresses(call->fs)))
        return use_shared(call, pin, fd, to_write, ret_content);
    return use_raw(call, pin, flags, fd, ret_content);
}

int content_open(struct call *call, const struct pin *pin, int flags, int *fd, struct content *ret_content)
{
    struct content content = CONTENT_INIT;
    bool in_use;
    int r;

    pthread_mutex_lock(&pin->node->content_lock);
    in_use = pin->node->content.shared || pin->node->content.raw_users > 0;
    r = open_locked(call, pin, flags, fd, &content);
    pthread_mutex_unlock(&pin->node->content_lock);
    if (r < 0)
        return r;
    if (flags & O_TRUNC && in_use) {
        r = backend_truncate(content.backend, call->split, 0);
        if (r < 0) {
            content_close(call, &content);
            return r;
        }
    }
    if (flags & O_TRUNC)
        content_wrote(&content);
    *ret_content = content;
    return 0;
}

/* What the lower file system takes away when the store writes, long after the program's last change. */
struct kept {
    int fd; /* of the lower file */
    struct stat attributes;
    char capability[CAPABILITY_BYTES_MAX];
    ssize_t capability_size;
};

static int keep(struct call *call, struct backend *file, struct kept *ret_kept)
{
    int fd = LOWER(call->split, fcntl(backend_descriptor(file), F_DUPFD_CLOEXEC, 0));

    if (fd < 0)
        return fd;
    ret_kept->fd = fd;
    ret_kept->capability_size =
        LOWER(call->split, fgetxattr(fd, CAPABILITY, ret_kept->capability, sizeof(ret_kept->capability)));
    return LOWER(call->split, fstat(fd, &ret_kept->attributes));
}

static void give_back(struct call *call, const struct kept *kept, int64_t mtime_ns)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, from_ns(mtime_ns)};
    struct stat now;

    if (LOWER(call->split, fstat(kept->fd, &now)) < 0)
        return;
    if (now.st_mode != kept->attributes.st_mode)
        LOWER(call->split, fchmod(kept->fd, kept->attributes.st_mode & 07777));
    if (kept->capability_size > 0 && LOWER(call->split, fgetxattr(kept->fd, CAPABILITY, NULL, 0)) < 0)
        LOWER(call->split, fsetxattr(kept->fd, CAPABILITY, kept->capability, (size_t)kept->capability_size, 0));
    if (mtime_ns != to_ns(now.st_mtim))
        LOWER(call->split, futimens(kept->fd, times));
}

static int close_shared(struct call *call, struct node_content *content)
{
    int64_t mtime_ns = atomic_load(&content->mtime_ns);
    struct kept kept = {.fd = -1};
    bool changed = mtime_ns != TIME_UNSET;
    int r = changed ? backend_flush(content->shared, call->split) : 0;
    int s;

    changed = changed && keep(call, content->shared, &kept) == 0;
    s = backend_close(content->shared, call->split);
    content->shared = NULL;
    atomic_store(&content->mtime_ns, TIME_UNSET);
    atomic_store(&content->written_ns, TIME_UNSET);
    if (changed)
        give_back(call, &kept, mtime_ns);
    cleanup_close(&kept.fd);
    return r < 0 ? r : s;
}

int content_close(struct call *call, struct content *content)
{
    struct node *node = content->node;
    int r = 0;

    pthread_mutex_lock(&node->content_lock);
    if (!content->shared) {
        node->content.raw_users--;
        r = backend_close(content->backend, call->split);
    } else if (--node->content.shared_users == 0) {
        r = close_shared(call, &node->content);
    }
    pthread_mutex_unlock(&node->content_lock);
    *content = (struct content)CONTENT_INIT;
    return r;
}

void content_wrote(struct content *content)
{
    struct timespec now;

    content->changed = true;
    if (!content->shared)
        return;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    atomic_store(&content->node->content.written_ns, to_ns(now));
    atomic_store(&content->node->content.mtime_ns, to_ns(now));
}

void content_hold(struct node *node)
{
    pthread_mutex_lock(&node->content_lock);
}

void content_let_go(struct node *node)
{
    pthread_mutex_unlock(&node->content_lock);
}

void content_set_mtime(struct node *node, struct timespec mtime)
{
    if (node->content.shared)
        atomic_store(&node->content.mtime_ns, to_ns(mtime));
}

static int present_shared(struct call *call, struct node_content *content, struct stat *attributes)
{
    int64_t mtime_ns = atomic_load(&content->mtime_ns);
    int64_t written_ns = atomic_load(&content->written_ns);
    struct stat logical;
    int r = backend_stat(content->shared, call->split, &logical);

    if (r < 0)
        return r;
    attributes->st_size = logical.st_size;
    attributes->st_blocks = logical.st_blocks;
    if (mtime_ns != TIME_UNSET)
        attributes->st_mtim = from_ns(mtime_ns);
    if (written_ns > to_ns(attributes->st_ctim))
        attributes->st_ctim = from_ns(written_ns);
    return 0;
}

int content_present(struct call *call, struct node *node, int fd, struct stat *attributes)
{
    struct node_content *content = &node->content;
    int r = 0;

    pthread_mutex_lock(&node->content_lock);
    if (content->shared) {
        r = present_shared(call, content, attributes);
    } else if (content->raw_users == 0) {
        /* A file that cannot be read can still be listed and removed. */
        if (classify(call, node, fd, attributes) == 0 && content->kind == CONTENT_CONTAINER)
            attributes->st_size = content->logical_size;
    }
    pthread_mutex_unlock(&node->content_lock);
    return r;
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

int content_settle(struct call *call, struct node *node)
{
    return node->content.shared ? backend_flush(node->content.shared, call->split) : 0;
}

int content_info(struct call *call, const struct pin *pin, struct store_file_info *ret_info)
{
    struct content content;
    AUTO_CLOSE int fd = -1;
    int r = content_open(call, pin, O_RDONLY, &fd, &content);

    if (r < 0)
        return r;
    r = content.shared ? store_file_info(content.backend, call->split, ret_info) : -ENODATA;
    content_close(call, &content);
    return r;
}
