/* tallyctl top, tallyctl slow */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/mount.h"
#include "ctl/rows.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define USER_BYTES 32

static int get_rows(const char *path, const char *attribute, char **ret_text, struct rows *ret_rows,
                    const struct log *log)
{
    const char *problem = mount_problem(path);
    int r = problem ? -ENODATA : mount_get(path, attribute, ret_text);

    if (r == 0)
        r = rows_parse(*ret_text, ret_rows);
    if (r == 0)
        return 0;
    if (!problem && r == -EPERM)
        problem = "only root and the owner of the mount may see that";
    else if (!problem && r == -ENODATA)
        problem = "the mount does not count that (stats=off, or no tree=DEPTH)";
    log_error(log, "%s: %s", path, problem ? problem : strerrordesc_np(-r));
    return r;
}

static void name_user(const char *uid, char ret_name[static USER_BYTES])
{
    const struct passwd *user = getpwuid((uid_t)strtoul(uid, NULL, 10));

    snprintf(ret_name, USER_BYTES, "%.*s", USER_BYTES - 1, user ? user->pw_name : uid);
}

/* What the row is of. What has no row of its own is "other" in every table. */
static void print_subject(const struct rows *rows, size_t row)
{
    const char *name = rows_text(rows, row, "name"), *path = rows_text(rows, row, "path");
    const char *uid = rows_text(rows, row, "uid"), *pid = rows_text(rows, row, "pid");
    char user[USER_BYTES];

    if (name || path) {
        puts(name ? name : path);
    } else if (!uid || strcmp(uid, "-1") == 0) {
        puts("other");
    } else {
        name_user(uid, user);
        if (pid)
            printf("%s %s, %s\n", pid, rows_text(rows, row, "command"), user);
        else
            puts(user);
    }
}

/* The row's time, also as a part of all rows' time. */
static void print_row(const struct rows *rows, size_t row, uint64_t all_ns)
{
    uint64_t count = rows_number(rows, row, "count"), total_ns = rows_number(rows, row, "total_ns");
    char texts[5][FORMAT_BYTES];
    char errors[FORMAT_BYTES];

    format_ns((double)total_ns, texts[0]);
    format_share(all_ns ? (double)total_ns / (double)all_ns : 0, texts[1]);
    format_count(count, 8, texts[2]);
    format_count(rows_number(rows, row, "errors"), 6, errors);
    format_bytes(rows_number(rows, row, "bytes"), texts[3]);
    format_ns(count ? (double)total_ns / (double)count : 0, texts[4]);
    printf("%7s %5s %8s %6s %6s %6s  ", texts[0], texts[1], texts[2], errors, texts[3], texts[4]);
    print_subject(rows, row);
}

struct order {
    uint64_t value;
    size_t row;
};

static int by_value(const void *left, const void *right)
{
    const struct order *a = left, *b = right;

    if (a->value != b->value)
        return a->value < b->value ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

int command_top(const struct options *options, const struct log *log)
{
    static const char *const columns[] = {[TOP_BY_TIME] = "total_ns", [TOP_BY_BYTES] = "bytes", [TOP_BY_OPERATIONS] = "count"};
    static const char *const attributes[] = {
        [TOP_OF_FILES] = "top", [TOP_OF_USERS] = "by.uid", [TOP_OF_PROCESSES] = "by.pid", [TOP_OF_TREES] = "by.tree"};
    static const char *const subjects[] = {
        [TOP_OF_FILES] = "file", [TOP_OF_USERS] = "user", [TOP_OF_PROCESSES] = "process", [TOP_OF_TREES] = "tree"};
    AUTO_FREE char *text = NULL;
    AUTO_ROWS struct rows rows = {.cells = NULL};
    AUTO_FREE struct order *order = NULL;
    uint64_t all_ns = 0;

    if (get_rows(options->operands[0], attributes[options->top_of], &text, &rows, log) < 0)
        return EXIT_FAILED;
    order = calloc(rows.count + 1, sizeof(*order));
    if (!order) {
        log_error(log, "%s", strerrordesc_np(ENOMEM));
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < rows.count; i++) {
        order[i] = (struct order){rows_number(&rows, i, columns[options->top_by]), i};
        all_ns += rows_number(&rows, i, "total_ns");
    }
    qsort(order, rows.count, sizeof(*order), by_value);
    printf("%7s %5s %8s %6s %6s %6s  %s\n", "time", "share", "count", "errors", "bytes", "mean", subjects[options->top_of]);
    for (size_t i = 0; i < rows.count && i < options->rows_max; i++)
        print_row(&rows, order[i].row, all_ns);
    return EXIT_DONE;
}

static void print_slow(const struct rows *rows, size_t row)
{
    uint64_t time_ns = rows_number(rows, row, "time_ns"), total_ns = rows_number(rows, row, "total_ns");
    uint64_t lower_ns = rows_number(rows, row, "lower_ns"), codec_ns = rows_number(rows, row, "codec_ns");
    uint64_t error = rows_number(rows, row, "errno");
    const time_t second = (time_t)(time_ns / NS_PER_SECOND);
    char when[32] = "", texts[4][FORMAT_BYTES], user[USER_BYTES];
    struct tm local;

    if (localtime_r(&second, &local))
        strftime(when, sizeof(when), "%H:%M:%S", &local);
    format_ns((double)total_ns, texts[0]);
    format_ns((double)lower_ns, texts[1]);
    format_ns((double)codec_ns, texts[2]);
    format_ns((double)rows_number(rows, row, "wait_ns"), texts[3]);
    name_user(rows_text(rows, row, "uid") ? rows_text(rows, row, "uid") : "-1", user);
    printf("%s %-12s %6s %6s %6s %6s  %s, pid %" PRIu64 ": %s%s%s\n", when,
           rows_text(rows, row, "op") ? rows_text(rows, row, "op") : "?", texts[0], texts[1], texts[2], texts[3], user,
           rows_number(rows, row, "pid"), rows_text(rows, row, "name") ? rows_text(rows, row, "name") : "?",
           error ? ": " : "", error ? strerrordesc_np((int)error) ? strerrordesc_np((int)error) : "unknown error" : "");
}

int command_slow(const struct options *options, const struct log *log)
{
    AUTO_FREE char *text = NULL, *limit = NULL;
    AUTO_ROWS struct rows rows = {.cells = NULL};

    if (get_rows(options->operands[0], "slow", &text, &rows, log) < 0)
        return EXIT_FAILED;
    if (rows.count == 0) {
        if (mount_get(options->operands[0], "slow_ms", &limit) == 0)
            log_error(log, "%s: no operation took %s ms or longer", options->operands[0], limit);
        return EXIT_DONE;
    }
    printf("%-8s %-12s %6s %6s %6s %6s  %s\n", "when", "operation", "took", "lower", "codec", "wait", "by whom, on what");
    for (size_t i = rows.count > options->rows_max ? rows.count - options->rows_max : 0; i < rows.count; i++)
        print_slow(&rows, i);
    return EXIT_DONE;
}
