/*
 * The OpenMetrics text format 1.0: families in one piece, counters end in _total, seconds, "# EOF" at the end. And the older
 * Prometheus text format 0.0.4, which differs in that a counter's family has its samples' name, and in having no units.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stats/field.h"
#include "stats/render.h"
#include "util/clock.h"

/*
 * Upper bounds of the histogram, 2^bits - 1 ns: bounds of our buckets, so that the numbers are exact. From 2 us to 4.3 s
 * by factors of eight.
 */
static const unsigned bound_bits[] = {11, 14, 17, 20, 23, 26, 29, 32};

#define BOUND_COUNT (sizeof(bound_bits) / sizeof(bound_bits[0]))

static void add_family(struct strbuf *out, const struct stats_detail *detail, const char *name, const char *type,
                       const char *unit, const char *help)
{
    const char *suffix = detail->prometheus && strcmp(type, "counter") == 0 ? "_total" : "";

    strbuf_printf(out, "# TYPE %s%s %s\n", name, suffix, type);
    if (unit && !detail->prometheus)
        strbuf_printf(out, "# UNIT %s %s\n", name, unit);
    strbuf_printf(out, "# HELP %s%s %s\n", name, suffix, help);
}

static void add_seconds(struct strbuf *out, uint64_t ns)
{
    strbuf_printf(out, "%" PRIu64 ".%09" PRIu64, ns / NS_PER_SECOND, ns % NS_PER_SECOND);
}

static void add_label(struct strbuf *out, const char *name, const char *value)
{
    strbuf_printf(out, "%s=\"", name);
    for (const char *at = value; *at; at++) {
        if (*at == '\\' || *at == '"')
            strbuf_printf(out, "\\%c", *at);
        else if (*at == '\n')
            strbuf_puts(out, "\\n");
        else
            strbuf_add(out, at, 1);
    }
    strbuf_puts(out, "\"");
}

static void add_mount(const struct stats_snapshot *snapshot, const struct stats_detail *detail, struct strbuf *out)
{
    add_family(out, detail, "tallyfs_mount_info", "gauge", NULL, "What is mounted, in the labels.");
    strbuf_puts(out, "tallyfs_mount_info{");
    add_label(out, "version", snapshot->version);
    strbuf_puts(out, ",");
    add_label(out, "lower", snapshot->lower);
    strbuf_puts(out, ",");
    add_label(out, "options", snapshot->options);
    strbuf_puts(out, "} 1\n");
    add_family(out, detail, "tallyfs_uptime_seconds", "gauge", "seconds", "Time since the mount.");
    strbuf_puts(out, "tallyfs_uptime_seconds ");
    add_seconds(out, snapshot->uptime_ns);
    strbuf_puts(out, "\n");
    add_family(out, detail, "tallyfs_epoch", "gauge", NULL,
               "Goes up by one with each reset of the counters.");
    strbuf_printf(out, "tallyfs_epoch %" PRIu64 "\n", snapshot->epoch);
    add_family(out, detail, "tallyfs_lost_operations", "counter", NULL,
               "Operations not counted for want of memory.");
    strbuf_printf(out, "tallyfs_lost_operations_total %" PRIu64 "\n", snapshot->lost);
}

static void add_gauges(const struct stats_snapshot *snapshot, const struct stats_detail *detail, struct strbuf *out)
{
    for (enum tally_gauge gauge = 0; gauge < TALLY_GAUGE_COUNT; gauge++) {
        bool is_counter = tally_gauge_is_counter(gauge);
        char name[64];

        snprintf(name, sizeof(name), "tallyfs_%s", tally_gauge_name(gauge));
        add_family(out, detail, name, is_counter ? "counter" : "gauge", tally_gauge_unit(gauge), tally_gauge_doc(gauge));
        strbuf_printf(out, "%s%s %" PRIu64 "\n", name, is_counter ? "_total" : "", snapshot->gauges[gauge]);
    }
}

/* A counter with one sample for each row of an array of counters. */
struct family {
    const char *name; /* without "tallyfs_" and "_total" */
    const char *unit;
    const char *help;
    const char *field;
};

static const struct family operation_families[] = {
    {"operations", NULL, "Requests answered, with those answered by an error.", "count"},
    {"operation_bytes", "bytes", "Moved by requests.", "bytes"},
    {"lower_seconds", "seconds", "In system calls on the lower file system.", "lower_ns"},
    {"codec_seconds", "seconds", "Compressing and decompressing, on the request's thread.",
     "codec_ns"},
    {"wait_seconds", "seconds", "Waiting for locks and queues inside tallyfs.", "wait_ns"},
    {"self_seconds", "seconds", "Own work of tallyfs: what is left of the time.", "self_ns"},
};

static const struct family background_families[] = {
    {"background_pieces", NULL, "Pieces of work that no request waits for.", "count"},
    {"background_errors", NULL, "Those that failed.", "errors"},
    {"background_bytes", "bytes", "Moved by them.", "bytes"},
    {"background_lower_seconds", "seconds", "In system calls on the lower file system.",
     "lower_ns"},
    {"background_codec_seconds", "seconds", "Compressing and decompressing.", "codec_ns"},
};

