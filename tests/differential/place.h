/* A tallyfs mount that is made and ended again and again. */
#ifndef TALLY_DIFFERENTIAL_PLACE_H
#define TALLY_DIFFERENTIAL_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/strbuf.h"

struct place {
    const char *tallyfs; /* the program; NULL: nothing is mounted */
    const char *lower, *mountpoint;
    const char *const *options; /* one string a mount, in turn */
    unsigned option_count;
    unsigned mounts; /* made so far */
    pid_t daemon;    /* 0 when nothing is mounted */
    int words;       /* a memfd: what the daemon writes to stderr */
    bool is_hasty;   /* waits less for descriptors to be closed: while a script is made short */
    int descriptors; /* that the daemon had open after mounting */
};

/* The options of the mount that is there, or of the next one. */
const char *place_options(const struct place *place);

/* 0, or -1 with a reason in `text`. */
int place_mount(struct place *place, struct strbuf *text);

/*
 * Unmounts and looks how the daemon ended: with status 0, in silence, and with no descriptor left open. 0, or -1 with
 * a reason in `text`; nothing is mounted afterwards in either case.
 */
int place_unmount(struct place *place, struct strbuf *text);

/* Ends what is there, whatever its state. */
void place_kill(struct place *place);

#endif
