/* Running a script on both sides and comparing them after each call. */
#ifndef TALLY_DIFFERENTIAL_RUN_H
#define TALLY_DIFFERENTIAL_RUN_H

#include <stdatomic.h>

#include "place.h"
#include "rules.h"
#include "script.h"

struct trial {
    const char *left, *right; /* directories, in which each run makes one of its own */
    struct place place;       /* what is mounted on `left` */
    struct traits traits;
    int left_out; /* a call that is not made on the left, to see that it is found; CALL_COUNT: none */
    unsigned runs; /* so far, which names the directories */
    struct {
        atomic_ulong made, failed; /* on the right */
    } statistics[CALL_COUNT];
};

struct difference {
    size_t index; /* of the call; the script's count: found at the end */
    unsigned short call;
    const char *field; /* a literal */
    struct strbuf text;
};

/*
 * One run in fresh directories, by as many threads as the script has or, where it `is_sequential`, by one that makes
 * all calls in their order. 1 with a difference, which the caller frees; 0; -1 when the run cannot be made, with the
 * reason in the text.
 */
int run_script(struct trial *trial, const struct script *script, bool is_sequential,
               struct difference *ret_difference);

#endif
