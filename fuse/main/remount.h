/*
 * "mount -o remount": changes the kernel's own flags of a mount that is there, such as ro. What tallyfs itself was told
 * when it was mounted stays.
 */
#ifndef TALLY_MAIN_REMOUNT_H
#define TALLY_MAIN_REMOUNT_H

#include <stdbool.h>

#include "util/log.h"

/* Flags of mount(2). */
struct remount {
    bool wanted;
    unsigned long set;
    unsigned long clear;
};

/* Notes an option of mount(8) that is such a flag; ignores others. */
void remount_note(struct remount *remount, const char *option);

/* 0 or -errno, after a message. */
int remount_do(const struct remount *remount, const char *mountpoint, const struct log *log);

#endif
