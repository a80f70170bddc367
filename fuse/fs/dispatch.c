/* The one wrapper around every operation, and libfuse's table, both from tally/ops.def. */
#include "fs/call.h"
#include "fs/context.h"
#include "fs/fs.h"
#include "stats/stats.h"

static void call_begin(struct call *call, fuse_req_t req, enum tally_op op)
{
    struct fs *fs = fuse_req_userdata(req);

    *call = (struct call){.req = req, .fs = fs, .op = op};
    if (fs->stats) {
        call->thread = stats_thread(fs->stats);
        call->split = &call->times;
        call->began_ns = clock_ns();
    }
}

void call_end(struct call *call, int r)
{
    struct stats_sample sample;

    if (r < 0)
        reply_error(call, -r);
    if (!call->split || call->deferred)
        return;
    sample = (struct stats_sample){
        .op = call->op,
        .error = call->error,
        .total_ns = clock_ns() - call->began_ns,
        .bytes = call->bytes,
        .split = call->times,
    };
    if (call->thread)
        stats_record(call->thread, &sample);
    if (call->fs->slow_ns && sample.total_ns >= call->fs->slow_ns)
        fs_log_slow(call->fs, &sample);
}

#define SINCE_BASE(...) __VA_ARGS__
#if TALLY_FUSE_HAS_V318
#define SINCE_V318(...) __VA_ARGS__
#else
#define SINCE_V318(...)
#endif

#define TALLY_OP(name, since, reply, doc, parameters, arguments)                                   \
    SINCE_##since(                                                                                 \
    static void operation_##name(fuse_req_t req, TALLY_UNPARENTHESISE parameters)                  \
    {                                                                                              \
        struct call call;                                                                          \
                                                                                                   \
        call_begin(&call, req, TALLY_OP_##name);                                                   \
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
