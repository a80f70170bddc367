#include "watch.h"

#include <string.h>

#define TICK_NS 12000000 /* more than the coarsest clock of a kernel, 100 Hz */

static void parent_of(const char *path, char ret_parent[VIEW_PATH_BYTES])
{
    char *slash;

    strcpy(ret_parent, path);
    slash = strrchr(ret_parent, '/');
    if (slash)
        *slash = '\0';
}

/* The directory that all threads share changes by itself. */
static bool is_quiet(int64_t path)
{
    return strncmp(argument_path(path), "shared/", 7) != 0;
}

void watch_begin(const struct view *view, const struct op *op, struct watch *ret_watch)
{
    const struct call_type *type = &call_types[op->call];
    unsigned count = 0;

    memset(ret_watch, 0, sizeof(*ret_watch));
    for (unsigned i = 0; i < ARGUMENTS_MAX && count < WATCHED_MAX; i++) {
        char path[VIEW_PATH_BYTES], parent[VIEW_PATH_BYTES];
        struct stat *attributes = &ret_watch->objects[count].attributes;

        if (type->arguments[i].kind == ARGUMENT_SLOT) {
            ret_watch->objects[count++].known =
                fstat(view->slots[op->arguments[i]], attributes) == 0;
        } else if (type->arguments[i].kind == ARGUMENT_PATH && is_quiet(op->arguments[i])) {
            view_path(view, op->arguments[i], path);
            parent_of(path, parent);
            ret_watch->objects[count++].known = lstat(path, attributes) == 0;
            if (count < WATCHED_MAX) {
                attributes = &ret_watch->objects[count].attributes;
                ret_watch->objects[count++].known = lstat(parent, attributes) == 0;
            }
        }
    }
}

void watch_wait(void)
{
    nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
}

static int64_t compare_times(struct timespec before, struct timespec after)
{
    if (before.tv_sec != after.tv_sec)
        return before.tv_sec < after.tv_sec ? 1 : -1;
    if (before.tv_nsec != after.tv_nsec)
        return before.tv_nsec < after.tv_nsec ? 1 : -1;
    return 0;
}

void watch_end(const struct view *view, const struct op *op, const struct watch *watch,
               struct outcome *outcome)
{
    static const char *const modified[WATCHED_MAX] = {
        "move of mtime of object 1", "move of mtime of object 2", "move of mtime of object 3",
        "move of mtime of object 4"};
    static const char *const changed[WATCHED_MAX] = {
        "move of ctime of object 1", "move of ctime of object 2", "move of ctime of object 3",
        "move of ctime of object 4"};
    struct watch now;

    watch_begin(view, op, &now);
    for (unsigned i = 0; i < WATCHED_MAX; i++) {
        const struct stat *a = &watch->objects[i].attributes, *b = &now.objects[i].attributes;

        if (!watch->objects[i].known || !now.objects[i].known || a->st_ino != b->st_ino || S_ISFIFO(a->st_mode))
            continue;
        outcome_value(outcome, modified[i], compare_times(a->st_mtim, b->st_mtim));
        outcome_value(outcome, changed[i], compare_times(a->st_ctim, b->st_ctim));
    }
}
