/*
 * Where generators put their files: counts, hashes and samples what goes through, reports progress,
 * and can take all of it back. Paths are relative to the corpus's directory.
 */
#ifndef TALLY_CORPUS_OUTPUT_H
#define TALLY_CORPUS_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "corpus/corpus.h"

struct corpus_output;

/* Makes the directory if it is absent and marks it unfinished. Errors as of corpus_generate. */
int output_open(const struct corpus_config *config, struct corpus_output **ret_output,
                char **ret_failed_path);

/* Starts the set that the following files belong to; `expected_bytes` only sets how densely it is
 * sampled. 0; -ENOMEM. */
int output_begin_set(struct corpus_output *output, const char *name, uint64_t expected_bytes);

/* Makes a directory whose parent exists. 0; -errno. */
int output_make_directory(struct corpus_output *output, const char *path);

/* A new file; at most one is open. 0; -errno. */
int output_begin_file(struct corpus_output *output, const char *path);

/* Adds to the open file. 0; -errno; -ECANCELED. */
int output_write(struct corpus_output *output, const void *bytes, size_t length);

/* Closes the open file. 0; -errno; -ECANCELED. */
int output_end_file(struct corpus_output *output);

/* Syncs, takes the mark away and tells the figures. 0; -errno. */
int output_finish(struct corpus_output *output, struct corpus_result *ret_result);

/* Removes everything that was made. The path that the last error was about goes to the caller, NULL
 * if there is none. */
void output_undo(struct corpus_output *output, char **ret_failed_path);

void output_free(struct corpus_output *output);

#endif
