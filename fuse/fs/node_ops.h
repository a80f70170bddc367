/*
 * The operations on one inode or open file, for user.tallyfs.file.ops. Counted just before the reply: after it the inode
 * may be gone. Any number of threads may add at a time, which is why reads and writes, the many, count in what is open, and
 * only the rest in the node.
 */
#ifndef TALLY_FS_NODE_OPS_H
#define TALLY_FS_NODE_OPS_H

#include <stdatomic.h>
#include <stdint.h>

#include "util/split.h"

struct node_ops {
    _Atomic uint64_t count;
    _Atomic uint64_t errors;
    _Atomic uint64_t bytes;
    _Atomic uint64_t total_ns; /* until the last part that was timed, as of struct split */
    _Atomic uint64_t lower_ns;
    _Atomic uint64_t codec_ns;
    _Atomic uint64_t wait_ns;
};

static inline void node_ops_add(_Atomic uint64_t *to, uint64_t amount)
{
    if (amount)
        atomic_fetch_add_explicit(to, amount, memory_order_relaxed);
}

static inline void node_ops_join(struct node_ops *to, const struct node_ops *from)
{
    node_ops_add(&to->count, from->count);
    node_ops_add(&to->errors, from->errors);
    node_ops_add(&to->bytes, from->bytes);
    node_ops_add(&to->total_ns, from->total_ns);
    node_ops_add(&to->lower_ns, from->lower_ns);
    node_ops_add(&to->codec_ns, from->codec_ns);
    node_ops_add(&to->wait_ns, from->wait_ns);
}

#endif
