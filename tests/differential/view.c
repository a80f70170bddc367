#include "view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "util/cleanup.h"

call_function *const call_functions[CALL_COUNT] = {
#define CALL(name, weight, ...) call_##name,
#include "calls.def"
#undef CALL
};

void view_path(const struct view *view, int64_t path, char ret_path[VIEW_PATH_BYTES])
{
    static const char shared[] = "shared/";
    const char *relative = argument_path(path);

    if (relative[0] == '\0')
        ret_path[0] = '\0';
    else if (strcmp(relative, shared) == 0)
        snprintf(ret_path, VIEW_PATH_BYTES, "%s/shared", view->root);
    else if (strncmp(relative, shared, sizeof(shared) - 1) == 0)
        snprintf(ret_path, VIEW_PATH_BYTES, "%s/shared/%u.%s", view->root, view->thread,
                 relative + sizeof(shared) - 1);
    else
        snprintf(ret_path, VIEW_PATH_BYTES, "%s/%u/w/%s", view->root, view->thread, relative);
}

void view_shared_path(const struct view *view, char ret_path[VIEW_PATH_BYTES])
{
    snprintf(ret_path, VIEW_PATH_BYTES, "%s/shared/common", view->root);
}

int view_open(struct view *view)
{
    for (unsigned i = 0; i < SLOTS; i++)
        view->slots[i] = -1;
    memset(view->maps, 0, sizeof(view->maps));
    view->memory = memfd_create("differential", MFD_CLOEXEC);
    if (view->memory < 0)
        return -errno;
    if (ftruncate(view->memory, BUFFER_BYTES) < 0)
        return -errno;
    view->buffer = aligned_alloc(4096, BUFFER_BYTES);
    return view->buffer ? 0 : -ENOMEM;
}

void view_close_files(struct view *view)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        cleanup_close(&view->slots[i]);
        view->slots[i] = -1;
    }
    for (unsigned i = 0; i < MAPS; i++) {
        if (view->maps[i].at) {
            munmap(view->maps[i].at, view->maps[i].size);
            close(view->maps[i].fd);
        }
        view->maps[i] = (struct mapping){.fd = -1};
    }
}

void view_close(struct view *view)
{
    view_close_files(view);
    cleanup_close(&view->memory);
    free(view->buffer);
    view->buffer = NULL;
}
