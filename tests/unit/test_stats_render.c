/* Counters as text: every attribute answers, fits, and says what was counted. */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>

#include "harness.h"
#include "stats/render.h"
#include "stats/stats.h"
#include "util/clock.h"

#define VALUE_BYTES_MAX 65536

static const struct stats_head head = {
    .version = "1.2.3",
    .lower = "/srv/data \"x\"\n\xff",
    .options = "compress=zstd:3,chunk=64K",
};

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
        .split = {.lower_ns = total_ns / 2, .codec_ns = total_ns / 4, .wait_ns = total_ns / 8},
    };

    stats_record(stats_thread(stats), &sample);
}

/* Every operation with every errno and huge numbers: the largest that there can be. */
static struct stats *create_full(void)
{
    struct stats *stats = create();

    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++)
        for (int error = 0; error <= TALLY_ERRNO_SLOTS; error++)
            record(stats, op, error, UINT64_C(50000000000000000) + (uint64_t)error * 1000,
                   UINT64_C(1) << 55);
    return stats;
}

static char *render(struct stats *stats, const char *name)
{
    struct strbuf value = STRBUF_INIT;
    int r = stats_render(stats, &head, name, &value);
    char *text;

    if (r != 0)
        FAIL("%s: %d", name, r);
    text = strbuf_take(&value);
    CHECK(text && strlen(text) <= VALUE_BYTES_MAX);
    return text;
}

static json_t *render_json(struct stats *stats, const char *name)
{
    char *text = render(stats, name);
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    if (!json)
        FAIL("%s: %s at %d", name, error.text, error.position);
    free(text);
    return json;
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value))
        FAIL("%s is no integer", key);
    return json_integer_value(value);
}

static void names_what_was_counted_when_read_as_json(void)
{
    struct stats *stats = create();
    json_t *json, *operation, *errors;

    record(stats, TALLY_OP_read, 0, 1000, 4096);
    record(stats, TALLY_OP_read, EIO, 3000, 0);
    record(stats, TALLY_OP_read, 500, 2000, 0);
    json = render_json(stats, "stats.json");
    CHECK_EQ(number(json, "schema"), TALLY_STATS_SCHEMA);
    CHECK_STR(json_string_value(json_object_get(json, "version")), "1.2.3");
    CHECK_STR(json_string_value(json_object_get(json, "lower")), "/srv/data \"x\"\n\xc3\xbf");
    CHECK_STR(json_string_value(json_object_get(json, "options")), "compress=zstd:3,chunk=64K");
    CHECK_EQ(number(json, "epoch"), 1);
    CHECK_EQ(number(json, "lost"), 0);
    CHECK(number(json, "uptime_ns") > 0);
    CHECK_EQ(json_object_size(json_object_get(json, "operations")), 1);
    CHECK_EQ(json_object_size(json_object_get(json, "background")), TALLY_BACKGROUND_COUNT);
    operation = json_object_get(json_object_get(json, "operations"), "read");
    CHECK_EQ(number(operation, "count"), 3);
    CHECK_EQ(number(operation, "errors"), 2);
    CHECK_EQ(number(operation, "bytes"), 4096);
    CHECK_EQ(number(operation, "total_ns"), 6000);
    CHECK_EQ(number(operation, "min_ns"), 1000);
    CHECK_EQ(number(operation, "max_ns"), 3000);
    CHECK_EQ(number(operation, "lower_ns"), 3000);
    CHECK_EQ(number(operation, "codec_ns"), 1500);
    CHECK_EQ(number(operation, "wait_ns"), 750);
    CHECK_EQ(number(operation, "self_ns"), 750);
    CHECK_EQ(number(operation, "p50_ns"), 2015); /* the bucket 1984 to 2015 */
    CHECK_EQ(number(operation, "p999_ns"), 3000);
    errors = json_object_get(operation, "errors_by_errno");
    CHECK_EQ(json_object_size(errors), 2);
    CHECK_EQ(number(errors, "EIO"), 1);
    CHECK_EQ(number(errors, "other"), 1);
    json_decref(json);
    stats_destroy(stats);
}

