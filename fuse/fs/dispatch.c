/* The one wrapper around every operation, and libfuse's table, both from tally/ops.def. */
#include "fs/call.h"
#include "fs/context.h"
#include "fs/fs.h"
#include "fs/handlers.h"
#include "fs/path.h"
#include "fs/slow.h"
#include "stats/stats.h"

void call_about(struct call *call, fuse_ino_t ino)
{
    struct node *node;

    if (!call->split)
        return;
    if (ino == CONTROL_INO) {
        call->subject = PATH_CONTROL_SUBJECT;
        call->ino = CONTROL_INO;
        call->node_ops = NULL;
        call->tree = 0;
        return;
    }
    node = fs_node(call->fs, ino);
    call->subject = node->generation + 1;
    call->ino = inode_number(node->device, node->ino);
    call->node_ops = &node->ops;
    if (call->fs->trees)
        call->tree = atomic_load_explicit(&node->place, memory_order_relaxed).tree;
}

/* `ino`: the first inode that the operation names; 0: none. */
static void call_begin(struct call *call, fuse_req_t req, enum tally_op op, fuse_ino_t ino)
{
    struct fs *fs = fuse_req_userdata(req);

    *call = (struct call){.req = req, .fs = fs, .op = op};
    if (fs->stats) {
        call->thread = stats_thread(fs->stats);
        call->split = &call->times;
        call->began_ns = clock_ns();
        call->uid = fuse_req_ctx(req)->uid;
        call->pid = (uint32_t)fuse_req_ctx(req)->pid;
        call->nobody = op == TALLY_OP_forget || op == TALLY_OP_forget_multi;
        if (ino != 0)
            call_about(call, ino);
    }
}

/* The request is gone, and perhaps the inode. */
static void note_slow(struct fs *fs, const struct stats_sample *sample)
{
    AUTO_STRBUF struct strbuf path = STRBUF_INIT;

    path_describe(fs, NULL, sample->subject, sample->ino, &path);
    slow_log_add(fs->slow, sample, strbuf_take(&path));
    if (fs->slow_logged)
        fs_log_slow(fs, sample);
}

void call_end(struct call *call, int r)
{
    struct stats_sample sample;
    uint64_t slow_ns;

    if (r < 0)
        reply_error(call, -r);
    if (!call->split || call->deferred)
        return;
    sample = (struct stats_sample){
        .op = call->op,
        .error = call->error,
        .total_ns = clock_ns() - call->began_ns,
        .bytes = call->bytes,
        .requested_bytes = call->requested_bytes,
        .split = call->times,
        .subject = call->subject,
        .ino = call->ino,
        .tree = !call->fs->trees ? 0 : call->tree ? call->tree : STATS_TREE_OTHER,
        .uid = call->uid,
        .pid = call->pid,
        .nobody = call->nobody,
    };
    slow_ns = atomic_load_explicit(&call->fs->slow_ns, memory_order_relaxed);
    if (slow_ns && sample.total_ns >= slow_ns)
        note_slow(call->fs, &sample);
    if (call->thread)
        stats_record(call->thread, &sample);
}

#define SINCE_BASE(...) __VA_ARGS__
#if TALLY_FUSE_HAS_V318
#define SINCE_V318(...) __VA_ARGS__
#else
#define SINCE_V318(...)
#endif

/* The first of an operation's arguments if that is an inode. */
#define FIRST_INODE(first, ...) _Generic((first), fuse_ino_t: (first), default: 0)
#define SUBJECT(name, arguments)                                                                   \
    (TALLY_OP_##name == TALLY_OP_forget || TALLY_OP_##name == TALLY_OP_forget_multi ? 0 : FIRST_INODE arguments)

#define TALLY_OP(name, since, reply, doc, parameters, arguments)                                   \
    SINCE_##since(                                                                                 \
    static void operation_##name(fuse_req_t req, TALLY_UNPARENTHESISE parameters)                  \
    {                                                                                              \
        struct call call;                                                                          \
                                                                                                   \
        call_begin(&call, req, TALLY_OP_##name, SUBJECT(name, arguments));                                                   \
        call_end(&call, handle_##name(&call, TALLY_UNPARENTHESISE arguments));                     \
    })
#include "tally/ops.def"
#undef TALLY_OP

const struct fuse_lowlevel_ops *fs_operations(void)
{
    static const struct fuse_lowlevel_ops operations = {
        .init = fs_init,
        .destroy = fs_end,
#define TALLY_OP(name, since, reply, doc, parameters, arguments)                                   \
    SINCE_##since(.name = operation_##name, )
#include "tally/ops.def"
#undef TALLY_OP
    };

    return &operations;
}
