#include "listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int add(struct listing *listing, const struct dirent64 *record)
{
    struct entry *larger = realloc(listing->entries, (listing->count + 1) * sizeof(*larger));
    char *name = strdup(record->d_name);

    if (larger)
        listing->entries = larger;
    if (!larger || !name) {
        free(name);
        return -ENOMEM;
    }
    larger[listing->count++] = (struct entry){name, record->d_type, record->d_ino, record->d_off};
    return 0;
}

int listing_read(int fd, size_t buffer_bytes, struct listing *ret_listing)
{
    _Alignas(struct dirent64) char buffer[LISTING_BUFFER_BYTES];
    struct listing listing = {.entries = NULL};
    long filled;

    while ((filled = syscall(SYS_getdents64, fd, buffer, buffer_bytes)) > 0) {
        for (long at = 0; at < filled;) {
            const struct dirent64 *record = (const struct dirent64 *)(const void *)&buffer[at];

            if (add(&listing, record) < 0) {
                listing_free(&listing);
                return -ENOMEM;
            }
            at += record->d_reclen;
        }
    }
    if (filled < 0) {
        listing_free(&listing);
        return -errno;
    }
    *ret_listing = listing;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

void listing_sort(struct listing *listing)
{
    if (listing->count > 0)
        qsort(listing->entries, listing->count, sizeof(*listing->entries), by_name);
}

void listing_free(struct listing *listing)
{
    int saved = errno;

    for (size_t i = 0; i < listing->count; i++)
        free(listing->entries[i].name);
    free(listing->entries);
    *listing = (struct listing){.entries = NULL};
    errno = saved;
}
