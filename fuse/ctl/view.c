#include "ctl/view.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ctl/format.h"
#include "stats/field.h"
#include "util/clock.h"

#define NOT_KNOWN "-"

static const char *style(bool colours, const char *code)
{
    return colours ? code : "";
}

#define BOLD "\033[1m"
#define RED "\033[31m"
#define PLAIN "\033[0m"

static int by_time(const void *a, const void *b)
{
    const struct tally_op_counters *const *x = a, *const *y = b;

    if ((*x)->total_ns != (*y)->total_ns)
        return (*x)->total_ns < (*y)->total_ns ? 1 : -1;
    return *x < *y ? -1 : *x > *y;
}

/* The operations that were used, the longest time first; their number. */
static size_t sort_operations(const struct stats_snapshot *snapshot,
                              const struct tally_op_counters *ret_sorted[static TALLY_OP_COUNT])
{
    size_t count = 0;

    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
        if (snapshot->operations[op].count)
            ret_sorted[count++] = &snapshot->operations[op];
    qsort(ret_sorted, count, sizeof(ret_sorted[0]), by_time);
    return count;
}

struct row_texts {
    char count[FORMAT_BYTES], errors[FORMAT_BYTES], rate[FORMAT_BYTES], bytes[FORMAT_BYTES],
        mean[FORMAT_BYTES], p50[FORMAT_BYTES], p99[FORMAT_BYTES], max[FORMAT_BYTES],
        share[FORMAT_BYTES];
};

static void format_percentile(const struct tally_op_counters *counters, unsigned permille,
                              char ret_text[static FORMAT_BYTES])
{
    format_ns((double)tally_hist_percentile(counters->buckets, counters->count, permille,
                                            counters->min_ns, counters->max_ns),
              ret_text);
}

static void add_row(const char *name, const struct stats_snapshot *snapshot,
                    const struct tally_op_counters *counters, uint64_t all_ns, bool colours,
                    struct strbuf *out)
{
    struct row_texts texts = {
        .p50 = NOT_KNOWN, .p99 = NOT_KNOWN, .max = NOT_KNOWN, .rate = NOT_KNOWN};

    format_count(counters->count, 8, texts.count);
    format_count(counters->errors, 6, texts.errors);
    if (snapshot->interval_ns)
        format_rate((double)counters->count * (double)NS_PER_SECOND / (double)snapshot->interval_ns,
                    texts.rate);
    format_bytes(counters->bytes, texts.bytes);
    format_ns((double)counters->total_ns / (double)counters->count, texts.mean);
    if (!snapshot->sums_only) {
        format_percentile(counters, 500, texts.p50);
        format_percentile(counters, 990, texts.p99);
        format_ns((double)counters->max_ns, texts.max);
    }
    format_share(all_ns ? (double)counters->total_ns / (double)all_ns : 0, texts.share);
    strbuf_printf(out, "%-15s %8s %s%6s%s %6s %6s %6s %6s %6s %6s %5s\n", name, texts.count,
                  style(colours && counters->errors, RED), texts.errors,
                  style(colours && counters->errors, PLAIN), texts.rate, texts.bytes, texts.mean,
                  texts.p50, texts.p99, texts.max, texts.share);
}

static void add_split(const struct tally_op_counters *all, struct strbuf *out)
{
    const struct {
        const char *name;
        uint64_t ns;
    } parts[] = {
        {"lower file system", all->lower_ns},
        {"codec", all->codec_ns},
        {"waiting", all->wait_ns},
        {"tallyfs itself", stats_field_by_name("self_ns")->value(all)},
    };
    const char *separator = "time in ";

    if (!all->total_ns)
        return;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char share[FORMAT_BYTES];

        format_share((double)parts[i].ns / (double)all->total_ns, share);
        strbuf_printf(out, "%s%s %s", separator, parts[i].name, share);
        separator = ", ";
    }
    strbuf_puts(out, "\n");
}

