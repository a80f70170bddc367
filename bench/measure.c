#include "measure.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "interrupt.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define ZFS_MAGIC 0x2fc12fc1
#define POLL_MS 50
#define SETTLE_LIMIT 20 /* quiet times */

/*
 * A sync does not reach zfs-fuse, which writes a transaction group every 30 s: until then a file has one block, free space
 * is what it was, and both are quiet.
 */
#define UNWRITTEN_QUIET_S 40

int measure_process_cpu(pid_t pid, struct cpu_time *ret_time)
{
    FILE *file AUTO_FCLOSE = NULL;
    unsigned long long user, system, child_user, child_system;
    double tick = (double)sysconf(_SC_CLK_TCK);
    char path[64], line[1024];
    const char *after_name;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return -errno;
    if (!fgets(line, sizeof(line), file))
        return -EIO;
    /* The name, in brackets, may hold anything, blanks and brackets too. */
    after_name = strrchr(line, ')');
    if (!after_name ||
        sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
               &user, &system, &child_user, &child_system) != 4)
        return -EIO;
    *ret_time = (struct cpu_time){(double)(user + child_user) / tick,
                                  (double)(system + child_system) / tick};
    return 0;
}

int measure_machine_busy(double *ret_seconds)
{
    FILE *file AUTO_FCLOSE = fopen("/proc/stat", "re");
    unsigned long long user, nice, system, irq, softirq, steal;

    if (!file)
        return -errno;
    if (fscanf(file, "cpu %llu %llu %llu %*u %*u %llu %llu %llu", &user, &nice, &system, &irq,
               &softirq, &steal) != 6)
        return -EIO;
    /* Time stolen by other guests was not this machine's work. */
    *ret_seconds = (double)(user + nice + system + irq + softirq) / (double)sysconf(_SC_CLK_TCK);
    return 0;
}

int measure_free(const char *path, uint64_t *ret_bytes)
{
    struct statvfs st;

    if (statvfs(path, &st) < 0)
        return -errno;
    *ret_bytes = (uint64_t)st.f_bfree * st.f_frsize;
    return 0;
}

struct inode_set {
    ino_t *inodes;
    size_t count, capacity;
};

/* Few files have several links; a list of those seen is enough. */
static int count_links_once(struct inode_set *seen, const struct stat *st, bool *ret_first)
{
    if (st->st_nlink < 2) {
        *ret_first = true;
        return 0;
    }
    for (size_t i = 0; i < seen->count; i++) {
        if (seen->inodes[i] == st->st_ino) {
            *ret_first = false;
            return 0;
        }
    }
    if (seen->count == seen->capacity) {
        size_t capacity = seen->capacity ? 2 * seen->capacity : 64;
        ino_t *inodes = reallocarray(seen->inodes, capacity, sizeof(*inodes));

        if (!inodes)
            return -ENOMEM;
        seen->inodes = inodes;
        seen->capacity = capacity;
    }
    seen->inodes[seen->count++] = st->st_ino;
    *ret_first = true;
    return 0;
}

/* Past the kernel's cache of attributes, where zfs-fuse's files keep the one block that they had before they were written. */
static int blocks_now(const FTSENT *entry, uint64_t *ret_blocks)
{
    struct statx now;

    if (statx(AT_FDCWD, entry->fts_path, AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC, STATX_BLOCKS,
              &now) < 0)
        return -errno;
    *ret_blocks = now.stx_blocks;
    return 0;
}

static int add_entry(struct tree_space *space, struct inode_set *seen, const FTSENT *entry)
{
    const struct stat *st = entry->fts_statp;
    uint64_t blocks = 0;
    bool first = true;
    int r;

    if (entry->fts_info == FTS_DP)
        return 0;
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS)
        return -entry->fts_errno;
    r = blocks_now(entry, &blocks);
    if (r < 0)
        return r;
    if (entry->fts_info != FTS_D) {
        r = count_links_once(seen, st, &first);
        if (r < 0)
            return r;
    }
    if (first)
        space->allocated_bytes += blocks * 512;
    if (first && S_ISREG(st->st_mode)) {
        space->apparent_bytes += (uint64_t)st->st_size;
        space->files++;
        space->unwritten_files += st->st_size > 4096 && blocks <= 1;
    }
    return 0;
}

int measure_tree(const char *directory, struct tree_space *ret_space)
{
    char *path AUTO_FREE = strdup(directory);
    char *paths[] = {path, NULL};
    struct tree_space space = {0};
    struct inode_set seen = {0};
    const FTSENT *entry;
    int r = 0;
    FTS *fts;

    if (!path)
        return -ENOMEM;
    fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    if (!fts)
        return -errno;
    errno = 0;
    while (r == 0 && (entry = fts_read(fts)))
        r = add_entry(&space, &seen, entry);
    if (r == 0 && errno)
        r = -errno;
    fts_close(fts);
    free(seen.inodes);
    if (r == 0)
        *ret_space = space;
    return r;
}

int measure_sync(const char *path)
{
    int fd AUTO_CLOSE = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || syncfs(fd) < 0)
        return -errno;
    return 0;
}

uint64_t measure_space_tolerance(uint64_t used_bytes)
{
    return ((uint64_t)1 << 20) + used_bytes / 50;
}

bool measure_frees_slowly(const char *path)
{
    struct statfs fs;

    /* zfs-fuse is only known as some FUSE file system. */
    return statfs(path, &fs) == 0 && (fs.f_type == ZFS_MAGIC || fs.f_type == FUSE_SUPER_MAGIC);
}

int measure_settle(const char *directory, const char *tree, bool *ret_settled)
{
    uint64_t free_before = 0, free_now = 0, began_ns = clock_ns(), changed_ns = began_ns;
    struct tree_space space_before = {0}, space = {0};
    uint64_t usual_ns = NS_PER_SECOND / 4;
    bool slow = measure_frees_slowly(directory);
    int r = measure_sync(directory);

    if (r < 0)
        return r;
    if (slow)
        usual_ns = 6 * NS_PER_SECOND;
    for (;;) {
        uint64_t now_ns, quiet_ns = usual_ns;

        r = measure_free(directory, &free_now);
        if (r == 0 && tree)
            r = measure_tree(tree, &space);
        if (r < 0)
            return r;
        if (slow && space.unwritten_files)
            quiet_ns = UNWRITTEN_QUIET_S * NS_PER_SECOND;
        now_ns = clock_ns();
        if (free_now != free_before || space.allocated_bytes != space_before.allocated_bytes)
            changed_ns = now_ns;
        free_before = free_now;
        space_before = space;
        if (now_ns - changed_ns >= quiet_ns || now_ns - began_ns >= SETTLE_LIMIT * usual_ns) {
            *ret_settled = now_ns - changed_ns >= quiet_ns;
            return 0;
        }
        r = interrupt_sleep_ms(POLL_MS);
        if (r < 0)
            return r;
    }
}

int measure_drop_caches(void)
{
    int fd AUTO_CLOSE = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    sync();
    return write(fd, "3", 1) == 1 ? 0 : -errno;
}
