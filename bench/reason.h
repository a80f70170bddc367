/* Why something failed, in words for people: names the file or the program. */
#ifndef TALLY_BENCH_REASON_H
#define TALLY_BENCH_REASON_H

struct reason {
    char text[512]; /* cut when longer; empty when nothing was told */
};

/* Sets the text. Returns `error`, so that a failing function can end with it. */
int reason_set(struct reason *reason, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "PATH: what errno `error` (negative) means". Returns `error`. */
int reason_path(struct reason *reason, int error, const char *path);

#endif
