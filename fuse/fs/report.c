#include "fs/report.h"

#include <inttypes.h>
#include <string.h>

#include "fs/handlers.h"
#include "fs/path.h"
#include "fs/slow.h"
#include "stats/shares.h"

/* What fits into an attribute (XATTR_SIZE_MAX), with room for the last line. */
#define VALUE_BYTES_MAX (65536 - 512)
#define ROWS_MAX 256

bool report_for_all(const struct call *call)
{
    uid_t uid = fuse_req_ctx(call->req)->uid;

    return uid == 0 || uid == call->fs->owner;
}

static void put_name(struct strbuf *value, const char *name)
{
    for (const char *at = name; *at; at++) {
        unsigned char byte = (unsigned char)*at;

        if (byte == '\t')
            strbuf_puts(value, "\\t");
        else if (byte == '\n')
            strbuf_puts(value, "\\n");
        else if (byte == '\\')
            strbuf_puts(value, "\\\\");
        else if (byte < ' ' || byte == 0x7f)
            strbuf_printf(value, "\\%03o", byte);
        else
            strbuf_add(value, at, 1);
    }
}

/* "total_ns count errors bytes lower_ns codec_ns wait_ns", with what is first in the order of the other tables put first. */
static void put_total_first(struct strbuf *value, const struct stats_share *share)
{
    strbuf_printf(value, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, share->total_ns, share->count,
                  share->errors, share->bytes);
}

static void put_count_first(struct strbuf *value, const struct stats_share *share)
{
    strbuf_printf(value, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, share->count, share->errors,
                  share->bytes, share->total_ns);
}

static void put_split(struct strbuf *value, uint64_t lower_ns, uint64_t codec_ns, uint64_t wait_ns)
{
    strbuf_printf(value, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, lower_ns, codec_ns, wait_ns);
}

static void put_share_split(struct strbuf *value, const struct stats_share *share)
{
    put_split(value, share->lower_ns, share->codec_ns, share->wait_ns);
}

/* A row; `entry` NULL stands for "other". */
typedef void row_writer(struct call *call, const struct stats_entry *entry, const struct stats_share *share,
                        struct strbuf *value);

static void put_inode(struct call *call, const struct stats_entry *entry, const struct stats_share *share,
                      struct strbuf *value)
{
    AUTO_STRBUF struct strbuf path = STRBUF_INIT;

    put_total_first(value, share);
    put_share_split(value, share);
    if (entry)
        path_describe(call->fs, call->split, entry->subject, entry->ino, &path);
    else
        strbuf_puts(&path, "other");
    strbuf_printf(value, "\t%" PRIu64 "\t", entry ? entry->ino : 0);
    put_name(value, path.data ? path.data : "?");
}

static void put_user(struct call *call, const struct stats_entry *entry, const struct stats_share *share,
                     struct strbuf *value)
{
    (void)call;
    strbuf_printf(value, "%" PRId64 "\t", entry ? (int64_t)entry->uid : -1);
    put_count_first(value, share);
    put_share_split(value, share);
}

static void put_process(struct call *call, const struct stats_entry *entry, const struct stats_share *share,
                        struct strbuf *value)
{
    (void)call;
    strbuf_printf(value, "%" PRIu64 "\t", entry ? entry->pid : 0);
    put_name(value, !entry ? "other" : entry->command[0] ? entry->command : "?");
    strbuf_printf(value, "\t%" PRId64 "\t", entry ? (int64_t)entry->uid : -1);
    put_count_first(value, share);
    put_share_split(value, share);
}

static void put_tree(struct call *call, const struct stats_entry *entry, const struct stats_share *share,
                     struct strbuf *value)
{
    AUTO_STRBUF struct strbuf path = STRBUF_INIT;

    if (entry)
        trees_path(call->fs->trees, (unsigned)entry->tree, &path);
    else
        strbuf_puts(&path, "other");
    put_name(value, path.data ? path.data : "?");
    strbuf_puts(value, "\t");
    put_count_first(value, share);
    put_share_split(value, share);
}

static const struct shares_report {
    const char *name;
    const char *header;
    enum stats_by by;
    bool has_owner; /* each row is of one user, who may see it */
    row_writer *put;
} shares_reports[] = {
    {"top", "total_ns\tcount\terrors\tbytes\tlower_ns\tcodec_ns\twait_ns\tinode\tname\n", STATS_BY_INODE, false,
     put_inode},
    {"by.uid", "uid\tcount\terrors\tbytes\ttotal_ns\tlower_ns\tcodec_ns\twait_ns\n", STATS_BY_UID, true, put_user},
    {"by.pid", "pid\tcommand\tuid\tcount\terrors\tbytes\ttotal_ns\tlower_ns\tcodec_ns\twait_ns\n", STATS_BY_PID,
     true, put_process},
    {"by.tree", "path\tcount\terrors\tbytes\ttotal_ns\tlower_ns\tcodec_ns\twait_ns\n", STATS_BY_TREE, false, put_tree},
};