struct listing {
    struct stats *stats;
    size_t count;
    size_t bytes;
};

static void render_name(void *user, const char *name)
{
    struct listing *listing = user;
    char *text = render(listing->stats, name);

    CHECK(text[0] != '\0');
    free(text);
    listing->count++;
    listing->bytes += strlen(TALLY_XATTR_PREFIX) + strlen(name) + 1;
}

static void renders_when_each_listed_name_is_read(void)
{
    struct listing listing = {.stats = create_full()};

    stats_names(render_name, &listing);
    CHECK(listing.count > TALLY_OP_COUNT * 15);
    CHECK(listing.bytes < VALUE_BYTES_MAX);
    stats_destroy(listing.stats);
}

static void refuses_when_the_name_is_not_a_counter(void)
{
    static const char *const names[] = {
        "",
        "op",
        "op.",
        "op.nothing",
        "op.read.",
        "op.read.nothing",
        "op.read.count.",
        "stats.xml",
        "background.",
        "background.nothing",
        "Epoch",
    };
    struct stats *stats = create();

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        AUTO_STRBUF struct strbuf value = STRBUF_INIT;

        CHECK_EQ(stats_render(stats, &head, names[i], &value), -ENODATA);
        CHECK_EQ(value.length, 0);
    }
    stats_destroy(stats);
}

static void keeps_every_error_when_errnos_do_not_fit(void)
{
    struct stats *stats = create_full();
    json_t *json, *operations, *operation, *value;
    const char *name, *error;

    record(stats, TALLY_OP_read, ENOTRECOVERABLE, 1, 0);
    json = render_json(stats, "stats.json");
    operations = json_object_get(json, "operations");
    CHECK_EQ(json_object_size(operations), TALLY_OP_COUNT);
    json_object_foreach(operations, name, operation) {
        json_t *errors = json_object_get(operation, "errors_by_errno");
        json_int_t sum = 0;

        json_object_foreach(errors, error, value)
            sum += json_integer_value(value);
        CHECK_EQ(sum, number(operation, "errors"));
        CHECK(json_object_size(errors) < TALLY_ERRNO_SLOTS / 2);
    }
    /* The most frequent ones are those that are named. */
    operation = json_object_get(operations, "read");
    CHECK_EQ(number(json_object_get(operation, "errors_by_errno"), "ENOTRECOVERABLE"), 2);
    json_decref(json);
    stats_destroy(stats);
}

static void adds_up_when_the_time_is_split(void)
{
    struct stats *stats = create_full();
    json_t *json = render_json(stats, "stats.json");
    const char *name;
    json_t *operation;

    json_object_foreach(json_object_get(json, "operations"), name, operation)
        CHECK_EQ(number(operation, "lower_ns") + number(operation, "codec_ns") +
                     number(operation, "wait_ns") + number(operation, "self_ns"),
                 number(operation, "total_ns"));
    json_decref(json);
    stats_destroy(stats);
}

static void prints_sparse_pairs_when_read_as_histogram(void)
{
    struct stats *stats = create();
    char *text;

    record(stats, TALLY_OP_fsync, 0, 5, 0);
    record(stats, TALLY_OP_fsync, 0, 5, 0);
    record(stats, TALLY_OP_fsync, 0, 131, 0);
    record(stats, TALLY_OP_fsync, 0, UINT64_C(1) << 45, 0);
    text = render(stats, "op.fsync.histogram");
    CHECK_STR(text, "5 2\n128 1\n>1099511627776 1\n");
    free(text);
    stats_destroy(stats);
}

static void answers_with_text_when_one_field_is_read(void)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"op.mkdir.count", "1"},     {"op.mkdir.errors", "1"},   {"op.mkdir.total_ns", "800"},
        {"op.mkdir.self_ns", "100"}, {"op.mkdir.p99_ns", "800"}, {"op.rmdir.count", "0"},
        {"op.rmdir.min_ns", "0"},    {"op.rmdir.p50_ns", "0"},   {"epoch", "1"},
    };
    struct stats *stats = create();

    record(stats, TALLY_OP_mkdir, EEXIST, 800, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text = render(stats, rows[i].name);

        CHECK_STR(text, rows[i].text);
        free(text);
    }
    stats_destroy(stats);
}

