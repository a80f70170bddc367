/* Two trees side by side: what a manifest of contents does not show. */
#ifndef TALLY_BENCH_TREE_COMPARE_H
#define TALLY_BENCH_TREE_COMPARE_H

#include "reason.h"

/*
 * Compares all entries below `copy` with those below `original`: names, types and the targets of symbolic links.
 * Sockets are left out, which no program copies. Permissions are not looked at: they depend on the umask, on default
 * ACLs, and on whether the file system has any. 0; -EILSEQ with the reason naming the first that differs; -ECANCELED;
 * -errno with a reason.
 */
int tree_compare(const char *original, const char *copy, struct reason *reason);

#endif
