/*
 * One run of a subcommand over many files: how far it is, shown on a terminal, and whether it was asked to stop. SIGINT
 * and SIGTERM ask for it: what is being written is finished, what is only being read is not.
 */
#ifndef TALLY_CTL_JOB_H
#define TALLY_CTL_JOB_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/log.h"

struct job {
    const struct log *log;
    const char *verb; /* "checked" */
    _Atomic bool stop;
    _Atomic bool done;
    _Atomic bool failed; /* a message was given for it */
    _Atomic uint64_t files, bytes;
    pthread_mutex_t
        output; /* around each message, so that they do not mix with one another and the progress */
    pthread_t ticker;
    uint64_t began_ns;
    sigset_t signals, before;
    bool shows_progress;
};

/* Call before threads are made. 0 or -errno. */
int job_begin(struct job *job, const struct log *log, const char *verb);

/* Says so where it was stopped, which counts as failed. */
void job_end(struct job *job);

/* A line on standard output. */
void job_print(struct job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A message on standard error; the job has failed. */
void job_fail(struct job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, and the job has not failed by it. */
void job_note(struct job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
