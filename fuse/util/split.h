/*
 * Where the time of one operation goes. The operation's wrapper owns one `struct split` on its stack and every
 * layer below adds to it: a system call on the lower file system to lower_ns, compressing and decompressing to
 * codec_ns, waiting for a lock or for another thread's work to wait_ns. What is left of the operation's total is
 * tallyfs' own work. The parts never overlap: time a call where it is made, not around a caller of it.
 *
 * A NULL split means that nobody counts (stats=off, background work without a counter): no clock is read then.
 */
#ifndef TALLY_UTIL_SPLIT_H
#define TALLY_UTIL_SPLIT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "util/clock.h"

struct split {
    uint64_t lower_ns;
    uint64_t codec_ns;
    uint64_t wait_ns;
    uint64_t ended_ns; /* when the last part ended, by clock_ns; 0: there was none */
};

static inline uint64_t split_begin(const struct split *split)
{
    return split ? clock_ns() : 0;
}

static inline uint64_t split_end(struct split *split, uint64_t began_ns)
{
    split->ended_ns = clock_ns();
    return split->ended_ns - began_ns;
}

static inline void split_end_lower(struct split *split, uint64_t began_ns)
{
    if (split)
        split->lower_ns += split_end(split, began_ns);
}

static inline void split_end_codec(struct split *split, uint64_t began_ns)
{
    if (split)
        split->codec_ns += split_end(split, began_ns);
}

static inline void split_end_wait(struct split *split, uint64_t began_ns)
{
    if (split)
        split->wait_ns += split_end(split, began_ns);
}

/*
 * Times one system call on the lower file system. Yields its result, or -errno where the call returned a
 * negative value. The one way by which layers above the backends may touch the lower file system.
 */
#define LOWER(counted, call)                                                                       \
    __extension__({                                                                                \
        struct split *split_ = (counted);                                                          \
        uint64_t began_ns_ = split_begin(split_);                                                  \
        __typeof__(call) result_ = (call);                                                         \
        if (result_ < 0)                                                                           \
            result_ = (__typeof__(call))-errno;                                                    \
        split_end_lower(split_, began_ns_);                                                        \
        result_;                                                                                   \
    })

#endif