static void add_sample(const struct family *family, const char *label, const char *name,
                       const struct tally_op_counters *counters, struct strbuf *out)
{
    uint64_t value = stats_field_by_name(family->field)->value(counters);

    strbuf_printf(out, "tallyfs_%s_total{%s=\"%s\"} ", family->name, label, name);
    if (family->unit && strcmp(family->unit, "seconds") == 0)
        add_seconds(out, value);
    else
        strbuf_printf(out, "%" PRIu64, value);
    strbuf_puts(out, "\n");
}

static void begin_family(const struct family *family, const struct stats_detail *detail, struct strbuf *out)
{
    char name[64];

    snprintf(name, sizeof(name), "tallyfs_%s", family->name);
    add_family(out, detail, name, "counter", family->unit, family->help);
}

struct errors {
    const char *operation;
    struct strbuf *out;
};

static void add_error(void *user, const char *name, uint64_t count)
{
    const struct errors *errors = user;

    strbuf_printf(errors->out,
                  "tallyfs_operation_errors_total{op=\"%s\",errno=\"%s\"} %" PRIu64 "\n",
                  errors->operation, name, count);
}

static void add_latency(const char *operation, const struct tally_op_counters *counters,
                        struct strbuf *out)
{
    static const char name[] = "tallyfs_operation_latency_seconds";
    uint64_t below = 0;
    unsigned bucket = 0;

    for (size_t i = 0; i < BOUND_COUNT; i++) {
        uint64_t bound_ns = UINT64_C(1) << bound_bits[i];

        for (; tally_hist_low(bucket) < bound_ns; bucket++)
            below += counters->buckets[bucket];
        strbuf_printf(out, "%s_bucket{op=\"%s\",le=\"", name, operation);
        add_seconds(out, bound_ns - 1);
        strbuf_printf(out, "\"} %" PRIu64 "\n", below);
    }
    strbuf_printf(out, "%s_bucket{op=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, operation,
                  counters->count);
    strbuf_printf(out, "%s_count{op=\"%s\"} %" PRIu64 "\n", name, operation, counters->count);
    strbuf_printf(out, "%s_sum{op=\"%s\"} ", name, operation);
    add_seconds(out, counters->total_ns);
    strbuf_puts(out, "\n");
}

/* Bounds of buckets again: up to 511 bytes, a page less one, and on by factors of two. */
static const unsigned size_bits[] = {9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21};

static void add_sizes(const char *operation, const struct tally_op_counters *counters, struct strbuf *out)
{
    static const char name[] = "tallyfs_operation_request_bytes";
    uint64_t below = 0;
    unsigned bucket = 0;

    for (size_t i = 0; i < sizeof(size_bits) / sizeof(size_bits[0]); i++) {
        uint64_t bound = UINT64_C(1) << size_bits[i];

        for (; tally_size_low(bucket) < bound; bucket++)
            below += counters->sizes[bucket];
        strbuf_printf(out, "%s_bucket{op=\"%s\",le=\"%" PRIu64 ".0\"} %" PRIu64 "\n", name, operation, bound - 1,
                      below);
    }
    for (; bucket < TALLY_SIZE_BUCKETS; bucket++)
        below += counters->sizes[bucket];
    strbuf_printf(out, "%s_bucket{op=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, operation, below);
    strbuf_printf(out, "%s_count{op=\"%s\"} %" PRIu64 "\n", name, operation, below);
    strbuf_printf(out, "%s_sum{op=\"%s\"} %" PRIu64 "\n", name, operation, counters->requested_bytes);
}

void stats_render_openmetrics(const struct stats_snapshot *snapshot,
                              const struct stats_detail *detail, struct strbuf *out)
{
    add_mount(snapshot, detail, out);
    if (snapshot->gauges_known)
        add_gauges(snapshot, detail, out);
    for (size_t i = 0; i < sizeof(operation_families) / sizeof(operation_families[0]); i++) {
        begin_family(&operation_families[i], detail, out);
        for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
            if (snapshot->operations[op].count)
                add_sample(&operation_families[i], "op", tally_op_name(op),
                           &snapshot->operations[op], out);
    }
    add_family(out, detail, "tallyfs_operation_errors", "counter", NULL, "Requests answered by an error.");
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        struct errors errors = {.operation = tally_op_name(op), .out = out};

        stats_errors(&snapshot->operations[op], detail->errnos, add_error, &errors);
    }
    if (!snapshot->sums_only) {
        add_family(out, detail, "tallyfs_operation_latency_seconds", "histogram", "seconds",
                   "From the start of a request's handler to the reply written.");
        for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
            if (snapshot->operations[op].count)
                add_latency(tally_op_name(op), &snapshot->operations[op], out);
    }
    add_family(out, detail, "tallyfs_operation_request_bytes", "histogram", "bytes", "Asked for by reads and writes.");
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
        if (tally_op_has_sizes(op) && snapshot->operations[op].count)
            add_sizes(tally_op_name(op), &snapshot->operations[op], out);
    for (size_t i = 0; i < sizeof(background_families) / sizeof(background_families[0]); i++) {
        begin_family(&background_families[i], detail, out);
        for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++)
            add_sample(&background_families[i], "work", tally_background_name(work),
                       &snapshot->background[work], out);
    }
    if (!detail->prometheus)
        strbuf_puts(out, "# EOF\n");
}
