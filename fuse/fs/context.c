/* The mount as a whole. */
#include "fs/context.h"

#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "fs/departed.h"
#include "fs/handlers.h"
#include "fs/lock_queue.h"
#include "fs/seek.h"
#include "fs/slow.h"
#include "stats/stats.h"
#include "store/store.h"

/* Of the descriptors that the process may have, this part stays cached at most; the rest is for open files. */
#define CACHED_SHARE 4
#define CACHED_MAX 16384

/* Of the store, over all files. */
#define DIRTY_LIMIT_BYTES ((size_t)64 << 20)
/* The kernel's page cache keeps what was read; this serves requests that end within a chunk. */
#define CACHE_LIMIT_BYTES ((size_t)8 << 20)

static unsigned descriptor_budget(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return 64;
    if (limit.rlim_cur < limit.rlim_max) {
        rlim_t before = limit.rlim_cur;

        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
            limit.rlim_cur = before;
    }
    return (unsigned)(limit.rlim_cur / CACHED_SHARE < CACHED_MAX ? limit.rlim_cur / CACHED_SHARE : CACHED_MAX);
}

static int copy_strings(struct fs *fs, const struct fs_config *config)
{
    fs->lower = strdup(config->lower);
    fs->options = strdup(config->options);
    fs->control = strdup(config->control);
    return fs->lower && fs->options && fs->control ? 0 : -ENOMEM;
}

static int open_lower(struct fs *fs)
{
    AUTO_CLOSE int root = LOWER(NULL, open(fs->lower, O_RDONLY | O_DIRECTORY | O_CLOEXEC));

    if (root < 0)
        return root;
    fs->posix_acl = fgetxattr(root, "system.posix_acl_access", NULL, 0) >= 0 || errno == ENODATA;
    return inode_table_create(root, descriptor_budget(), &fs->inodes, &fs->root);
}

/* Compression that no request waited for. */
static void observe(void *user, enum store_background work, const struct split *split, uint64_t bytes, int error)
{
    struct fs *fs = user;
    struct stats_thread *thread = fs->stats ? stats_thread(fs->stats) : NULL;

    if (thread)
        stats_record_background(thread, (enum tally_background)work, error, bytes, split);
}

_Static_assert((int)TALLY_BACKGROUND_COUNT == (int)STORE_BACKGROUND_COUNT, "the same work in the same order");

static int create_store(struct fs *fs, const struct fs_config *config)
{
    const struct store_config store = {
        .chunk_bytes = config->chunk_bytes,
        .dirty_limit_bytes = DIRTY_LIMIT_BYTES,
        .cache_limit_bytes = CACHE_LIMIT_BYTES,
        .worker_count = config->worker_count,
        .observe = observe,
        .user = fs,
    };

    fs->compress = config->compress;
    return store_create(&store, &fs->store);
}

int fs_create(const struct fs_config *config, struct fs **ret_fs)
{
    struct fs *fs = calloc(1, sizeof(*fs));
    int r;

    if (!fs)
        return -ENOMEM;
    pthread_mutex_init(&fs->opened.lock, NULL);
    fs->log = config->log;
    fs->cache = config->cache;
    fs->attr_timeout_s = config->attr_timeout_s;
    fs->entry_timeout_s = config->entry_timeout_s;
    fs->slow_ns = config->slow_ns;
    fs->slow_logged = config->slow_logged;
    fs->owner = geteuid();
    fs->group = getegid();
    clock_gettime(CLOCK_REALTIME, &fs->began);
    fs->switch_user = fs->owner == 0;
    /* Root needs none, and threads lend themselves those of callers. */
    if (fs->switch_user)
        setgroups(0, NULL);
    r = copy_strings(fs, config);
    if (r == 0)
        r = open_lower(fs);
    if (r == 0 && config->count)
        r = stats_create(&fs->stats);
    if (r == 0 && config->count) {
        fs->slow = slow_log_create();
        fs->departed = departed_create();
        r = fs->slow && fs->departed ? 0 : -ENOMEM;
    }
    if (r == 0 && config->count && config->tree_depth > 0) {
        fs->trees = trees_create(config->tree_depth);
        fs->root->place = trees_root();
        r = fs->trees ? 0 : -ENOMEM;
    }
    if (r == 0)
        r = create_store(fs, config);
    if (r == 0)
        r = lock_queue_create(&fs->lock_queue);
    if (r == 0)
        r = seeker_create(&fs->seeker);
    if (r < 0) {
        fs_destroy(fs);
        return r;
    }
    *ret_fs = fs;
    return 0;
}

static void release_locks(void *user, struct node *node)
{
    (void)user;
    lock_release_all(node);
}

int fs_destroy(struct fs *fs)
{
    struct call call = {.fs = fs};
    int r = opened_close_all(&fs->opened, &call);

    if (fs->inodes) {
        inode_for_each(fs->inodes, release_locks, NULL);
        inode_table_destroy(fs->inodes);
    }
    if (fs->lock_queue)
        lock_queue_destroy(fs->lock_queue);
    if (fs->seeker)
        seeker_destroy(fs->seeker);
    if (fs->store)
        store_destroy(fs->store);
    if (fs->trees)
        trees_destroy(fs->trees);
    if (fs->departed)
        departed_destroy(fs->departed);
    if (fs->slow)
        slow_log_destroy(fs->slow);
    if (fs->stats)
        stats_destroy(fs->stats);
    pthread_mutex_destroy(&fs->opened.lock);
    free(fs->lower);
    free(fs->options);
    free(fs->control);
    free(fs);
    return r;
}

int fs_begin(struct fs *fs, struct fuse_session *session, const char *mountpoint)
{
    struct statx attributes;
    int r = LOWER(NULL, statx(AT_FDCWD, mountpoint, AT_STATX_DONT_SYNC, STATX_TYPE, &attributes));

    fs->session = session;
    if (r < 0)
        return r;
    fs->device = makedev(attributes.stx_dev_major, attributes.stx_dev_minor);
    if (fs->cache != FS_CACHE_NONE)
        fs_read_further_ahead(fs->device);
    return 0;
}

void fs_write_back(struct fs *fs)
{
    AUTO_FREE fuse_ino_t *inodes = NULL;
    ssize_t count = opened_inodes(&fs->opened, &inodes);

    /* Dropping an inode's pages writes them first. syncfs(2) does not wait for those of a FUSE server. */
    for (ssize_t i = 0; i < count; i++)
        fuse_lowlevel_notify_inval_inode(fs->session, inodes[i], 0, 0);
}

void fs_end(void *user)
{
    struct fs *fs = user;

    lock_queue_end(fs->lock_queue);
    seeker_end(fs->seeker);
}

void fs_log_slow(struct fs *fs, const struct stats_sample *sample)
{
    log_warning(fs->log,
                "slow %s: %" PRIu64 " us (lower %" PRIu64 ", codec %" PRIu64 ", wait %" PRIu64 "), error %d",
                tally_op_name(sample->op), sample->total_ns / 1000, sample->split.lower_ns / 1000,
                sample->split.codec_ns / 1000, sample->split.wait_ns / 1000, sample->error);
}

int handle_statfs(struct call *call, fuse_ino_t ino)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct statvfs space;
    int r = fs_pin(call, ino == CONTROL_INO ? FUSE_ROOT_ID : ino, &pin);

    raw_room_settle(&call->fs->room);
    if (r == 0)
        r = LOWER(call->split, fstatvfs(pin.fd, &space));
    if (r == 0)
        reply_statfs(call, &space);
    return r;
}
