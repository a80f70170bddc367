/* What a file has beside its contents, kept over a change of how they are stored. */
#ifndef TALLY_CTL_KEEP_H
#define TALLY_CTL_KEEP_H

#include <stddef.h>
#include <sys/stat.h>

#define KEEP_CAPABILITY_BYTES_MAX 64

/* Of a file that is changed in place. */
struct kept {
    struct stat attributes;
    char capability[KEEP_CAPABILITY_BYTES_MAX];
    long capability_size; /* negative: none */
};

/* 0 or -errno. */
int keep_take(int fd, struct kept *ret_kept);

/* Times, and the mode and capability that writing takes away. 0 or -errno, after all was tried. */
int keep_give_back(int fd, const struct kept *kept);

/*
 * Gives one file all that another has: owner, mode, ACLs and other extended attributes, inode flags, times; without the
 * mark of a plain file. 0 or -errno.
 */
int keep_copy(int from, int to);

#endif
