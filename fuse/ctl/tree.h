/*
 * The regular files of some files and trees, each handed to a worker once, also when it has several names. Symbolic
 * links are followed where the user named one and nowhere else; directories of other file systems are not entered, and a
 * note says so.
 */
#ifndef TALLY_CTL_TREE_H
#define TALLY_CTL_TREE_H

#include <sys/stat.h>

#include "ctl/job.h"

struct tree_file {
    const char *path; /* for messages */
    const char *name; /* in the directory */
    int directory;    /* descriptor; the walk's own */
    int *fd;          /* open for reading; the worker may take it */
    struct stat attributes;
};

/* Called from several threads. */
typedef void tree_visit(void *user, struct job *job, const struct tree_file *file);

/* Visits all, until the job is stopped. What cannot be read fails the job with a message. */
void tree_walk(struct job *job, char **paths, int count, tree_visit *visit, void *user);

#endif
