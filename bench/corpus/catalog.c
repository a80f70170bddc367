#include "corpus/catalog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "util/endian.h"

int catalog_add(struct catalog *catalog, const char *path)
{
    struct catalog_file *file;

    if (catalog->count == catalog->capacity) {
        size_t capacity = catalog->capacity ? 2 * catalog->capacity : 64;
        struct catalog_file *files =
            reallocarray(catalog->files, capacity, sizeof(*catalog->files));

        if (!files)
            return -ENOMEM;
        catalog->files = files;
        catalog->capacity = capacity;
    }
    file = &catalog->files[catalog->count];
    *file = (struct catalog_file){.path = strdup(path)};
    if (!file->path)
        return -ENOMEM;
    catalog->count++;
    return 0;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(((const struct catalog_file *)left)->path,
                  ((const struct catalog_file *)right)->path);
}

void catalog_sort(struct catalog *catalog)
{
    if (catalog->count)
        qsort(catalog->files, catalog->count, sizeof(*catalog->files), compare_paths);
}

int catalog_digest(struct catalog *catalog, uint64_t *ret_hash)
{
    XXH3_state_t *state = XXH3_createState();

    if (!state)
        return -ENOMEM;
    XXH3_64bits_reset(state);
    catalog_sort(catalog);
    for (size_t i = 0; i < catalog->count; i++) {
        const struct catalog_file *file = &catalog->files[i];
        uint8_t numbers[16];

        store_le64(numbers, file->bytes);
        store_le64(numbers + 8, file->hash);
        XXH3_64bits_update(state, file->path, strlen(file->path) + 1);
        XXH3_64bits_update(state, numbers, sizeof(numbers));
    }
    *ret_hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return 0;
}

void catalog_free(struct catalog *catalog)
{
    for (size_t i = 0; i < catalog->count; i++)
        free(catalog->files[i].path);
    free(catalog->files);
    *catalog = (struct catalog){0};
}
