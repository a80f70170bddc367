/* What tallyctl reads and shows, apart from a mount. */
#include <errno.h>

#include "ctl/format.h"
#include "ctl/rows.h"
#include "ctl/snapshot.h"
#include "ctl/view.h"
#include "harness.h"
#include "stats/stats.h"

static void shows_three_digits_when_numbers_are_large(void)
{
    static const struct {
        uint64_t count;
        const char *text;
    } counts[] = {
        {0, "0"},
        {99999999, "99999999"},
        {100000000, "100M"},
        {999499999, "999M"},
        {999600000, "1.00G"},
        {UINT64_MAX, "18.4E"},
    };
    static const struct {
        uint64_t bytes;
        const char *text;
    } bytes[] = {
        {0, "0"},
        {1023, "1023"},
        {1024, "1.00Ki"},
        {1536, "1.50Ki"},
        {10239, "10.0Ki"},
        {1047552, "1023Ki"},
        {1048575, "1.00Mi"},
        {UINT64_C(5) << 30, "5.00Gi"},
        {UINT64_MAX, "16.0Ei"},
    };
    static const struct {
        double ns;
        const char *text;
    } times[] = {
        {0, "0"},          {7, "7ns"},       {12.5, "12.5ns"},    {999, "999ns"},
        {999.7, "1.00us"}, {1234, "1.23us"}, {99949, "99.9us"},   {99951, "100us"},
        {2e6, "2.00ms"},   {1.5e9, "1.50s"}, {86400e9, "86400s"},
    };
    static const struct {
        double share;
        const char *text;
    } shares[] = {{0, "0%"}, {0.001, "<1%"}, {0.01, "1%"}, {0.494, "49%"}, {1, "100%"}};
    char text[FORMAT_BYTES];

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        format_count(counts[i].count, 8, text);
        CHECK_STR(text, counts[i].text);
    }
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        format_bytes(bytes[i].bytes, text);
        CHECK_STR(text, bytes[i].text);
    }
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        format_ns(times[i].ns, text);
        CHECK_STR(text, times[i].text);
    }
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        format_share(shares[i].share, text);
        CHECK_STR(text, shares[i].text);
    }
}

static struct stats *create(void)
{
    struct stats *stats;

    CHECK_EQ(stats_create(&stats), 0);
    return stats;
}

static void record(struct stats *stats, enum tally_op op, int error, uint64_t total_ns,
                   uint64_t bytes)
{
    const struct stats_sample sample = {
        .op = op,
        .error = error,
        .total_ns = total_ns,
        .bytes = bytes,
        .split = {.lower_ns = total_ns / 2, .codec_ns = total_ns / 4},
    };

    stats_record(stats_thread(stats), &sample);
}

static struct snapshot *parse(const char *text)
{
    char reason[SNAPSHOT_REASON_BYTES] = "";
    struct snapshot *snapshot;

    if (snapshot_parse(text, reason, &snapshot) != 0)
        FAIL("%s", reason);
    return snapshot;
}

/* What tallyctl has in hand after it has read a mount: head and sums, and each operation with its histogram. */
static struct snapshot *read_from(struct stats *stats)
{
    const struct stats_head head = {.version = "9", .lower = "/lower", .options = "compress=lz4"};
    struct strbuf json = STRBUF_INIT;
    struct snapshot *snapshot;

    CHECK_EQ(stats_render(stats, &head, "stats.json", &json), 0);
    snapshot = parse(json.data);
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        char name[64];

        snprintf(name, sizeof(name), "op.%s", tally_op_name(op));
        json.length = 0;
        CHECK_EQ(stats_render(stats, &head, name, &json), 0);
        CHECK_EQ(snapshot_parse_operation(json.data, &snapshot->counters.operations[op]), 0);
    }
    snapshot->counters.sums_only = false;
    strbuf_free(&json);
    return snapshot;
}

