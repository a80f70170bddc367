/* The files of a corpus with their sizes and hashes, and the hash of them all. */
#ifndef TALLY_CORPUS_CATALOG_H
#define TALLY_CORPUS_CATALOG_H

#include <stddef.h>
#include <stdint.h>

struct catalog_file {
    char *path; /* relative; owned */
    uint64_t bytes;
    uint64_t hash; /* XXH3-64 of the contents */
};

struct catalog {
    struct catalog_file *files;
    size_t count;
    size_t capacity;
};

/* Adds a file, with a copy of its path. 0; -ENOMEM. */
int catalog_add(struct catalog *catalog, const char *path);

/* By path, in byte order. */
void catalog_sort(struct catalog *catalog);

/* Sorts, and hashes all files as corpus_result.hash tells. 0; -ENOMEM. */
int catalog_digest(struct catalog *catalog, uint64_t *ret_hash);

void catalog_free(struct catalog *catalog);

#endif
