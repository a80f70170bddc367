/* Names and directories. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "listing.h"
#include "util/cleanup.h"
#include "view.h"

static void do_rename(const struct view *view, int64_t from, int64_t to, unsigned flags,
                      struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES], to_path[VIEW_PATH_BYTES];

    view_path(view, from, path);
    view_path(view, to, to_path);
    outcome_result(outcome, flags ? renameat2(AT_FDCWD, path, AT_FDCWD, to_path, flags)
                                  : rename(path, to_path));
}

/* path to */
void call_rename(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    do_rename(view, arguments[0], arguments[1], 0, outcome);
}

/* path to flags */
void call_renameat2(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    do_rename(view, arguments[0], arguments[1], (unsigned)arguments[2], outcome);
}

/* path to follow */
void call_link(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES], to[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    view_path(view, arguments[1], to);
    outcome_result(outcome,
                   linkat(AT_FDCWD, path, AT_FDCWD, to, arguments[2] ? AT_SYMLINK_FOLLOW : 0));
}

/* slot to */
void call_link_open(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[64], to[VIEW_PATH_BYTES];

    if (view->slots[arguments[0]] < 0)
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", view->slots[arguments[0]]);
    view_path(view, arguments[1], to);
    outcome_result(outcome, linkat(AT_FDCWD, path, AT_FDCWD, to, AT_SYMLINK_FOLLOW));
}

/* path */
void call_unlink(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome, unlink(path));
}

/* path */
void call_rmdir(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome, rmdir(path));
}

/* path mode */
void call_mkdir(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome, mkdir(path, (mode_t)arguments[1]));
}

/* target path */
void call_symlink(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[1], path);
    outcome_result(outcome, symlink(argument_path(arguments[0]), path));
}

/* path length */
void call_readlink(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];
    ssize_t length;

    view_path(view, arguments[0], path);
    length = readlink(path, (char *)view->buffer, (size_t)arguments[1]);
    if (!outcome_result(outcome, length))
        return;
    outcome->data = view->buffer;
    outcome->size = (size_t)length;
}

/* path mode type */
void call_mknod(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    char path[VIEW_PATH_BYTES];

    view_path(view, arguments[0], path);
    outcome_result(outcome,
                   mknod(path, ((mode_t)arguments[1] & ~(mode_t)S_IFMT) | (mode_t)arguments[2], 0));
}

/* path */
void call_readdir(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    AUTO_LISTING struct listing listing = {.entries = NULL};
    char path[VIEW_PATH_BYTES], own[16] = "";
    AUTO_CLOSE int fd = -1;
    int r, strangers = 0;

    view_path(view, arguments[0], path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    if (!outcome_result(outcome, fd < 0 ? -1 : 0))
        return;
    if (strcmp(argument_path(arguments[0]), "shared/") == 0)
        snprintf(own, sizeof(own), "%u.", view->thread);
    r = listing_read(fd, LISTING_BUFFER_BYTES, &listing);
    errno = -r;
    if (!outcome_result(outcome, r < 0 ? -1 : 0))
        return;
    listing_sort(&listing);
    for (size_t i = 0; i < listing.count; i++) {
        const struct entry *entry = &listing.entries[i];
        struct stat attributes;

        if (strncmp(entry->name, own, strlen(own)) != 0)
            continue;
        strbuf_printf(&outcome->text, "%s type %u\n", entry->name, entry->type);
        if (fstatat(fd, entry->name, &attributes, AT_SYMLINK_NOFOLLOW) == 0 &&
            attributes.st_ino != entry->ino)
            strangers++;
    }
    outcome_value(outcome, "inode numbers other than of stat", strangers);
}

/* path count: going back to behind the count-th entry gives what came behind it before */
void call_seekdir(struct view *view, const int64_t *arguments, struct outcome *outcome)
{
    AUTO_LISTING struct listing first = {.entries = NULL};
    AUTO_LISTING struct listing again = {.entries = NULL};
    char path[VIEW_PATH_BYTES];
    AUTO_CLOSE int fd = -1;
    size_t begin = (size_t)arguments[1], same = 0;

    view_path(view, arguments[0], path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
    if (!outcome_result(outcome, fd < 0 ? -1 : 0))
        return;
    /* A buffer for one entry, so that there are many requests. */
    if (listing_read(fd, LISTING_BUFFER_SMALL, &first) < 0 || begin == 0 || begin >= first.count)
        return;
    if (!outcome_result(outcome, lseek(fd, first.entries[begin - 1].next, SEEK_SET) < 0 ? -1 : 0))
        return;
    if (strcmp(argument_path(arguments[0]), "shared/") == 0 ||
        listing_read(fd, LISTING_BUFFER_BYTES, &again) < 0)
        return;
    while (same < again.count && begin + same < first.count &&
           strcmp(again.entries[same].name, first.entries[begin + same].name) == 0)
        same++;
    outcome_value(outcome, "entries", (int64_t)first.count);
    outcome_value(outcome, "entries again", (int64_t)same);
}
