#include "fs/path.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "fs/departed.h"
#include "fs/inode.h"

static const char removed[] = " (deleted)";

/* Where the descriptor's file is below the daemon's root, as the kernel has it. Its length or -errno. */
static ssize_t read_path(struct split *split, int fd, char path[static PATH_MAX])
{
    char link[PROC_PATH_BYTES];
    ssize_t length;

    proc_path(fd, link);
    length = LOWER(split, readlink(link, path, PATH_MAX - 1));
    if (length >= 0)
        path[length] = '\0';
    return length;
}

/* Takes off what the kernel puts after the name of a file that has none any more. */
static void cut_removed(struct split *split, int fd, char *path)
{
    size_t length = strlen(path), mark = sizeof(removed) - 1;
    struct stat attributes;

    if (length <= mark || strcmp(path + length - mark, removed) != 0)
        return;
    if (LOWER(split, fstatat(fd, "", &attributes, AT_EMPTY_PATH)) == 0 && attributes.st_nlink == 0)
        path[length - mark] = '\0';
}

/* The part of `path` below `root`; NULL when it is not below it. */
static const char *below(const char *path, const char *root)
{
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);

    return strncmp(path, root, length) == 0 && path[length] == '/' && path[length + 1] ? path + length + 1 : NULL;
}

static bool describe(struct fs *fs, struct split *split, const struct pin *pin, struct strbuf *path)
{
    char own[PATH_MAX], root[PATH_MAX];
    const char *found;

    if (read_path(split, pin->fd, own) < 0 || read_path(split, fs->root->descriptor, root) < 0)
        return false;
    cut_removed(split, pin->fd, own);
    found = below(own, root);
    if (found)
        strbuf_puts(path, found);
    return found != NULL;
}

void path_describe(struct fs *fs, struct split *split, uint64_t subject, uint64_t ino, struct strbuf *path)
{
    struct node *node = NULL;
    struct pin pin = PIN_INIT;
    bool known = false;

    if (subject == PATH_CONTROL_SUBJECT) {
        strbuf_puts(path, fs->control);
        return;
    }
    if (subject == fs->root->generation + 1) {
        strbuf_puts(path, ".");
        return;
    }
    if (subject != 0)
        node = inode_find(fs->inodes, ino, subject - 1);
    if (node && inode_pin(fs->inodes, split, node, &pin) == 0) {
        known = describe(fs, split, &pin, path);
        inode_unpin(&pin);
    }
    if (node)
        inode_forget(fs->inodes, node, 1);
    if (!known && !departed_find(fs->departed, subject, path))
        strbuf_puts(path, "?");
}

void path_keep(struct fs *fs, struct split *split, struct node *node)
{
    AUTO_STRBUF struct strbuf path = STRBUF_INIT;
    struct pin pin = PIN_INIT;
    bool known = false;

    if (!fs->departed || node == fs->root || node->ops.count < DEPARTED_OPERATIONS)
        return;
    if (inode_pin(fs->inodes, split, node, &pin) == 0) {
        known = describe(fs, split, &pin, &path);
        inode_unpin(&pin);
    }
    if (known)
        departed_add(fs->departed, node->generation + 1, strbuf_take(&path));
}
