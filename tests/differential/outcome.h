/* What a call on one side came to: its result, named values, and bytes. */
#ifndef TALLY_DIFFERENTIAL_OUTCOME_H
#define TALLY_DIFFERENTIAL_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "util/strbuf.h"

#define OUTCOME_VALUES_MAX 32

struct outcome {
    long result;
    int error; /* errno where result is negative */
    struct {
        const char *name;
        int64_t value;
    } values[OUTCOME_VALUES_MAX];
    size_t count;
    struct strbuf text;  /* names, one a line */
    unsigned char *data; /* bytes that were read; not owned */
    size_t size;
};

/* A result of a system call; takes errno where it is negative. Returns whether it succeeded. */
bool outcome_result(struct outcome *outcome, long result);

void outcome_value(struct outcome *outcome, const char *name, int64_t value);

/* Everything in `attributes` that must be the same on both sides. */
void outcome_attributes(struct outcome *outcome, const struct stat *attributes);

/* Begins again; keeps `data`. */
void outcome_reset(struct outcome *outcome);

/*
 * A time as both sides must agree on it: one that a program has set is exact; one that the file system took from the
 * clock is "now". The times that the tests set are more than a day away.
 */
int64_t outcome_time(struct timespec time);

#endif