static void counts_work_when_nobody_waits_for_it(void)
{
    struct stats *stats = create();
    const struct split split = {.lower_ns = 1, .codec_ns = 2, .wait_ns = 3};
    json_t *json;

    stats_record_background(stats_thread(stats), TALLY_BACKGROUND_RECLAIM, EIO, 4096, &split);
    json = render_json(stats, "background.reclaim");
    CHECK_EQ(number(json, "count"), 1);
    CHECK_EQ(number(json, "errors"), 1);
    CHECK_EQ(number(json, "bytes"), 4096);
    CHECK_EQ(number(json, "total_ns"), 6);
    CHECK_EQ(number(json, "codec_ns"), 2);
    json_decref(json);
    json = render_json(stats, "background.compress");
    CHECK_EQ(number(json, "count"), 0);
    json_decref(json);
    stats_destroy(stats);
}

/* Whether `line` is a sample of the family that the last # TYPE line opened. */
static bool belongs(const char *line, const char *family, const char *type)
{
    static const struct {
        const char *type, *suffix;
    } suffixes[] = {
        {"counter", "_total"},    {"gauge", ""},           {"info", "_info"},
        {"histogram", "_bucket"}, {"histogram", "_count"}, {"histogram", "_sum"},
    };
    size_t length = strlen(family);

    if (strncmp(line, family, length) != 0)
        return false;
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t more = strlen(suffixes[i].suffix);

        if (strcmp(type, suffixes[i].type) == 0 &&
            strncmp(line + length, suffixes[i].suffix, more) == 0 &&
            (line[length + more] == '{' || line[length + more] == ' '))
            return true;
    }
    return false;
}

static void is_openmetrics_when_every_operation_was_used(void)
{
    struct stats *stats = create_full();
    char *text = render(stats, "stats.openmetrics"), *rest = text, *line;
    char family[128] = "", type[32] = "", seen[64][128];
    size_t families = 0, buckets = 0;
    bool ended = false;
    double before = 0;

    CHECK(strstr(text, "tallyfs_operations_total{op=\"read\"} 135\n"));
    CHECK(strstr(text, "lower=\"/srv/data \\\"x\\\"\\n"));
    CHECK(strstr(text, "errno=\"other\""));
    while ((line = strsep(&rest, "\n")) && *line) {
        CHECK(!ended);
        if (strcmp(line, "# EOF") == 0) {
            ended = true;
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            CHECK_EQ(sscanf(line, "# TYPE %127s %31s", family, type), 2);
            for (size_t i = 0; i < families; i++)
                CHECK(strcmp(seen[i], family) != 0);
            CHECK(families < 64);
            strcpy(seen[families++], family);
        } else if (strncmp(line, "# UNIT ", 7) == 0) {
            const char *unit = strrchr(line, ' ') + 1;
            size_t length = strlen(family), more = strlen(unit);

            CHECK(length > more && family[length - more - 1] == '_' &&
                  strcmp(family + length - more, unit) == 0);
        } else if (strncmp(line, "# HELP ", 7) == 0) {
            CHECK(strncmp(line + 7, family, strlen(family)) == 0);
        } else {
            char *end;
            double value = strtod(strrchr(line, ' ') + 1, &end);

            CHECK(belongs(line, family, type) && *end == '\0');
            if (strstr(line, "_bucket{")) {
                CHECK(strstr(line, "le=\"0.000002047\"") || strstr(line, "le=\"511.0\"") || value >= before);
                before = value;
                buckets++;
            } else if (strstr(line, "_count{")) {
                CHECK(value == before);
            }
        }
    }
    CHECK(ended && line && !rest);
    CHECK_EQ(buckets, TALLY_OP_COUNT * 9 + 2 * 12);
    free(text);
    stats_destroy(stats);
}