static void reads_back_the_same_when_it_was_written_as_json(void)
{
    const struct stats_detail detail = {.errnos = TALLY_ERRNO_SLOTS, .histograms = true};
    struct stats *stats = create();
    struct snapshot *first, *second;
    struct strbuf json = STRBUF_INIT, again = STRBUF_INIT;

    record(stats, TALLY_OP_read, 0, 1000, 4096);
    record(stats, TALLY_OP_read, EIO, UINT64_C(1) << 42, 0);
    record(stats, TALLY_OP_lookup, ENOENT, 77, 0);
    record(stats, TALLY_OP_lookup, 900, 78, 0);
    first = read_from(stats);
    CHECK_EQ(first->counters.operations[TALLY_OP_lookup].errors_by_errno[0], 1);
    CHECK_EQ(first->counters.operations[TALLY_OP_read].buckets[TALLY_HIST_OVERFLOW], 1);
    CHECK_STR(first->counters.lower, "/lower");
    stats_render_json(&first->counters, &detail, &json);
    second = parse(json.data);
    CHECK(!second->counters.sums_only);
    CHECK(memcmp(first->counters.operations, second->counters.operations,
                 sizeof(first->counters.operations)) == 0);
    stats_render_json(&second->counters, &detail, &again);
    CHECK_STR(again.data, json.data);
    strbuf_free(&json);
    strbuf_free(&again);
    snapshot_free(first);
    snapshot_free(second);
    stats_destroy(stats);
}

static void covers_the_interval_when_two_snapshots_are_subtracted(void)
{
    struct stats *stats = create();
    struct snapshot *earlier, *later;
    const struct tally_op_counters *writes;

    for (unsigned i = 0; i < 1000; i++)
        record(stats, TALLY_OP_write, i % 2 ? ENOSPC : 0, 100, 10);
    record(stats, TALLY_OP_open, 0, 5, 0);
    earlier = read_from(stats);
    for (unsigned i = 0; i < 10; i++)
        record(stats, TALLY_OP_write, i == 0 ? EIO : 0, 1000000, 20);
    later = read_from(stats);
    CHECK(snapshot_subtract(later, earlier) == NULL);
    writes = &later->counters.operations[TALLY_OP_write];
    CHECK_EQ(writes->count, 10);
    CHECK_EQ(writes->errors, 1);
    CHECK_EQ(writes->errors_by_errno[EIO], 1);
    CHECK_EQ(writes->errors_by_errno[ENOSPC], 0);
    CHECK_EQ(writes->bytes, 200);
    CHECK_EQ(writes->total_ns, 10000000);
    CHECK_EQ(writes->min_ns, 999424); /* the bucket's bound */
    CHECK_EQ(writes->max_ns, 1000000);
    CHECK_EQ(tally_hist_percentile(writes->buckets, 10, 500, writes->min_ns, writes->max_ns),
             1000000);
    CHECK_EQ(later->counters.operations[TALLY_OP_open].count, 0);
    CHECK_EQ(later->counters.operations[TALLY_OP_open].max_ns, 0);
    CHECK(later->counters.interval_ns < later->counters.uptime_ns);
    snapshot_free(earlier);
    snapshot_free(later);
    stats_destroy(stats);
}

static void says_why_when_two_snapshots_do_not_fit(void)
{
    struct stats *stats = create();
    struct snapshot *earlier, *later;
    const char *problem;

    record(stats, TALLY_OP_write, 0, 100, 10);
    earlier = read_from(stats);
    record(stats, TALLY_OP_write, 0, 100, 10);
    later = read_from(stats);
    later->counters.uptime_ns = earlier->counters.uptime_ns;
    problem = snapshot_subtract(earlier, later);
    CHECK(problem && strstr(problem, "not an earlier snapshot"));
    snapshot_free(earlier);
    earlier = read_from(stats);
    stats_reset(stats);
    snapshot_free(later);
    later = read_from(stats);
    problem = snapshot_subtract(later, earlier);
    CHECK(problem && strstr(problem, "reset"));
    later->counters.uptime_ns = 0;
    problem = snapshot_subtract(later, earlier);
    CHECK(problem && strstr(problem, "earlier mount"));
    free(later->lower);
    later->lower = strdup("/other");
    problem = snapshot_subtract(later, earlier);
    CHECK(problem && strstr(problem, "another directory"));
    snapshot_free(earlier);
    snapshot_free(later);
    stats_destroy(stats);
}

#define HEAD                                                                                       \
    "\"version\":\"1\",\"lower\":\"/"                                                              \
    "l\",\"options\":\"\",\"epoch\":1,\"interval_ns\":1,\"uptime_ns\":1,\"lost\":0,"               \
    "\"background\":{}"
#define SUMS                                                                                       \
    "\"count\":1,\"errors\":0,\"bytes\":0,\"total_ns\":5,\"lower_ns\":0,\"codec_ns\":0,\"wait_"    \
    "ns\":0,"                                                                                      \
    "\"min_ns\":5,\"max_ns\":5,\"errors_by_errno\":{}"

