#include "ctl/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tally/format.h"
#include "util/parse.h"

#define WATCH_MAX_S 86400.0
#define DEFAULT_CHUNK_BYTES (128U << 10)
#define DEFAULT_CODEC "zstd:3"
#define DEFAULT_ROWS 20

static int set_json(struct options *options, const char *value)
{
    (void)value;
    options->format = STAT_JSON;
    return 0;
}

static int set_openmetrics(struct options *options, const char *value)
{
    (void)value;
    options->format = STAT_OPENMETRICS;
    return 0;
}

static int set_csv(struct options *options, const char *value)
{
    (void)value;
    options->format = STAT_CSV;
    return 0;
}

static int set_since(struct options *options, const char *value)
{
    options->since = value;
    return 0;
}

static int set_watch(struct options *options, const char *value)
{
    int r = parse_seconds(value, WATCH_MAX_S, &options->watch_s);

    return r == 0 && options->watch_s < 0.01 ? -ERANGE : r;
}

static int set_operations(struct options *options, const char *value)
{
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        char name[32];
        int op;

        if (length >= sizeof(name))
            return -EINVAL;
        memcpy(name, at, length);
        name[length] = '\0';
        op = tally_op_by_name(name);
        if (op < 0)
            return -EINVAL;
        options->operations[op] = true;
        at += length;
        if (*at == '\0')
            break;
    }
    options->some_operations = true;
    return 0;
}

const struct option_row stat_options[] = {
    {"json", NULL, "as JSON, with histograms: a snapshot for --since", set_json},
    {"openmetrics", NULL, "as OpenMetrics text, for Prometheus", set_openmetrics},
    {"csv", NULL, "as CSV, a row an operation", set_csv},
    {"since", "SNAPSHOT.json", "only what was counted since the snapshot was made", set_since},
    {"watch", "SECONDS", "again and again, each time what that interval counted", set_watch},
    {"op", "NAME[,NAME...]", "only these operations", set_operations},
    {0},
};

/* The place of `value` among `count` words, or -EINVAL. */
static int choose(const char *value, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(value, words[i]) == 0)
            return (int)i;
    return -EINVAL;
}

static int set_by(struct options *options, const char *value)
{
    static const char *const words[] = {[TOP_BY_TIME] = "time", [TOP_BY_BYTES] = "bytes", [TOP_BY_OPERATIONS] = "ops"};
    int r = choose(value, words, sizeof(words) / sizeof(words[0]));

    if (r >= 0)
        options->top_by = (enum top_by)r;
    return r < 0 ? r : 0;
}

static int set_of(struct options *options, const char *value)
{
    static const char *const words[] = {[TOP_OF_FILES] = "files", [TOP_OF_USERS] = "users", [TOP_OF_PROCESSES] = "processes",
                                        [TOP_OF_TREES] = "trees"};
    int r = choose(value, words, sizeof(words) / sizeof(words[0]));

    if (r >= 0)
        options->top_of = (enum top_of)r;
    return r < 0 ? r : 0;
}

static int set_rows(struct options *options, const char *value)
{
    int64_t rows;
    int r = parse_integer(value, 1, INT32_MAX, &rows);

    if (r == 0)
        options->rows_max = (size_t)rows;
    return r;
}

const struct option_row top_options[] = {
    {"by", "time|bytes|ops", "in which order; the default is time", set_by},
    {"of", "files|users|processes|trees", "of what; the default is files; trees need -o tree=DEPTH", set_of},
    {"rows", "N", "how many; the default is 20", set_rows},
    {0},
};

const struct option_row slow_options[] = {
    {"rows", "N", "how many, the newest; the default is 20", set_rows},
    {0},
};

static int set_repair(struct options *options, const char *value)
{
    (void)value;
    options->repair = true;
    return 0;
}

const struct option_row check_options[] = {
    {"repair", NULL, "mark what is lost, write the index anew, cut off what a crash has left", set_repair},
    {0},
};

static int set_to(struct options *options, const char *value)
{
    return tally_codec_parse(value, &options->to);
}

