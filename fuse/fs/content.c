#include "fs/content.h"

#include <limits.h>
#include <sys/xattr.h>

#include "fs/handlers.h"
#include "fs/policy.h"
#include "store/claim.h"
#include "store/store.h"

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

int content_lower_flags(int flags)
{
    const int dropped = O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW | O_APPEND | O_DIRECT |
                        O_SYNC;

    /*
     * The store reads what it writes, and so does the kernel's write-back cache; one that only reads may empty the file
     * first. O_APPEND is done by each write: pages written through a mapping go where they belong. Buffers of libfuse
     * are aligned for no medium. O_SYNC and O_DSYNC are the kernel's, which asks for an fsync, or handle_write's.
     */
    if ((flags & O_ACCMODE) == O_WRONLY || ((flags & O_ACCMODE) == O_RDONLY && flags & O_TRUNC))
        flags = (flags & ~O_ACCMODE) | O_RDWR;
    return flags & ~dropped;
}

/* Says once why files cannot be opened; a tree full of them would fill the log. */
static void report_busy(struct call *call, int fd)
{
    char path[PROC_PATH_BYTES], name[PATH_MAX];
    ssize_t length;

    if (atomic_exchange(&call->fs->busy_reported, true))
        return;
    proc_path(fd, path);
    length = readlink(path, name, sizeof(name) - 1);
    name[length > 0 ? length : 0] = '\0';
    log_error(call->fs->log, "%s: this compressed file is in use by another mount or by tallyctl; such files cannot "
                             "be opened meanwhile (said only once)", name);
}

static int claim(struct call *call, int fd, enum store_claim kind)
{
    int r = store_claim(fd, call->split, kind);

    if (r == -EBUSY)
        report_busy(call, fd);
    return r;
}

static bool is_read_only_error(int r)
{
    return r == -EROFS || r == -EACCES || r == -EPERM || r == -ETXTBSY;
}

/*
 * Opens the lower file for the store and claims it. All opens share the descriptor, so it is for writing also where the
 * first program only reads, if it can be.
 */
static int open_lower(struct call *call, const struct pin *pin, int *fd, bool to_write)
{
    AUTO_CLOSE int lower = -1;
    int r;

    if (*fd >= 0 && (fcntl(*fd, F_GETFL) & O_ACCMODE) == O_RDWR) {
        lower = take_fd(fd);
    } else {
        lower = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDWR);
        if (!to_write && is_read_only_error(lower))
            lower = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDONLY);
    }
    if (lower < 0)
        return lower;
    r = claim(call, lower, to_write ? STORE_CLAIM_WRITE : STORE_CLAIM_READ);
    return r < 0 ? r : take_fd(&lower);
}

static int open_shared(struct call *call, const struct pin *pin, int *fd, bool to_write)
{
    struct node_content *content = &pin->node->content;
    struct tally_codec_choice choice = {NULL, 0};
    AUTO_CLOSE int lower = open_lower(call, pin, fd, to_write);
    struct backend *raw, *file;
    int r;

    if (lower < 0)
        return lower;
    r = raw_backend_create(lower, &call->fs->room, &raw);
    if (r < 0)
        return r;
    lower = -1;
    if (to_write)
        choice = policy_for(call, pin->node, pin->fd);
    r = store_file_open(call->fs->store, call->split, raw, &choice, !to_write, &file);
    if (r < 0) {
        backend_close(raw, call->split);
        return r;
    }
    content->shared = file;
    content->shared_read_only = !to_write;
    content->kind = CONTENT_UNKNOWN;
    return 0;
}

/*
 * The first program that writes a container which others have open for reading. The store goes on with the same
 * descriptor, which by now may be opened for writing where it could not be before.
 */
static int begin_writing(struct call *call, const struct pin *pin)
{
    struct node_content *content = &pin->node->content;
    int lower = backend_descriptor(content->shared);
    int r;

    if ((fcntl(lower, F_GETFL) & O_ACCMODE) != O_RDWR) {
        AUTO_CLOSE int again = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDWR);
        int replaced;

        if (again < 0)
            return again;
        /* Both at once, for our own old claim would not let the new one be for writing. */
        r = claim(call, again, STORE_CLAIM_READ);
        if (r < 0)
            return r;
        replaced = LOWER(call->split, dup3(again, lower, O_CLOEXEC));
        if (replaced < 0)
            return replaced;
    }
    r = claim(call, lower, STORE_CLAIM_WRITE);
    if (r == 0) {
        struct tally_codec_choice choice = policy_for(call, pin->node, pin->fd);

        r = store_file_begin_writing(content->shared, call->split, &choice);
    }
    if (r == 0)
        content->shared_read_only = false;
    return r;
}

