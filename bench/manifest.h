/* The contents of a tree by checksum: what was given to a workload, and what came back. */
#ifndef TALLY_BENCH_MANIFEST_H
#define TALLY_BENCH_MANIFEST_H

#include "corpus/catalog.h"
#include "reason.h"

/*
 * Reads all regular files below `directory` into `ret_manifest` (sorted by path, with XXH3-64 of the contents), for the
 * caller to catalog_free. 0; -ECANCELED; -errno with the reason naming the path.
 */
int manifest_read(const char *directory, struct catalog *ret_manifest, struct reason *reason);

/*
 * Compares the tree with `expected`: same names, sizes and contents. 0; -EILSEQ with the reason naming the first file
 * that differs, is missing or was not there; else as above.
 */
int manifest_verify(const char *directory, const struct catalog *expected, struct reason *reason);

/* Asks the kernel to forget what it has of the files' contents; needs no rights. Files that cannot be opened are left.
 */
void manifest_forget(const char *directory, const struct catalog *manifest);

#endif
