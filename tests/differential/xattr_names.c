#include "xattr_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "util/cleanup.h"

#define LIST_BYTES_MAX 65536 /* Linux' XATTR_LIST_MAX */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int xattr_names(const char *path, bool follow, struct strbuf *to)
{
    AUTO_FREE char *list = malloc(LIST_BYTES_MAX);
    AUTO_FREE char **names = NULL;
    size_t count = 0;
    ssize_t size;

    if (!list)
        return -ENOMEM;
    size = follow ? listxattr(path, list, LIST_BYTES_MAX) : llistxattr(path, list, LIST_BYTES_MAX);
    if (size < 0)
        return -errno;
    names = calloc((size_t)size + 1, sizeof(*names));
    if (!names)
        return -ENOMEM;
    for (char *name = list; name < list + size; name += strlen(name) + 1)
        names[count++] = name;
    qsort(names, count, sizeof(*names), by_text);
    for (size_t i = 0; i < count; i++)
        strbuf_printf(to, "%s\n", names[i]);
    return 0;
}