static int set_chunk(struct options *options, const char *value)
{
    uint64_t bytes;
    int r = parse_size(value, FORMAT_CHUNK_MIN, FORMAT_CHUNK_MAX, &bytes);

    if (r == 0 && (bytes & (bytes - 1)) != 0)
        r = -EINVAL;
    if (r == 0)
        options->chunk_bytes = (uint32_t)bytes;
    return r;
}

const struct option_row convert_options[] = {
    {"to", "CODEC[:LEVEL]", "none: plain files; lz4, lz4hc, zstd or gzip; the default is zstd:3", set_to},
    {"chunk", "SIZE", "compression chunk, a power of two from 16K to 1M; the default is 128K", set_chunk},
    {0},
};

void options_print_help(const struct option_row *rows)
{
    for (; rows && rows->name; rows++) {
        char left[40];

        snprintf(left, sizeof(left), "--%s%s%s", rows->name, rows->value ? " " : "",
                 rows->value ? rows->value : "");
        printf("  %-22s  %s\n", left, rows->help);
    }
    printf("  %-22s  %s\n", "-h", "this text");
}

static const struct option_row *find_row(const struct option_row *rows, const char *name,
                                         size_t length)
{
    for (; rows && rows->name; rows++)
        if (strlen(rows->name) == length && memcmp(rows->name, name, length) == 0)
            return rows;
    return NULL;
}

/* One word that begins with "--"; takes its value from **next where it has none of its own. */
static int parse_option(const struct option_row *rows, const char *word, char ***next,
                        const struct log *log, struct options *options)
{
    size_t length = strcspn(word + 2, "=");
    const char *value = word[2 + length] == '=' ? word + 2 + length + 1 : NULL;
    const struct option_row *row = find_row(rows, word + 2, length);
    int r;

    if (!row) {
        log_error(log, "%s: unknown option", word);
        return -EINVAL;
    }
    if (row->value && !value)
        value = *(*next) ? *(*next)++ : NULL;
    if ((value != NULL) != (row->value != NULL)) {
        log_error(log, "--%s: %s", row->name, row->value ? "a value is missing" : "takes no value");
        return -EINVAL;
    }
    r = row->set(options, value);
    if (r < 0)
        log_error(log, "--%s %s: %s", row->name, value,
                  r == -ERANGE ? "out of range" : "not a valid value");
    return r < 0 ? -EINVAL : 0;
}

static int check_combination(const struct options *options, const struct log *log)
{
    const char *problem = NULL;

    if (options->since && options->watch_s > 0)
        problem = "--since and --watch: each names another beginning; use one";
    else if (options->format == STAT_OPENMETRICS && (options->since || options->watch_s > 0))
        problem = "--openmetrics: counters that only grow are what it is for; not with --since or "
                  "--watch";
    if (problem)
        log_error(log, "%s", problem);
    return problem ? -EINVAL : 0;
}

int options_parse(const struct option_row *rows, int operands_max, char **words,
                  const struct log *log, struct options *ret_options)
{
    struct options options = {.operands = words, .chunk_bytes = DEFAULT_CHUNK_BYTES, .rows_max = DEFAULT_ROWS};
    char **next = words;
    bool ended = false;

    tally_codec_parse(DEFAULT_CODEC, &options.to);
    while (*next) {
        char *word = *next++;

        if (ended || word[0] != '-' || word[1] == '\0') {
            options.operands[options.operand_count++] = word;
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            options.help = true;
            *ret_options = options;
            return 0;
        } else if (word[1] != '-') {
            log_error(log, "%s: unknown option", word);
            return -EINVAL;
        } else if (parse_option(rows, word, &next, log, &options) < 0) {
            return -EINVAL;
        }
    }
    if (options.operand_count == 0 || options.operand_count > operands_max) {
        log_error(log, "%s%s",
                  options.operand_count ? options.operands[operands_max] : "an operand is missing",
                  options.operand_count ? ": one operand too many" : "");
        return -EINVAL;
    }
    if (check_combination(&options, log) < 0)
        return -EINVAL;
    *ret_options = options;
    return 0;
}