static void says_what_is_wrong_when_it_is_no_snapshot(void)
{
    static const struct {
        const char *text, *reason;
    } rows[] = {
        {"", "not JSON"},
        {"[1]", "not a snapshot"},
        {"{}", "not a snapshot"},
        {"{\"schema\":1,\"schema\":1}", "not JSON"},
        {"{\"schema\":999,\"operations\":{}}", "schema 999"},
        {"{\"schema\":1,\"operations\":{}}", "missing"},
        {"{\"schema\":1," HEAD ",\"operations\":{\"fly\":{" SUMS "}}}", "fly: unknown"},
        {"{\"schema\":1," HEAD ",\"operations\":{\"read\":{}}}", "read: not what"},
        {"{\"schema\":1," HEAD ",\"operations\":{\"read\":3}}", "read: not what"},
        {"{\"schema\":1," HEAD ",\"operations\":{\"read\":{" SUMS ",\"histogram_ns\":[[5,2]]}}}",
         "read: not what"},
        {"{\"schema\":1," HEAD ",\"operations\":{\"read\":{" SUMS ",\"histogram_ns\":[[129,1]]}}}",
         "read: not what"},
        {"{\"schema\":1," HEAD ",\"operations\":{\"read\":{" SUMS ",\"histogram_ns\":[5,1]}}}",
         "read: not what"},
        {"{\"schema\":1," HEAD ",\"operations\":{\"read\":{" SUMS ",\"histogram_ns\":[[-5,1]]}}}",
         "read: not what"},
    };
    struct tally_op_counters *counters = malloc(sizeof(*counters));

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char reason[SNAPSHOT_REASON_BYTES] = "";
        struct snapshot *snapshot;

        CHECK_EQ(snapshot_parse(rows[i].text, reason, &snapshot), -EINVAL);
        if (!strstr(reason, rows[i].reason))
            FAIL("row %zu: \"%s\"", i, reason);
    }
    CHECK_EQ(snapshot_parse_operation("{" SUMS "}", counters), -EINVAL);
    CHECK_EQ(snapshot_parse_operation("{" SUMS ",\"histogram_ns\":[[5,1]]}", counters), 0);
    free(counters);
}

static char *table_of(const struct snapshot *snapshot, bool colours)
{
    struct strbuf text = STRBUF_INIT;

    view_table(&snapshot->counters, "/mnt", colours, &text);
    return strbuf_take(&text);
}

static void fits_80_columns_when_numbers_are_huge(void)
{
    struct stats *stats = create();
    struct snapshot *snapshot;
    char *text, *rest, *line;
    unsigned rows = 0;

    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
        for (int error = 0; error < 3; error++)
            record(stats, op, error, UINT64_C(1000000000000) + op, UINT64_C(1) << 58);
    snapshot = read_from(stats);
    snapshot->counters.operations[TALLY_OP_read].count = UINT64_MAX / 2;
    snapshot->counters.operations[TALLY_OP_read].errors = UINT64_MAX / 2;
    snapshot->counters.interval_ns = UINT64_C(1000000000);
    for (enum tally_background work = 0; work < TALLY_BACKGROUND_COUNT; work++) {
        struct tally_op_counters *counters = &snapshot->counters.background[work];

        counters->count = counters->errors = counters->bytes = UINT64_MAX / 2;
        counters->lower_ns = counters->codec_ns = UINT64_C(1000000000000000);
    }
    text = rest = table_of(snapshot, false);
    strsep(&rest, "\n"); /* the head's path and options are as long as they are */
    strsep(&rest, "\n");
    while ((line = strsep(&rest, "\n"))) {
        if (strlen(line) > 80)
            FAIL("%zu columns: %s", strlen(line), line);
        rows++;
    }
    CHECK(rows >= TALLY_OP_COUNT + 3 + TALLY_BACKGROUND_COUNT);
    free(text);
    snapshot_free(snapshot);
    stats_destroy(stats);
}

static void puts_the_longest_time_first_when_sorted(void)
{
    struct stats *stats = create();
    struct snapshot *snapshot;
    char *text;
    const char *read, *open, *all;

    record(stats, TALLY_OP_open, 0, 1000, 0);
    record(stats, TALLY_OP_read, EIO, 3000, 1536);
    snapshot = read_from(stats);
    text = table_of(snapshot, false);
    read = strstr(text, "\nread ");
    open = strstr(text, "\nopen ");
    all = strstr(text, "\nall ");
    CHECK(read && open && all && read < open && open < all);
    CHECK(strstr(read, "1.50Ki") && strstr(read, "3.00us") && strstr(read, "75%"));
    CHECK(strstr(all, "lower file system 50%, codec 25%, waiting 0%, tallyfs itself 25%"));
    CHECK(!strchr(text, '\033'));
    free(text);
    text = table_of(snapshot, true);
    CHECK(strstr(text, "\033[31m     1\033[0m"));
    free(text);
    snapshot_free(snapshot);
    stats_destroy(stats);
}

