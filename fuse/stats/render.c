/* The attributes of a mount: which there are, and the value of each. */
#include "stats/render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/block.h"
#include "stats/field.h"
#include "util/cleanup.h"

/* Linux' XATTR_SIZE_MAX: no attribute can be longer. */
#define VALUE_BYTES_MAX 65536

static void take_snapshot(struct stats *stats, const struct stats_head *head,
                          struct stats_snapshot *ret_snapshot)
{
    ret_snapshot->version = head->version;
    ret_snapshot->lower = head->lower;
    ret_snapshot->options = head->options;
    ret_snapshot->gauges_known = head->read_gauges != NULL;
    do {
        ret_snapshot->epoch = stats_epoch(stats);
        ret_snapshot->interval_ns = stats_epoch_age_ns(stats);
        ret_snapshot->uptime_ns = stats_uptime_ns(stats);
        ret_snapshot->lost = stats_lost(stats);
        for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
            stats_read(stats, op, &ret_snapshot->operations[op]);
        for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++)
            stats_read_background(stats, work, &ret_snapshot->background[work]);
        if (head->read_gauges)
            head->read_gauges(head->user, ret_snapshot->gauges);
    } while (ret_snapshot->epoch != stats_epoch(stats));
}

static void render_table(const struct stats_snapshot *snapshot, const struct stats_detail *detail,
                         struct strbuf *out)
{
    (void)detail;
    stats_render_table(snapshot, out);
}

static void render_prometheus(const struct stats_snapshot *snapshot, const struct stats_detail *detail,
                              struct strbuf *out)
{
    const struct stats_detail own = {.errnos = detail->errnos, .prometheus = true};

    stats_render_openmetrics(snapshot, &own, out);
}

static const struct mount_view {
    const char *name;
    void (*render)(const struct stats_snapshot *snapshot, const struct stats_detail *detail,
                   struct strbuf *out);
} views[] = {
    {"stats", render_table},
    {"stats.json", stats_render_json},
    {"stats.openmetrics", stats_render_openmetrics},
    {"stats.prometheus", render_prometheus},
};

#define VIEW_COUNT (sizeof(views) / sizeof(views[0]))

/* As much detail as an attribute has room for; the cut is in the errnos, whose counts stay in "other". */
static void render_view(const struct mount_view *view, const struct stats_snapshot *snapshot,
                        struct strbuf *out)
{
    static const unsigned errnos[] = {TALLY_ERRNO_SLOTS, 12, 4, 0};
    size_t start = out->length;

    for (size_t i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++) {
        const struct stats_detail detail = {.errnos = errnos[i]};

        out->length = start;
        view->render(snapshot, &detail, out);
        if (out->length - start <= VALUE_BYTES_MAX)
            return;
    }
}

static int render_mount(struct stats *stats, const struct stats_head *head,
                        const struct mount_view *view, struct strbuf *out)
{
    AUTO_FREE struct stats_snapshot *snapshot = calloc(1, sizeof(*snapshot));

    if (!snapshot)
        return -ENOMEM;
    take_snapshot(stats, head, snapshot);
    render_view(view, snapshot, out);
    return 0;
}

static int render_field(const struct tally_op_counters *counters, const char *name,
                        struct strbuf *out)
{
    const struct stats_field *field = stats_field_by_name(name);

    if (!field)
        return -ENODATA;
    strbuf_printf(out, "%" PRIu64, field->value(counters));
    return 0;
}

/* "NAME", "NAME.FIELD", "NAME.histogram" or "NAME.sizes". */
static int render_operation(struct stats *stats, const char *text, struct strbuf *out)
{
    const struct stats_detail detail = {.errnos = TALLY_ERRNO_SLOTS, .histograms = true};
    size_t length = strcspn(text, ".");
    const char *field = text[length] ? text + length + 1 : NULL;
    AUTO_FREE char *name = strndup(text, length);
    AUTO_FREE struct tally_op_counters *counters = malloc(sizeof(*counters));
    int op;

    if (!name || !counters)
        return -ENOMEM;
    op = tally_op_by_name(name);
    if (op < 0)
        return -ENODATA;
    stats_read(stats, (enum tally_op)op, counters);
    if (!field)
        stats_render_operation(counters, false, &detail, out);
    else if (strcmp(field, "histogram") == 0)
        stats_render_histogram(counters, out);
    else if (strcmp(field, "sizes") == 0 && tally_op_has_sizes((enum tally_op)op))
        stats_render_sizes(counters, out);
    else
        return render_field(counters, field, out);
    return 0;
}

static int render_background(struct stats *stats, const char *name, struct strbuf *out)
{
    AUTO_FREE struct tally_op_counters *counters = malloc(sizeof(*counters));

    if (!counters)
        return -ENOMEM;
    for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++) {
        if (strcmp(name, tally_background_name(work)) == 0) {
            stats_read_background(stats, work, counters);
            stats_render_background(counters, out);
            return 0;
        }
    }
    return -ENODATA;
}

static int render_named(struct stats *stats, const struct stats_head *head, const char *name,
                        struct strbuf *out)
{
    if (strncmp(name, "op.", 3) == 0)
        return render_operation(stats, name + 3, out);
    if (strncmp(name, "background.", 11) == 0)
        return render_background(stats, name + 11, out);
    for (size_t i = 0; i < VIEW_COUNT; i++)
        if (strcmp(name, views[i].name) == 0)
            return render_mount(stats, head, &views[i], out);
    if (strcmp(name, "epoch") == 0)
        strbuf_printf(out, "%" PRIu64, stats_epoch(stats));
    else if (strcmp(name, "uptime_ns") == 0)
        strbuf_printf(out, "%" PRIu64, stats_uptime_ns(stats));
    else
        return -ENODATA;
    return 0;
}

int stats_render(struct stats *stats, const struct stats_head *head, const char *name,
                 struct strbuf *out)
{
    int r;

    stats_settle(stats);
    r = render_named(stats, head, name, out);
    return r == 0 && out->failed ? -ENOMEM : r;
}

void stats_names(void (*add)(void *user, const char *name), void *user)
{
    const struct stats_field *field;
    char name[64];

    add(user, "epoch");
    add(user, "uptime_ns");
    for (size_t i = 0; i < VIEW_COUNT; i++)
        add(user, views[i].name);
    for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++) {
        snprintf(name, sizeof(name), "background.%s", tally_background_name(work));
        add(user, name);
    }
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        snprintf(name, sizeof(name), "op.%s", tally_op_name(op));
        add(user, name);
        for (size_t i = 0; (field = stats_field_at(i)); i++) {
            snprintf(name, sizeof(name), "op.%s.%s", tally_op_name(op), field->name);
            add(user, name);
        }
        snprintf(name, sizeof(name), "op.%s.histogram", tally_op_name(op));
        add(user, name);
        snprintf(name, sizeof(name), "op.%s.sizes", tally_op_name(op));
        if (tally_op_has_sizes(op))
            add(user, name);
    }
}
