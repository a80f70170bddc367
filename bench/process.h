/* Runs the real programs of a workload and tells what they took. */
#ifndef TALLY_BENCH_PROCESS_H
#define TALLY_BENCH_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "reason.h"

struct process_stage {
    const char *const *arguments; /* ends in NULL; the program is looked up in PATH */
    const char *directory;        /* where it runs */
};

#define PROCESS_MAX_STAGES 2

struct process_plan {
    struct process_stage stages[PROCESS_MAX_STAGES]; /* a pipe between them */
    size_t count;
    bool uninterrupted; /* also after a signal; at most some seconds then */
    bool drain; /* the last one's output goes through a pipe and is discarded; else to /dev/null */
};

/* All in seconds; user and system are the children's own, as wait4(2) tells. */
struct process_usage {
    double wall_s, user_s, system_s;
};

/*
 * Runs the plan in the C locale, in process groups of its own, until all of it has ended, and adds to *usage. Input is
 * /dev/null. 0; -ECANCELED when a signal came, everything ended; -EIO when a program failed: the reason is its first
 * line on stderr, or its status; -errno when it could not be started.
 */
int process_run(const struct process_plan *plan, struct process_usage *usage,
                struct reason *reason);

/* The first line in what a program wrote to its stderr file, into `line`; empty when there is none. */
void process_first_line(int stderr_fd, char *line, size_t size);

/* "exit status 1", "killed by signal 9". */
void process_status_text(int status, char *text, size_t size);

/* A descriptor that becomes readable when the child ends; -errno. */
int process_pidfd(pid_t pid);

#endif
