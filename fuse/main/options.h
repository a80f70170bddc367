/* The command line. One table of options yields parsing, ranges, defaults and the help text. */
#ifndef TALLY_MAIN_OPTIONS_H
#define TALLY_MAIN_OPTIONS_H

#include "fs/fs.h"
#include "fs/libfuse.h"
#include "remount.h"
#include "util/strbuf.h"

struct options {
    char *lower;      /* as given; owned */
    char *mountpoint; /* as given; owned */
    struct fs_config fs; /* its control name points into `control` */
    char *control;
    double attr_timeout_s;  /* negative: not given, follows the cache mode */
    double entry_timeout_s;
    unsigned threads;
    struct remount remount;
    bool io_uring;
    bool foreground;
    bool debug;
    bool help;
    bool version;
    bool fsname_given;
    bool subtype_given;
    struct strbuf given;      /* all -o, joined by commas */
    struct fuse_args libfuse; /* what is libfuse's business; argv[0] is the program */
};

#define OPTIONS_INIT {.libfuse = FUSE_ARGS_INIT(0, NULL)}

/*
 * 0; -EINVAL for wrong usage, after a message that names it; -ENOMEM. `options` must be freed in any case.
 */
int options_parse(int argc, char *argv[], const struct log *log, struct options *options);
void options_free(struct options *options);

/* For -h, to stdout. */
void options_help(void);

#endif
