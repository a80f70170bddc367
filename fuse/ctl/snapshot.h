/* What a mount has counted, at one moment or between two. */
#ifndef TALLY_CTL_SNAPSHOT_H
#define TALLY_CTL_SNAPSHOT_H

#include "stats/render.h"

struct snapshot {
    struct stats_snapshot counters; /* its texts are the three below */
    char *version, *lower, *options;
};

void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

/* NULL when memory is out. */
struct snapshot *snapshot_copy(const struct snapshot *snapshot);

static inline void cleanup_snapshot(struct snapshot **snapshot)
{
    snapshot_free(*snapshot);
}
#define AUTO_SNAPSHOT __attribute__((cleanup(cleanup_snapshot)))

/* A long enough room for a reason. */
#define SNAPSHOT_REASON_BYTES 200

/*
 * Reads stats.json or what `tallyctl stat --json` printed; the latter has histograms, without which it is
 * sums_only. 0; -EINVAL with a reason for text that is neither; -ENOMEM.
 */
int snapshot_parse(const char *text, char ret_reason[static SNAPSHOT_REASON_BYTES],
                   struct snapshot **ret_snapshot);

/* One operation's JSON object (op.NAME) with its histogram. 0; -EINVAL. */
int snapshot_parse_operation(const char *text, struct tally_op_counters *ret_counters);

/*
 * Reads a live mount: all counters of one epoch, each operation consistent in itself. 0; -ENODATA with stats=off;
 * -EPROTO for what this program does not understand; other -errno.
 */
int snapshot_read(const char *mount, struct snapshot **ret_snapshot);

/*
 * Takes `earlier` off `snapshot`, which then covers the time between the two. Percentiles and extremes come from the
 * difference of histograms, so that the extremes are bounds of buckets; without histograms in both, the difference is
 * sums_only. NULL, or why the two have no difference: a static text; `snapshot` is then undefined.
 */
const char *snapshot_subtract(struct snapshot *snapshot, const struct snapshot *earlier);

/* Clears all operations but those chosen. */
void snapshot_keep(struct snapshot *snapshot, const bool chosen[static TALLY_OP_COUNT]);

#endif
