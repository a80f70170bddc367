/* Btrfs's own compression: switching it, and what files take with it. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "speed.h"
#include "util/cleanup.h"

#define SEARCH_BYTES 65536

bool btrfs_option(const struct tally_codec_choice *choice, char text[static BTRFS_OPTION_BYTES])
{
    if (!choice->codec) {
        strcpy(text, "compress=no");
        return true;
    }
    switch (choice->codec->id) {
    case TALLY_CODEC_ZSTD:
        snprintf(text, BTRFS_OPTION_BYTES, "compress-force=zstd:%d", choice->level);
        return choice->level >= 1 && choice->level <= 15;
    case TALLY_CODEC_GZIP:
        snprintf(text, BTRFS_OPTION_BYTES, "compress-force=zlib:%d", choice->level);
        return true;
    default:
        return false;
    }
}

/* mount(8) keeps the mount's other options. */
static int remount(const struct btrfs *btrfs, const char *option)
{
    char options[BTRFS_OPTION_BYTES + 16];
    pid_t child;
    int status;

    snprintf(options, sizeof(options), "remount,%s", option);
    child = fork();
    if (child < 0)
        return -errno;
    if (child == 0) {
        execlp("mount", "mount", "-o", options, btrfs->mount_point, (char *)NULL);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EPERM;
}

/* The mount that the directory is in: the one with the longest path above it, the last where several have it. */
static int find_mount(const char *directory, struct btrfs *btrfs)
{
    AUTO_FREE char *path = realpath(directory, NULL);
    FILE *mounts = setmntent("/proc/self/mounts", "r");
    const char *option;
    struct mntent *entry;
    size_t longest = 0;

    while (path && mounts && (entry = getmntent(mounts))) {
        size_t length = strlen(entry->mnt_dir);

        if (length < longest || length >= sizeof(btrfs->mount_point) ||
            strncmp(entry->mnt_dir, path, length) != 0 ||
            (length > 1 && path[length] != '/' && path[length] != '\0'))
            continue;
        longest = length;
        strcpy(btrfs->mount_point, entry->mnt_dir);
        strcpy(btrfs->before, "compress=no");
        option = hasmntopt(entry, "compress-force");
        option = option ? option : hasmntopt(entry, "compress");
        if (option)
            snprintf(btrfs->before, sizeof(btrfs->before), "%.*s", (int)strcspn(option, ","),
                     option);
    }
    if (mounts)
        endmntent(mounts);
    return longest ? 0 : -ENOENT;
}

int btrfs_begin(const char *directory, struct btrfs *ret_btrfs)
{
    struct btrfs btrfs = {0};
    struct statfs file_system;
    int r;

    if (statfs(directory, &file_system) < 0)
        return -errno;
    if (file_system.f_type != BTRFS_SUPER_MAGIC)
        return -EINVAL;
    if (geteuid() != 0)
        return -EPERM;
    r = find_mount(directory, &btrfs);
    if (r == 0)
        *ret_btrfs = btrfs;
    return r;
}

int btrfs_compress(struct btrfs *btrfs, const struct tally_codec_choice *choice)
{
    char option[BTRFS_OPTION_BYTES];

    if (!btrfs_option(choice, option))
        return -EINVAL;
    btrfs->changed = true;
    return remount(btrfs, option);
}

int btrfs_end(struct btrfs *btrfs)
{
    bool changed = btrfs->changed;

    btrfs->changed = false;
    return changed ? remount(btrfs, btrfs->before) : 0;
}

/* An item that holds its bytes itself takes as many; a hole has no place on the disk. */
static uint64_t extent_bytes(const struct btrfs_file_extent_item *extent, uint32_t length)
{
    if (extent->type == BTRFS_FILE_EXTENT_INLINE)
        return length - offsetof(struct btrfs_file_extent_item, disk_bytenr);
    return extent->disk_bytenr ? le64toh(extent->disk_num_bytes) : 0;
}

/* Adds the items of one answer; where the next begins goes to the key. */
static uint64_t add_items(const struct btrfs_ioctl_search_args_v2 *search, uint64_t *ret_next)
{
    const uint8_t *at = (const uint8_t *)search->buf;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < search->key.nr_items; i++) {
        struct btrfs_ioctl_search_header header;
        struct btrfs_file_extent_item extent = {0};

        memcpy(&header, at, sizeof(header));
        at += sizeof(header);
        if (header.type == BTRFS_EXTENT_DATA_KEY) {
            memcpy(&extent, at, header.len < sizeof(extent) ? header.len : sizeof(extent));
            sum += extent_bytes(&extent, header.len);
        }
        at += header.len;
        *ret_next = header.offset + 1;
    }
    return sum;
}

int btrfs_stored_bytes(int fd, uint64_t *ret_bytes)
{
    AUTO_FREE struct btrfs_ioctl_search_args_v2 *search = calloc(1, sizeof(*search) + SEARCH_BYTES);
    uint64_t next = 0, sum = 0;
    struct stat attributes;

    if (!search)
        return -ENOMEM;
    if (fstat(fd, &attributes) < 0)
        return -errno;
    do {
        search->key = (struct btrfs_ioctl_search_key){
            .min_objectid = attributes.st_ino,
            .max_objectid = attributes.st_ino,
            .min_type = BTRFS_EXTENT_DATA_KEY,
            .max_type = BTRFS_EXTENT_DATA_KEY,
            .min_offset = next,
            .max_offset = UINT64_MAX,
            .max_transid = UINT64_MAX,
            .nr_items = UINT32_MAX,
        };
        search->buf_size = SEARCH_BYTES;
        if (ioctl(fd, BTRFS_IOC_TREE_SEARCH_V2, search) < 0)
            return -errno;
        sum += add_items(search, &next);
    } while (search->key.nr_items > 0);
    *ret_bytes = sum;
    return 0;
}
