/* The directories of one run. */
#ifndef TALLY_DIFFERENTIAL_FRESH_H
#define TALLY_DIFFERENTIAL_FRESH_H

/* Makes "shared" with a file for all, and for each thread "N/w" and "N/o". 0 or -errno. */
int fresh_make(const char *root, unsigned threads);

/* Removes a directory with all in it, whatever its modes and flags. 0 or -errno. */
int fresh_remove(const char *root);

#endif
