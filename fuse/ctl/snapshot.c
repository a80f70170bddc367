#include "ctl/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/mount.h"
#include "util/cleanup.h"

/* How often a mount may be reset while it is read. */
#define READ_ATTEMPTS 8

void snapshot_free(struct snapshot *snapshot)
{
    if (!snapshot)
        return;
    free(snapshot->version);
    free(snapshot->lower);
    free(snapshot->options);
    free(snapshot);
}

struct snapshot *snapshot_copy(const struct snapshot *snapshot)
{
    AUTO_SNAPSHOT struct snapshot *copy = malloc(sizeof(*copy));

    if (!copy)
        return NULL;
    copy->counters = snapshot->counters;
    copy->counters.version = copy->version = strdup(snapshot->version);
    copy->counters.lower = copy->lower = strdup(snapshot->lower);
    copy->counters.options = copy->options = strdup(snapshot->options);
    return copy->version && copy->lower && copy->options ? TAKE_POINTER(copy) : NULL;
}

/* Every operation that was used, again and with its histogram: the two are of one moment. */
static int read_operations(const char *mount, struct stats_snapshot *counters)
{
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        AUTO_FREE char *text = NULL;
        char name[64];
        int r;

        if (!counters->operations[op].count)
            continue;
        snprintf(name, sizeof(name), "op.%s", tally_op_name(op));
        r = mount_get(mount, name, &text);
        if (r < 0)
            return r;
        if (snapshot_parse_operation(text, &counters->operations[op]) < 0)
            return -EPROTO;
    }
    counters->sums_only = false;
    return 0;
}

static int read_epoch(const char *mount, uint64_t *ret_epoch)
{
    AUTO_FREE char *text = NULL;
    int r = mount_get(mount, "epoch", &text);

    if (r == 0)
        *ret_epoch = strtoull(text, NULL, 10);
    return r;
}

static int read_once(const char *mount, bool *ret_whole, struct snapshot **ret_snapshot)
{
    AUTO_SNAPSHOT struct snapshot *snapshot = NULL;
    AUTO_FREE char *text = NULL;
    char reason[SNAPSHOT_REASON_BYTES];
    uint64_t epoch = 0;
    int r = mount_get(mount, "stats.json", &text);

    if (r == 0)
        r = snapshot_parse(text, reason, &snapshot);
    if (r < 0)
        return r == -EINVAL ? -EPROTO : r;
    r = read_operations(mount, &snapshot->counters);
    if (r == 0)
        r = read_epoch(mount, &epoch);
    if (r < 0)
        return r;
    *ret_whole = epoch == snapshot->counters.epoch;
    if (*ret_whole)
        *ret_snapshot = TAKE_POINTER(snapshot);
    return 0;
}

int snapshot_read(const char *mount, struct snapshot **ret_snapshot)
{
    for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
        bool whole = false;
        int r = read_once(mount, &whole, ret_snapshot);

        if (r < 0 || whole)
            return r;
    }
    return -EAGAIN;
}

/* False where something went down. */
static bool take_off(uint64_t *later, const uint64_t *earlier, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (later[i] < earlier[i])
            return false;
        later[i] -= earlier[i];
    }
    return true;
}

/* The bounds of the buckets that are used, never wider than the extremes since the reset. */
static void find_extremes(struct tally_op_counters *counters)
{
    uint64_t min_ns = counters->min_ns, max_ns = counters->max_ns;
    unsigned first = 0, last = TALLY_HIST_OVERFLOW;

    counters->min_ns = counters->max_ns = 0;
    if (!counters->count)
        return;
    while (first < last && !counters->buckets[first])
        first++;
    while (last > first && !counters->buckets[last])
        last--;
    counters->min_ns = tally_hist_low(first) > min_ns ? tally_hist_low(first) : min_ns;
    counters->max_ns = last < TALLY_HIST_OVERFLOW && tally_hist_low(last + 1) - 1 < max_ns
                           ? tally_hist_low(last + 1) - 1
                           : max_ns;
}

static bool subtract_counters(struct tally_op_counters *later,
                              const struct tally_op_counters *earlier, bool sums_only)
{
    /* Errnos are left out of the comparison: which of them are named may differ between two snapshots. */
    for (size_t i = 0; i < TALLY_ERRNO_SLOTS; i++) {
        uint64_t before = earlier->errors_by_errno[i];

        later->errors_by_errno[i] -=
            before < later->errors_by_errno[i] ? before : later->errors_by_errno[i];
    }
    if (!take_off(&later->count, &earlier->count, 1) ||
        !take_off(&later->errors, &earlier->errors, 1) ||
        !take_off(&later->bytes, &earlier->bytes, 1) ||
        !take_off(&later->total_ns, &earlier->total_ns, 1) ||
        !take_off(&later->lower_ns, &earlier->lower_ns, 1) ||
        !take_off(&later->codec_ns, &earlier->codec_ns, 1) ||
        !take_off(&later->wait_ns, &earlier->wait_ns, 1))
        return false;
    if (sums_only)
        return true;
    if (!take_off(later->buckets, earlier->buckets, TALLY_HIST_BUCKETS))
        return false;
    find_extremes(later);
    return true;
}

const char *snapshot_subtract(struct snapshot *snapshot, const struct snapshot *earlier)
{
    struct stats_snapshot *later = &snapshot->counters;
    const struct stats_snapshot *before = &earlier->counters;
    bool grown = true;

    if (strcmp(snapshot->lower, earlier->lower) != 0)
        return "it is of a mount over another directory";
    if (later->uptime_ns < before->uptime_ns)
        return "it is of an earlier mount";
    if (later->epoch != before->epoch)
        return "the counters have been reset since";
    later->sums_only |= before->sums_only;
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
        grown &=
            subtract_counters(&later->operations[op], &before->operations[op], later->sums_only);
    for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++)
        grown &= subtract_counters(&later->background[work], &before->background[work], true);
    grown &= take_off(&later->lost, &before->lost, 1);
    later->interval_ns = later->uptime_ns - before->uptime_ns;
    return grown ? NULL : "it is not an earlier snapshot of this mount";
}

void snapshot_keep(struct snapshot *snapshot, const bool chosen[static TALLY_OP_COUNT])
{
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
        if (!chosen[op])
            memset(&snapshot->counters.operations[op], 0,
                   sizeof(snapshot->counters.operations[op]));
}