static void add_background(const struct stats_snapshot *snapshot, struct strbuf *out)
{
    for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++) {
        const struct tally_op_counters *counters = &snapshot->background[work];
        char count[FORMAT_BYTES], bytes[FORMAT_BYTES], lower[FORMAT_BYTES], codec[FORMAT_BYTES],
            errors[FORMAT_BYTES];

        if (!counters->count)
            continue;
        format_count(counters->count, 6, count);
        format_count(counters->errors, 6, errors);
        format_bytes(counters->bytes, bytes);
        format_ns((double)counters->lower_ns, lower);
        format_ns((double)counters->codec_ns, codec);
        strbuf_printf(out, "background %s %s (%s), lower %s, codec %s, %s failed\n",
                      tally_background_name(work), count, bytes, lower, codec, errors);
    }
}

/* The path and the options are as long as they are, so each ends its line. */
static void add_head(const struct stats_snapshot *snapshot, const char *mount, bool colours,
                     struct strbuf *out)
{
    char interval[FORMAT_BYTES], uptime[FORMAT_BYTES];

    format_ns((double)snapshot->interval_ns, interval);
    format_ns((double)snapshot->uptime_ns, uptime);
    strbuf_printf(out, "%s%s%s over %s\n", style(colours, BOLD), mount, style(colours, PLAIN),
                  snapshot->lower);
    strbuf_printf(out, "counted for %s, mounted for %s, epoch %" PRIu64 ", tallyfs %s, %s\n\n",
                  interval, uptime, snapshot->epoch, snapshot->version,
                  snapshot->options[0] ? snapshot->options : "no options");
}

void view_table(const struct stats_snapshot *snapshot, const char *mount, bool colours,
                struct strbuf *out)
{
    const struct tally_op_counters *sorted[TALLY_OP_COUNT];
    struct tally_op_counters all = {0};
    size_t count = sort_operations(snapshot, sorted);

    for (size_t i = 0; i < count; i++)
        tally_op_counters_add(&all, sorted[i]);
    add_head(snapshot, mount, colours, out);
    strbuf_printf(out, "%s%-15s %8s %6s %6s %6s %6s %6s %6s %6s %5s%s\n", style(colours, BOLD),
                  "operation", "count", "errors", "rate/s", "bytes", "mean", "p50", "p99", "max",
                  "time", style(colours, PLAIN));
    for (size_t i = 0; i < count; i++)
        add_row(tally_op_name((enum tally_op)(sorted[i] - snapshot->operations)), snapshot,
                sorted[i], all.total_ns, colours, out);
    if (count > 1)
        add_row("all", snapshot, &all, all.total_ns, colours, out);
    if (count > 0)
        strbuf_puts(out, "\n");
    add_split(&all, out);
    add_background(snapshot, out);
    if (snapshot->lost)
        strbuf_printf(out, "%" PRIu64 " operations could not be counted for want of memory\n",
                      snapshot->lost);
}

void view_csv_head(struct strbuf *out)
{
    const struct stats_field *field;

    strbuf_puts(out, "epoch,uptime_ns,interval_ns,op");
    for (size_t i = 0; (field = stats_field_at(i)); i++)
        strbuf_printf(out, ",%s", field->name);
    strbuf_puts(out, "\n");
}

void view_csv(const struct stats_snapshot *snapshot, struct strbuf *out)
{
    const struct stats_field *field;

    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        const struct tally_op_counters *counters = &snapshot->operations[op];

        if (!counters->count)
            continue;
        strbuf_printf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s", snapshot->epoch,
                      snapshot->uptime_ns, snapshot->interval_ns, tally_op_name(op));
        for (size_t i = 0; (field = stats_field_at(i)); i++) {
            strbuf_puts(out, ",");
            if (!snapshot->sums_only || !field->of_distribution)
                strbuf_printf(out, "%" PRIu64, field->value(counters));
        }
        strbuf_puts(out, "\n");
    }
}