#define SHARES_REPORT_COUNT (sizeof(shares_reports) / sizeof(shares_reports[0]))

/* Adds what `put` writes, unless that would be too much for an attribute. */
static bool add_row(struct call *call, const struct shares_report *report, const struct stats_entry *entry,
                    struct strbuf *value)
{
    size_t before = value->length;

    report->put(call, entry, &entry->share, value);
    strbuf_puts(value, "\n");
    if (value->length <= VALUE_BYTES_MAX)
        return true;
    value->length = before;
    return false;
}

static int report_shares(struct call *call, const struct shares_report *report, struct strbuf *value)
{
    AUTO_FREE struct stats_entry *entries = NULL;
    bool for_all = report_for_all(call);
    struct stats_share other;
    size_t count, rows = 0;
    int r;

    if (!for_all && !report->has_owner)
        return -EPERM;
    r = stats_read_shares(call->fs->stats, report->by, &entries, &count, &other);
    if (r < 0)
        return r;
    strbuf_puts(value, report->header);
    for (size_t i = 0; i < count; i++) {
        if (!for_all && entries[i].uid != fuse_req_ctx(call->req)->uid)
            continue;
        if (rows < ROWS_MAX && add_row(call, report, &entries[i], value))
            rows++;
        else
            stats_share_add(&other, &entries[i].share);
    }
    if (for_all) {
        report->put(call, NULL, &other, value);
        strbuf_puts(value, "\n");
    }
    return 0;
}

struct slow_rows {
    uint32_t uid;
    bool for_all;
    struct strbuf *value;
    size_t starts[SLOW_ENTRIES]; /* of each row, to cut the oldest */
    size_t count;
};

static void put_slow(void *user, const struct slow_entry *entry)
{
    const struct stats_sample *sample = &entry->sample;
    struct slow_rows *rows = user;
    struct strbuf *value = rows->value;

    if (!rows->for_all && (sample->nobody || sample->uid != rows->uid))
        return;
    rows->starts[rows->count++] = value->length;
    strbuf_printf(value, "%" PRIu64 "\t%s\t%d\t%" PRIu64, entry->time_ns, tally_op_name(sample->op),
                  sample->error, sample->total_ns);
    put_split(value, sample->split.lower_ns, sample->split.codec_ns, sample->split.wait_ns);
    strbuf_printf(value, "\t%" PRIu64 "\t%" PRId64 "\t%" PRIu32 "\t%" PRIu64 "\t", sample->bytes,
                  sample->nobody ? -1 : (int64_t)sample->uid, sample->pid, sample->ino);
    put_name(value, rows->for_all && entry->path ? entry->path : "?");
    strbuf_puts(value, "\n");
}

static int report_slow(struct call *call, struct strbuf *value)
{
    AUTO_STRBUF struct strbuf all = STRBUF_INIT;
    AUTO_FREE struct slow_rows *rows = calloc(1, sizeof(*rows));
    size_t first = 0;

    if (!rows)
        return -ENOMEM;
    strbuf_puts(value, "time_ns\top\terrno\ttotal_ns\tlower_ns\tcodec_ns\twait_ns\tbytes\tuid\tpid\tinode\tname\n");
    rows->uid = fuse_req_ctx(call->req)->uid;
    rows->for_all = report_for_all(call);
    rows->value = &all;
    slow_log_for_each(call->fs->slow, put_slow, rows);
    if (all.failed)
        return -ENOMEM;
    while (first < rows->count && value->length + all.length - rows->starts[first] > VALUE_BYTES_MAX)
        first++;
    if (first < rows->count)
        strbuf_add(value, all.data + rows->starts[first], all.length - rows->starts[first]);
    return 0;
}

static bool is_counted(const struct fs *fs, const struct shares_report *report)
{
    return fs->stats && (report->by != STATS_BY_TREE || fs->trees);
}

int report_get(struct call *call, const char *name, struct strbuf *value)
{
    for (size_t i = 0; i < SHARES_REPORT_COUNT; i++) {
        if (strcmp(name, shares_reports[i].name) == 0)
            return is_counted(call->fs, &shares_reports[i]) ? report_shares(call, &shares_reports[i], value) : -ENODATA;
    }
    return call->fs->stats && strcmp(name, "slow") == 0 ? report_slow(call, value) : -ENODATA;
}

void report_names(const struct call *call, void (*add)(void *user, const char *name), void *user)
{
    for (size_t i = 0; i < SHARES_REPORT_COUNT; i++) {
        if (is_counted(call->fs, &shares_reports[i]) && (shares_reports[i].has_owner || report_for_all(call)))
            add(user, shares_reports[i].name);
    }
    if (call->fs->stats)
        add(user, "slow");
}