static void tells_sizes_when_requests_have_them(void)
{
    static const uint64_t sizes[] = {0, 1, 4095, 4096, 4096, 131072, UINT64_C(1) << 40};
    struct stats *stats = create();
    json_t *json, *operation;
    char *text;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const struct stats_sample sample = {.op = TALLY_OP_read, .requested_bytes = sizes[i], .total_ns = 1};

        stats_record(stats_thread(stats), &sample);
    }
    text = render(stats, "op.read.sizes");
    CHECK_STR(text, "0 1\n1 1\n2048 1\n4096 2\n131072 1\n4294967296 1\n");
    free(text);
    text = render(stats, "stats.openmetrics");
    CHECK(strstr(text, "tallyfs_operation_request_bytes_bucket{op=\"read\",le=\"511.0\"} 2\n"));
    CHECK(strstr(text, "tallyfs_operation_request_bytes_bucket{op=\"read\",le=\"8191.0\"} 5\n"));
    CHECK(strstr(text, "tallyfs_operation_request_bytes_count{op=\"read\"} 7\n"));
    CHECK(!strstr(text, "request_bytes_count{op=\"write\"}"));
    free(text);
    json = render_json(stats, "stats.json");
    operation = json_object_get(json_object_get(json, "operations"), "read");
    CHECK_EQ(number(operation, "requested_bytes"), 1 + 4095 + 2 * 4096 + 131072 + (INT64_C(1) << 40));
    CHECK_EQ(json_array_size(json_object_get(operation, "sizes_bytes")), 6);
    json_decref(json);
    stats_destroy(stats);
}

static void puts_samples_under_their_bounds_when_read_as_openmetrics(void)
{
    struct stats *stats = create();
    char *text;

    record(stats, TALLY_OP_read, 0, 2047, 0);
    record(stats, TALLY_OP_read, 0, 2048, 0);
    record(stats, TALLY_OP_read, 0, UINT64_C(5) * NS_PER_SECOND, 0);
    text = render(stats, "stats.openmetrics");
    CHECK(strstr(text, "{op=\"read\",le=\"0.000002047\"} 1\n"));
    CHECK(strstr(text, "{op=\"read\",le=\"0.000016383\"} 2\n"));
    CHECK(strstr(text, "{op=\"read\",le=\"4.294967295\"} 2\n"));
    CHECK(strstr(text, "{op=\"read\",le=\"+Inf\"} 3\n"));
    CHECK(strstr(text, "tallyfs_operation_latency_seconds_sum{op=\"read\"} 5.000004095\n"));
    free(text);
    stats_destroy(stats);
}

static void lists_used_operations_when_read_by_people(void)
{
    struct stats *stats = create();
    char *text;

    record(stats, TALLY_OP_symlink, 0, 12345, 0);
    text = render(stats, "stats");
    CHECK(strstr(text, "\nsymlink "));
    CHECK(strstr(text, " 12.3 "));
    CHECK(!strstr(text, "\nreadlink "));
    CHECK_STR(tally_op_name(TALLY_OP_symlink), "symlink");
    CHECK_EQ(tally_op_by_name("symlink"), TALLY_OP_symlink);
    CHECK_EQ(tally_op_by_name("symlin"), -1);
    free(text);
    stats_destroy(stats);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(names_what_was_counted_when_read_as_json),
        CASE(renders_when_each_listed_name_is_read),
        CASE(refuses_when_the_name_is_not_a_counter),
        CASE(keeps_every_error_when_errnos_do_not_fit),
        CASE(adds_up_when_the_time_is_split),
        CASE(prints_sparse_pairs_when_read_as_histogram),
        CASE(answers_with_text_when_one_field_is_read),
        CASE(counts_work_when_nobody_waits_for_it),
        CASE(is_openmetrics_when_every_operation_was_used),
        CASE(tells_sizes_when_requests_have_them),
        CASE(puts_samples_under_their_bounds_when_read_as_openmetrics),
        CASE(lists_used_operations_when_read_by_people),
    };

    return RUN_CASES(cases);
}