/*
 * The kernel's write-back cache has times of its own, and tells those that have moved. Writes come later than the programs
 * made them: they move nothing.
 */
static void hold_mtime(struct call *call, struct node_content *content)
{
    struct stat attributes;
    int64_t unset = TIME_UNSET;

    if (LOWER(call->split, fstat(backend_descriptor(content->shared), &attributes)) == 0)
        atomic_compare_exchange_strong(&content->mtime_ns, &unset, to_ns(attributes.st_mtim));
}

/* Sharing a descriptor asks the lower file system for nothing, which may refuse by now. */
static int may_still_write(struct call *call, const struct pin *pin)
{
    struct statx attributes;
    int r = LOWER(call->split, statx(pin->fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MODE, &attributes));

    if (r < 0)
        return r;
    return attributes.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND) ? -EPERM : 0;
}

/* Opens of a container, and of what is to become one, share the store file. Called with content_lock held. */
static int use_shared(struct call *call, const struct pin *pin, int *fd, bool to_write, struct content *ret_content)
{
    struct node_content *content = &pin->node->content;
    int r = 0;

    if (!content->shared)
        r = open_shared(call, pin, fd, to_write);
    else if (to_write && content->shared_read_only)
        r = begin_writing(call, pin);
    else if (to_write)
        r = may_still_write(call, pin);
    if (r < 0)
        return r;
    if (to_write && call->fs->cache == FS_CACHE_WRITEBACK)
        hold_mtime(call, content);
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
    /* An append-only file can be opened in no other way. */
    if (opened == -EPERM && flags & O_APPEND)
        opened = inode_reopen(call->fs->inodes, call->split, pin->fd, content_lower_flags(flags) | O_APPEND);
    if (opened < 0)
        return opened;
    r = raw_backend_create(opened, &call->fs->room, &raw);
    if (r < 0)
        return r;
    opened = -1;
    pin->node->content.raw_users++;
    *ret_content = (struct content){raw, pin->node, false, false};
    return 0;
}

/* Empties a lower file that nobody here has open, and leaves it open in *fd, unless another mount uses it. */
static int empty_lower(struct call *call, const struct pin *pin, int *fd)
{
    AUTO_CLOSE int opened = take_fd(fd);
    int r;

    if (opened < 0)
        opened = inode_reopen(call->fs->inodes, call->split, pin->fd, O_RDWR);
    if (opened == -EACCES)
        opened = inode_reopen(call->fs->inodes, call->split, pin->fd, O_WRONLY);
    if (opened < 0)
        return opened;
    r = claim(call, opened, STORE_CLAIM_WRITE);
    if (r == 0)
        r = LOWER(call->split, ftruncate(opened, 0));
    if (r == 0)
        r = store_claim(opened, call->split, STORE_CLAIM_NONE);
    if (r == 0)
        *fd = take_fd(&opened);
    return r;
}

/* content_open with content_lock held. */
static int open_locked(struct call *call, const struct pin *pin, int flags, int *fd, struct content *ret_content)
{
    struct node_content *content = &pin->node->content;
    bool to_write = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
    struct stat attributes;
    int r;

    if (content->shared)
        return use_shared(call, pin, fd, to_write, ret_content);
    if (content->raw_users > 0)
        return use_raw(call, pin, flags, fd, ret_content);
    r = LOWER(call->split, fstatat(pin->fd, "", &attributes, AT_EMPTY_PATH));
    if (r == 0 && flags & O_TRUNC) {
        /* What it was does not bind what it becomes. */
        r = empty_lower(call, pin, fd);
        attributes.st_size = 0;
    } else if (r == 0) {
        r = content_classify(call, pin->node, pin->fd, &attributes);
    }
    if (r < 0)
        return r;
    if (attributes.st_size == 0 ? policy_for(call, pin->node, pin->fd).codec != NULL
                                : content->kind == CONTENT_CONTAINER)
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
        content_wrote(call, &content);
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
    mode_t taken;
    struct stat now;

    if (LOWER(call->split, fstat(kept->fd, &now)) < 0)
        return;
    /* Writing takes set-id bits only; what else changed meanwhile was somebody's chmod below the mount. */
    taken = kept->attributes.st_mode & ~now.st_mode & (S_ISUID | S_ISGID);
    if (taken)
        LOWER(call->split, fchmod(kept->fd, (now.st_mode | taken) & 07777));
    if (kept->capability_size > 0 && LOWER(call->split, fgetxattr(kept->fd, CAPABILITY, NULL, 0)) < 0)
        LOWER(call->split, fsetxattr(kept->fd, CAPABILITY, kept->capability, (size_t)kept->capability_size, 0));
    if (mtime_ns != to_ns(now.st_mtim))
        LOWER(call->split, futimens(kept->fd, times));
}