static void admits_it_when_percentiles_are_not_known(void)
{
    struct snapshot *snapshot =
        parse("{\"schema\":1," HEAD ",\"operations\":{\"read\":{" SUMS "}}}");
    const struct stats_detail detail = {.errnos = 1, .histograms = true};
    struct strbuf csv = STRBUF_INIT, json = STRBUF_INIT;
    char *text = table_of(snapshot, false);

    CHECK(snapshot->counters.sums_only);
    CHECK(strstr(text, "5ns      -      -      -  100%"));
    view_csv_head(&csv);
    view_csv(&snapshot->counters, &csv);
    CHECK_STR(csv.data, "epoch,uptime_ns,interval_ns,op,count,errors,bytes,total_ns,min_ns,max_ns,"
                        "lower_ns,codec_ns,"
                        "wait_ns,self_ns,p50_ns,p90_ns,p99_ns,p999_ns\n"
                        "1,1,1,read,1,0,0,5,,,0,0,0,5,,,,\n");
    stats_render_json(&snapshot->counters, &detail, &json);
    CHECK(strstr(json.data, "\"p50_ns\":null") && !strstr(json.data, "histogram_ns"));
    strbuf_free(&csv);
    strbuf_free(&json);
    free(text);
    snapshot_free(snapshot);
}

static void keeps_the_chosen_when_operations_are_named(void)
{
    struct stats *stats = create();
    const bool chosen[TALLY_OP_COUNT] = {[TALLY_OP_read] = true};
    struct snapshot *snapshot;

    record(stats, TALLY_OP_read, 0, 1, 1);
    record(stats, TALLY_OP_write, 0, 1, 1);
    snapshot = read_from(stats);
    snapshot_keep(snapshot, chosen);
    CHECK_EQ(snapshot->counters.operations[TALLY_OP_read].count, 1);
    CHECK_EQ(snapshot->counters.operations[TALLY_OP_write].count, 0);
    snapshot_free(snapshot);
    stats_destroy(stats);
}

static void finds_columns_by_name_when_there_are_more(void)
{
    char text[] = "uid\tnew\tcount\n1000\tx\t7\n-1\t\t18446744073709551615\n";
    struct rows rows;

    CHECK_EQ(rows_parse(text, &rows), 0);
    CHECK_EQ(rows.count, 2);
    CHECK_EQ(rows_number(&rows, 0, "count"), 7);
    CHECK_STR(rows_text(&rows, 1, "uid"), "-1");
    CHECK_STR(rows_text(&rows, 1, "new"), "");
    CHECK(rows_number(&rows, 1, "count") == UINT64_MAX);
    CHECK(rows_text(&rows, 0, "bytes") == NULL);
    CHECK_EQ(rows_number(&rows, 0, "bytes"), 0);
    rows_free(&rows);
}

static void refuses_rows_when_they_are_no_table(void)
{
    static const struct {
        const char *text;
        int r;
    } cases[] = {
        {"", -EBADMSG},          {"\n1\n", -EBADMSG},       {"a", 0},           {"a\tb\n", 0}, {"a\tb\n1\n", -EBADMSG},
        {"a\tb\n1\t2\t3\n", -EBADMSG}, {"a\tb\n\n1\t2\n", -EBADMSG}, {"a\tb\n1\t2", 0}, {"\t\n\t", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[32];
        struct rows rows = {.cells = NULL};

        snprintf(text, sizeof(text), "%s", cases[i].text);
        CHECK_EQ(rows_parse(text, &rows), cases[i].r);
        rows_free(&rows);
    }
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(shows_three_digits_when_numbers_are_large),
        CASE(reads_back_the_same_when_it_was_written_as_json),
        CASE(covers_the_interval_when_two_snapshots_are_subtracted),
        CASE(says_why_when_two_snapshots_do_not_fit),
        CASE(says_what_is_wrong_when_it_is_no_snapshot),
        CASE(fits_80_columns_when_numbers_are_huge),
        CASE(puts_the_longest_time_first_when_sorted),
        CASE(admits_it_when_percentiles_are_not_known),
        CASE(keeps_the_chosen_when_operations_are_named),
        CASE(finds_columns_by_name_when_there_are_more),
        CASE(refuses_rows_when_they_are_no_table),
    };

    return RUN_CASES(cases);
}
