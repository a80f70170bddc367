/*
 * A script: the calls of a test, by several threads, in one list. A script is drawn from a seed, or read from text:
 *
 *     threads 2
 *     0: open slot=3 path=d/a flags=O_CREAT|O_RDWR mode=0644
 *     1: rename path=a to=b watched
 *     remount
 *
 * The calls of one thread run in their order. All threads come to a "remount" before any goes on. "watched" also
 * compares how the call moves times. Empty lines and what follows a # are skipped.
 */
#ifndef TALLY_DIFFERENTIAL_SCRIPT_H
#define TALLY_DIFFERENTIAL_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "argument.h"

#define ARGUMENTS_MAX 6
#define THREADS_MAX 16

enum call_id {
#define CALL(name, weight, ...) CALL_##name,
#include "calls.def"
#undef CALL
    CALL_COUNT,
    CALL_REMOUNT = CALL_COUNT
};

struct call_type {
    const char *name;
    unsigned weight;
    struct {
        enum argument_kind kind;
        const char *label;
    } arguments[ARGUMENTS_MAX];
};

extern const struct call_type call_types[CALL_COUNT];

struct op {
    unsigned short call; /* enum call_id */
    unsigned char thread;
    bool watched;
    int64_t arguments[ARGUMENTS_MAX];
};

struct script {
    struct op *ops; /* owned */
    size_t count;
    unsigned threads;
};

struct script_shape {
    unsigned threads;
    unsigned phases;     /* between which there is a remount */
    unsigned operations; /* of each thread in a phase */
};

/* 0 or -ENOMEM. */
int script_draw(uint64_t seed, const struct script_shape *shape, struct script *ret_script);

/* A copy of the calls for which keep[i] is set. 0 or -ENOMEM. */
int script_select(const struct script *script, const bool *keep, struct script *ret_script);

/* 0; -EINVAL, with *ret_line the number of the line that is wrong; -ENOMEM. */
int script_read(FILE *from, struct script *ret_script, unsigned *ret_line);

/* One line without its end. */
void script_print_op(const struct op *op, struct strbuf *to);

/* 0 or -EIO. */
int script_write(const struct script *script, FILE *to);

void script_free(struct script *script);

#define AUTO_SCRIPT __attribute__((cleanup(script_free)))

#endif
