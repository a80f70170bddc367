#include <inttypes.h>

#include "stats/render.h"

static double percentile_us(const struct tally_op_counters *counters, unsigned permille)
{
    return (double)tally_hist_percentile(counters->buckets, counters->count, permille,
                                         counters->min_ns, counters->max_ns) /
           1e3;
}

static void add_row(const char *name, const struct tally_op_counters *counters, struct strbuf *out)
{
    double per_us = (double)counters->count * 1e3;

    strbuf_printf(out,
                  "%-16s %10" PRIu64 " %8" PRIu64 " %14" PRIu64
                  " %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f\n",
                  name, counters->count, counters->errors, counters->bytes,
                  (double)counters->total_ns / per_us, percentile_us(counters, 500),
                  percentile_us(counters, 990), (double)counters->max_ns / 1e3,
                  (double)counters->lower_ns / per_us, (double)counters->codec_ns / per_us,
                  (double)counters->wait_ns / per_us);
}

void stats_render_table(const struct stats_snapshot *snapshot, struct strbuf *out)
{
    strbuf_printf(
        out, "tallyfs %s over %s (%s), epoch %" PRIu64 "; times in us, lower to wait are means\n",
        snapshot->version, snapshot->lower, snapshot->options[0] ? snapshot->options : "no options",
        snapshot->epoch);
    strbuf_printf(out, "%-16s %10s %8s %14s %9s %9s %9s %9s %9s %9s %9s\n", "operation", "count",
                  "errors", "bytes", "mean", "p50", "p99", "max", "lower", "codec", "wait");
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
        if (snapshot->operations[op].count)
            add_row(tally_op_name(op), &snapshot->operations[op], out);
}
