/* Directories that the program has made. */
#ifndef TALLY_BENCH_STORE_TREE_H
#define TALLY_BENCH_STORE_TREE_H

/* Removes a directory with all that is in it, as far as it can be. */
void tree_remove(const char *directory);

#endif
