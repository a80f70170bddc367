/* Counters as text: the attributes of a mount. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stats/block.h"
#include "stats/field.h"
#include "util/cleanup.h"

static void add_fields(struct strbuf *out, const struct tally_op_counters *counters)
{
    const struct stats_field *field;

    for (size_t i = 0; (field = stats_field_at(i)); i++)
        strbuf_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "", field->name, field->value(counters));
}

static void add_operation(struct strbuf *out, const struct tally_op_counters *counters)
{
    bool first = true;

    strbuf_puts(out, "{");
    add_fields(out, counters);
    strbuf_puts(out, ",\"errors_by_errno\":{");
    for (int number = 0; number < TALLY_ERRNO_SLOTS; number++) {
        const char *name = number ? strerrorname_np(number) : "other";

        if (!counters->errors_by_errno[number])
            continue;
        strbuf_puts(out, first ? "" : ",");
        if (name)
            strbuf_printf(out, "\"%s\":", name);
        else
            strbuf_printf(out, "\"%d\":", number);
        strbuf_printf(out, "%" PRIu64, counters->errors_by_errno[number]);
        first = false;
    }
    strbuf_puts(out, "}}");
}

static void render_json(struct stats *stats, const struct stats_head *head, struct tally_op_counters *scratch,
                        struct strbuf *out)
{
    bool first = true;

    strbuf_printf(out, "{\"schema\":%d,\"version\":", TALLY_STATS_SCHEMA);
    strbuf_json_string(out, head->version);
    strbuf_puts(out, ",\"lower\":");
    strbuf_json_string(out, head->lower);
    strbuf_puts(out, ",\"options\":");
    strbuf_json_string(out, head->options);
    strbuf_printf(out, ",\"epoch\":%" PRIu64 ",\"uptime_ns\":%" PRIu64 ",\"operations\":{", stats_epoch(stats),
                  stats_uptime_ns(stats));
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        stats_read(stats, op, scratch);
        if (!scratch->count)
            continue;
        strbuf_printf(out, "%s\"%s\":", first ? "" : ",", tally_op_name(op));
        add_operation(out, scratch);
        first = false;
    }
    strbuf_puts(out, "},\"background\":{");
    for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++) {
        stats_read_background(stats, work, scratch);
        strbuf_printf(out,
                      "%s\"%s\":{\"count\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"bytes\":%" PRIu64
                      ",\"lower_ns\":%" PRIu64 ",\"codec_ns\":%" PRIu64 ",\"wait_ns\":%" PRIu64 "}",
                      work ? "," : "", tally_background_name(work), scratch->count, scratch->errors, scratch->bytes,
                      scratch->lower_ns, scratch->codec_ns, scratch->wait_ns);
    }
    strbuf_puts(out, "}}\n");
}

static void render_table(struct stats *stats, const struct stats_head *head, struct tally_op_counters *scratch,
                         struct strbuf *out)
{
    strbuf_printf(out, "tallyfs %s over %s (%s), epoch %" PRIu64 ", times in us\n", head->version, head->lower,
                  head->options, stats_epoch(stats));
    strbuf_printf(out, "%-16s %10s %8s %14s %9s %9s %9s %9s %9s %9s\n", "operation", "count", "errors", "bytes",
                  "mean", "p50", "p99", "max", "lower", "codec");
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        double count;

        stats_read(stats, op, scratch);
        if (!scratch->count)
            continue;
        count = (double)scratch->count * 1e3;
        strbuf_printf(out,
                      "%-16s %10" PRIu64 " %8" PRIu64 " %14" PRIu64 " %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f\n",
                      tally_op_name(op), scratch->count, scratch->errors, scratch->bytes,
                      (double)scratch->total_ns / count,
                      (double)tally_hist_percentile(scratch->buckets, scratch->count, 500, scratch->min_ns,
                                                    scratch->max_ns) / 1e3,
                      (double)tally_hist_percentile(scratch->buckets, scratch->count, 990, scratch->min_ns,
                                                    scratch->max_ns) / 1e3,
                      (double)scratch->max_ns / 1e3, (double)scratch->lower_ns / count,
                      (double)scratch->codec_ns / count);
    }
}

static void render_histogram(const struct tally_op_counters *counters, struct strbuf *out)
{
    for (unsigned i = 0; i < TALLY_HIST_BUCKETS; i++) {
        if (!counters->buckets[i])
            continue;
        if (i == TALLY_HIST_OVERFLOW)
            strbuf_puts(out, ">");
        strbuf_printf(out, "%" PRIu64 " %" PRIu64 "\n", tally_hist_low(i), counters->buckets[i]);
    }
}

/* "op.NAME", "op.NAME.FIELD" or "op.NAME.histogram". */
static int render_operation(struct stats *stats, const char *name, struct tally_op_counters *scratch,
                            struct strbuf *out)
{
    const char *rest = strchr(name, '.');
    AUTO_FREE char *op_name = rest ? strndup(name, (size_t)(rest - name)) : strdup(name);
    const struct stats_field *field;
    int op;

    if (!op_name)
        return -ENOMEM;
    op = tally_op_by_name(op_name);
    if (op < 0)
        return -ENODATA;
    stats_read(stats, (enum tally_op)op, scratch);
    if (!rest) {
        add_operation(out, scratch);
        return 0;
    }
    if (strcmp(rest + 1, "histogram") == 0) {
        render_histogram(scratch, out);
        return 0;
    }
    for (size_t i = 0; (field = stats_field_at(i)); i++) {
        if (strcmp(rest + 1, field->name) == 0) {
            strbuf_printf(out, "%" PRIu64, field->value(scratch));
            return 0;
        }
    }
    return -ENODATA;
}

int stats_render(struct stats *stats, const struct stats_head *head, const char *name, struct strbuf *out)
{
    AUTO_FREE struct tally_op_counters *scratch = malloc(sizeof(*scratch));
    int r = 0;

    if (!scratch)
        return -ENOMEM;
    stats_settle(stats);
    if (strcmp(name, "stats") == 0)
        render_table(stats, head, scratch, out);
    else if (strcmp(name, "stats.json") == 0)
        render_json(stats, head, scratch, out);
    else if (strcmp(name, "epoch") == 0)
        strbuf_printf(out, "%" PRIu64, stats_epoch(stats));
    else if (strcmp(name, "uptime_ns") == 0)
        strbuf_printf(out, "%" PRIu64, stats_uptime_ns(stats));
    else if (strncmp(name, "op.", 3) == 0)
        r = render_operation(stats, name + 3, scratch, out);
    else
        r = -ENODATA;
    if (r == 0 && out->failed)
        r = -ENOMEM;
    return r;
}

void stats_names(void (*add)(void *user, const char *name), void *user)
{
    const struct stats_field *field;
    char name[64];

    add(user, "epoch");
    add(user, "uptime_ns");
    add(user, "stats");
    add(user, "stats.json");
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        snprintf(name, sizeof(name), "op.%s", tally_op_name(op));
        add(user, name);
        snprintf(name, sizeof(name), "op.%s.histogram", tally_op_name(op));
        add(user, name);
        for (size_t i = 0; (field = stats_field_at(i)); i++) {
            snprintf(name, sizeof(name), "op.%s.%s", tally_op_name(op), field->name);
            add(user, name);
        }
    }
}
