#include <inttypes.h>

#include "stats/field.h"
#include "stats/render.h"

struct members {
    struct strbuf *out;
    bool started;
};

static void begin_member(struct members *members, const char *name)
{
    strbuf_printf(members->out, "%s\"%s\":", members->started ? "," : "", name);
    members->started = true;
}

static void add_number(void *user, const char *name, uint64_t value)
{
    struct members *members = user;

    begin_member(members, name);
    strbuf_printf(members->out, "%" PRIu64, value);
}

static void add_text(struct members *members, const char *name, const char *text)
{
    begin_member(members, name);
    strbuf_json_string(members->out, text);
}

/* [[low, count], …]: the bucket's least value; the overflow bucket's is 2^40. */
static void add_histogram(const struct tally_op_counters *counters, struct strbuf *out)
{
    const char *separator = "";

    strbuf_puts(out, "[");
    for (unsigned i = 0; i < TALLY_HIST_BUCKETS; i++) {
        if (!counters->buckets[i])
            continue;
        strbuf_printf(out, "%s[%" PRIu64 ",%" PRIu64 "]", separator, tally_hist_low(i),
                      counters->buckets[i]);
        separator = ",";
    }
    strbuf_puts(out, "]");
}

/* The same of the sizes of requests. */
static void add_sizes(const struct tally_op_counters *counters, struct strbuf *out)
{
    const char *separator = "";

    strbuf_puts(out, "[");
    for (unsigned i = 0; i < TALLY_SIZE_BUCKETS; i++) {
        if (!counters->sizes[i])
            continue;
        strbuf_printf(out, "%s[%" PRIu64 ",%" PRIu64 "]", separator, tally_size_low(i), counters->sizes[i]);
        separator = ",";
    }
    strbuf_puts(out, "]");
}

static bool has_sizes(const struct tally_op_counters *counters)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < TALLY_SIZE_BUCKETS; i++)
        count += counters->sizes[i];
    return count > 0;
}

void stats_render_operation(const struct tally_op_counters *counters, bool sums_only,
                            const struct stats_detail *detail, struct strbuf *out)
{
    struct members members = {.out = out};
    struct members errors = {.out = out};
    const struct stats_field *field;

    strbuf_puts(out, "{");
    for (size_t i = 0; (field = stats_field_at(i)); i++) {
        begin_member(&members, field->name);
        if (sums_only && field->of_distribution)
            strbuf_puts(out, "null");
        else
            strbuf_printf(out, "%" PRIu64, field->value(counters));
    }
    begin_member(&members, "errors_by_errno");
    strbuf_puts(out, "{");
    stats_errors(counters, detail->errnos, add_number, &errors);
    strbuf_puts(out, "}");
    if (has_sizes(counters)) {
        add_number(&members, "requested_bytes", counters->requested_bytes);
        begin_member(&members, "sizes_bytes");
        add_sizes(counters, out);
    }
    if (detail->histograms && !sums_only) {
        begin_member(&members, "histogram_ns");
        add_histogram(counters, out);
    }
    strbuf_puts(out, "}");
}

void stats_render_background(const struct tally_op_counters *counters, struct strbuf *out)
{
    struct members members = {.out = out};

    strbuf_puts(out, "{");
    add_number(&members, "count", counters->count);
    add_number(&members, "errors", counters->errors);
    add_number(&members, "bytes", counters->bytes);
    add_number(&members, "total_ns", counters->total_ns);
    add_number(&members, "lower_ns", counters->lower_ns);
    add_number(&members, "codec_ns", counters->codec_ns);
    add_number(&members, "wait_ns", counters->wait_ns);
    strbuf_puts(out, "}");
}

/* Of all operations together. */
static void add_errors(const struct stats_snapshot *snapshot, struct members *members)
{
    struct tally_op_counters all = {0};
    struct members errors = {.out = members->out};

    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        for (size_t i = 0; i < TALLY_ERRNO_SLOTS; i++)
            all.errors_by_errno[i] += snapshot->operations[op].errors_by_errno[i];
    }
    begin_member(members, "errors_by_errno");
    strbuf_puts(members->out, "{");
    stats_errors(&all, TALLY_ERRNO_SLOTS, add_number, &errors);
    strbuf_puts(members->out, "}");
}

static void add_gauges(const struct stats_snapshot *snapshot, struct members *members)
{
    struct members gauges = {.out = members->out};

    begin_member(members, "gauges");
    strbuf_puts(members->out, "{");
    for (enum tally_gauge gauge = 0; gauge < TALLY_GAUGE_COUNT; gauge++)
        add_number(&gauges, tally_gauge_name(gauge), snapshot->gauges[gauge]);
    strbuf_puts(members->out, "}");
}

void stats_render_json(const struct stats_snapshot *snapshot, const struct stats_detail *detail,
                       struct strbuf *out)
{
    struct members members = {.out = out};
    struct members operations = {.out = out};
    struct members background = {.out = out};

    strbuf_puts(out, "{");
    add_number(&members, "schema", TALLY_STATS_SCHEMA);
    add_text(&members, "version", snapshot->version);
    add_text(&members, "lower", snapshot->lower);
    add_text(&members, "options", snapshot->options);
    add_number(&members, "epoch", snapshot->epoch);
    add_number(&members, "interval_ns", snapshot->interval_ns);
    add_number(&members, "uptime_ns", snapshot->uptime_ns);
    add_number(&members, "lost", snapshot->lost);
    if (snapshot->gauges_known)
        add_gauges(snapshot, &members);
    add_errors(snapshot, &members);
    begin_member(&members, "operations");
    strbuf_puts(out, "{");
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        if (!snapshot->operations[op].count)
            continue;
        begin_member(&operations, tally_op_name(op));
        stats_render_operation(&snapshot->operations[op], snapshot->sums_only, detail, out);
    }
    strbuf_puts(out, "}");
    begin_member(&members, "background");
    strbuf_puts(out, "{");
    for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++) {
        begin_member(&background, tally_background_name(work));
        stats_render_background(&snapshot->background[work], out);
    }
    strbuf_puts(out, "}}\n");
}