/* ctime as programs see it, of a container whose lower file has `below`. */
static struct timespec shown_ctime(const struct node_content *content, struct timespec below)
{
    int64_t written_ns = atomic_load(&content->written_ns);

    if (to_ns(below) == content->ctime_below_ns)
        below = from_ns(content->ctime_seen_ns);
    return written_ns > to_ns(below) ? from_ns(written_ns) : below;
}

/*
 * Closing comes after the program's close(2) has returned, and is no change that it made. The lower file's ctime cannot
 * be given back, so it is remembered. What else the next stat would have to look for is known here as well.
 */
static void remember(struct call *call, struct node_content *content, int fd, struct timespec ctime, off_t logical_size)
{
    struct stat now;

    if (LOWER(call->split, fstat(fd, &now)) < 0)
        return;
    content->ctime_below_ns = to_ns(now.st_ctim);
    content->ctime_seen_ns = to_ns(ctime);
    if (now.st_size >= FORMAT_HEADER_BYTES) {
        content->kind = CONTENT_CONTAINER;
        content->size = now.st_size;
        content->mtime = now.st_mtim;
        content->ctime = now.st_ctim;
        content->logical_size = logical_size;
    }
}

static int close_shared(struct call *call, struct node_content *content)
{
    int64_t mtime_ns = atomic_load(&content->mtime_ns);
    struct kept kept = {.fd = -1};
    struct timespec ctime = {0};
    struct stat logical;
    bool changed = mtime_ns != TIME_UNSET;
    int r = changed ? backend_flush(content->shared, call->split) : 0;
    int s;

    changed = changed && keep(call, content->shared, &kept) == 0 &&
              backend_stat(content->shared, call->split, &logical) == 0;
    if (changed)
        ctime = shown_ctime(content, kept.attributes.st_ctim);
    s = backend_close(content->shared, call->split);
    content->shared = NULL;
    atomic_store(&content->mtime_ns, TIME_UNSET);
    atomic_store(&content->written_ns, TIME_UNSET);
    if (changed) {
        give_back(call, &kept, mtime_ns);
        if (r == 0 && s == 0)
            remember(call, content, kept.fd, ctime, logical.st_size);
    }
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

void content_wrote(struct call *call, struct content *content)
{
    struct timespec now;

    content->changed = true;
    if (!content->shared || call->fs->cache == FS_CACHE_WRITEBACK)
        return;
    /* Not the coarse clock: file systems give finer times, and a file's must not go back behind one of those. */
    clock_gettime(CLOCK_REALTIME, &now);
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
    struct stat logical;
    int r = backend_stat(content->shared, call->split, &logical);

    if (r < 0)
        return r;
    attributes->st_size = logical.st_size;
    attributes->st_blocks = logical.st_blocks;
    if (mtime_ns != TIME_UNSET)
        attributes->st_mtim = from_ns(mtime_ns);
    attributes->st_ctim = shown_ctime(content, attributes->st_ctim);
    return 0;
}

int content_present(struct call *call, struct node *node, int fd, struct stat *attributes)
{
    struct node_content *content = &node->content;
    int r = 0;

    pthread_mutex_lock(&node->content_lock);
    /* They may have been read while the store file was being closed. */
    if (content->raw_users == 0 && content->ctime_below_ns && content->ctime_below_ns != to_ns(attributes->st_ctim))
        r = LOWER(call->split, fstatat(fd, "", attributes, AT_EMPTY_PATH));
    if (r < 0) {
        pthread_mutex_unlock(&node->content_lock);
        return r;
    }
    if (content->shared) {
        r = present_shared(call, content, attributes);
    } else if (content->raw_users == 0) {
        /* A file that cannot be read can still be listed and removed. */
        if (content_classify(call, node, fd, attributes) == 0 && content->kind == CONTENT_CONTAINER) {
            attributes->st_size = content->logical_size;
            attributes->st_ctim = shown_ctime(content, attributes->st_ctim);
        }
    }
    pthread_mutex_unlock(&node->content_lock);
    return r;
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
