#include "rules.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "layout.h"
#include "util/cleanup.h"

static bool may_find(const struct comparison *comparison, int64_t left, int64_t right)
{
    const int64_t *arguments = comparison->op->arguments;
    AUTO_LAYOUT struct layout layout = {.data.all = NULL};
    AUTO_CLOSE int fd = -1;
    char path[64];

    if ((arguments[2] != SEEK_DATA && arguments[2] != SEEK_HOLE) || (right < 0 && right != -ENXIO))
        return false;
    /* The program's descriptor may be for writing only. */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", comparison->right->slots[arguments[0]]);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    return layout_read(fd, comparison->traits, &layout) == 0 &&
           layout_may_find(&layout, arguments[1], (int)arguments[2], left);
}

static bool looks_before_the_beginning(const struct comparison *comparison, int64_t left, int64_t right)
{
    const int64_t *arguments = comparison->op->arguments;

    (void)right;
    return arguments[1] < 0 && (arguments[2] == SEEK_DATA || arguments[2] == SEEK_HOLE) && left == -ENXIO;
}

static bool asks_as_open_file(const struct comparison *comparison, int64_t left, int64_t right)
{
    (void)right;
    return comparison->op->arguments[1] == F_OFD_GETLK && left == 0;
}

static bool stores_later(const struct comparison *comparison, int64_t left, int64_t right)
{
    return (comparison->traits->compressed || comparison->traits->writeback) && left == 1 &&
           right == 0;
}

static bool left_alone(const struct comparison *comparison, int64_t left, int64_t right)
{
    (void)comparison;
    return left == 1 && right == 0;
}

static bool writes_stores_later(const struct comparison *comparison, int64_t left, int64_t right)
{
    bool has_mapping = false;

    for (unsigned i = 0; i < MAPS && !has_mapping; i++)
        has_mapping = comparison->left->maps[i].at != NULL;
    return has_mapping && left == 1 && right == 0;
}

static bool right_alone(const struct comparison *comparison, int64_t left, int64_t right)
{
    (void)comparison;
    return left == 0 && right == 1;
}

/* The kernel keeps the times itself with the write-back cache. */
static bool keeps_times(const struct comparison *comparison, int64_t left, int64_t right)
{
    return comparison->traits->writeback && left == 0 && right == 1;
}

static bool gets_no_pid(const struct comparison *comparison, int64_t left, int64_t right)
{
    (void)right;
    return comparison->op->arguments[1] == F_OFD_GETLK && left == 1;
}

/* What may differ, and why it must. */
static const struct rule {
    const char *call; /* NULL: any */
    const char *field;
    bool (*applies)(const struct comparison *comparison, int64_t left, int64_t right);
    const char *reason;
} rules[] = {
    {"lseek", "result", may_find, "see layout.h"},
    {"lseek", "result", looks_before_the_beginning, "Btrfs alone looks from the beginning then"},
    {"lock", "own pid", asks_as_open_file,
     "the kernel answers F_OFD_GETLK on FUSE as if an open file had the lock"},
    {NULL, "move of ctime", stores_later,
     "the store and the kernel's write-back cache write after the program, and nothing can set "
     "ctime back"},
    {"set_inode_flags", "move of ctime", keeps_times,
     "the kernel does not move its own ctime for an ioctl"},
    {NULL, "move of mtime", writes_stores_later,
     "the kernel writes what was stored through a mapping when it likes, and the file's time moves then"},
    {"truncate", "move of", keeps_times,
     "the kernel does not move its own times where the size stays as it was"},
    {"truncate", "move of", left_alone,
     "XFS alone leaves times where truncate leaves the size; ftruncate moves them"},
    {"fallocate", "move of", left_alone,
     "Btrfs alone leaves times where the range is a hole already; the store moves them"},
    {"ftruncate", "move of", keeps_times, "the same"},
    {"lock", "no pid", gets_no_pid, "the same"},
    {"lock", "no pid", right_alone, "as the next"},
    {"lock", "own pid", left_alone,
     "the kernel does not say which locks are an open file's, so that the one who locked is told instead of nobody"},
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* Calls that the left may refuse although the right would do them. They are not made on the right then. */
static const struct refusal {
    enum call_id call;
    unsigned argument; /* which of the call's arguments ... */
    int64_t bits;      /* ... has one of these bits */
    int error;
    const char *reason;
} refusals[] = {
    {CALL_fallocate, 1, FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE | FALLOC_FL_UNSHARE_RANGE,
     EOPNOTSUPP, "the kernel's FUSE passes only allocation, punching and zeroing on"},
};

bool rules_left_refuses(const struct comparison *comparison, const struct outcome *left)
{
    const struct op *op = comparison->op;

    for (size_t i = 0; i < ROWS(refusals); i++) {
        if (refusals[i].call == op->call && left->result < 0 && left->error == refusals[i].error &&
            op->arguments[refusals[i].argument] & refusals[i].bits)
            return true;
    }
    return false;
}

static const char *call_name(const struct comparison *comparison)
{
    unsigned call = comparison->op ? comparison->op->call : CALL_tree;

    return call < CALL_COUNT ? call_types[call].name : "remount";
}

static bool is_excused(const struct comparison *comparison, const char *field, int64_t left,
                       int64_t right)
{
    for (size_t i = 0; i < ROWS(rules); i++) {
        if ((!rules[i].call || strcmp(rules[i].call, call_name(comparison)) == 0) &&
            strncmp(rules[i].field, field, strlen(rules[i].field)) == 0 &&
            rules[i].applies(comparison, left, right))
            return true;
    }
    return false;
}

struct report {
    const struct comparison *comparison;
    const char *of;
    struct strbuf *text;
    const char *field; /* the first that differs */
};

static void differs(struct report *report, const char *field)
{
    if (!report->field)
        report->field = field;
    strbuf_printf(report->text, "    %s%s%s: ", report->of ? report->of : "",
                  report->of ? ": " : "", field);
}

static void print_value(struct strbuf *text, const char *field, int64_t value)
{
    if (strcmp(field, "mode") == 0 || strcmp(field, "flags") == 0)
        strbuf_printf(text, "%#llo", (unsigned long long)value);
    else if (value == INT64_MAX && strstr(field, "time"))
        strbuf_puts(text, "now");
    else
        strbuf_printf(text, "%lld", (long long)value);
    if (strcmp(field, "result") == 0 && value < 0)
        strbuf_printf(text, " (%s)", strerror((int)-value));
}

static void compare_value(struct report *report, const char *field, int64_t left, int64_t right)
{
    if (left == right || is_excused(report->comparison, field, left, right))
        return;
    differs(report, field);
    print_value(report->text, field, left);
    strbuf_puts(report->text, " on the left, ");
    print_value(report->text, field, right);
    strbuf_puts(report->text, " on the right\n");
}

static void compare_data(struct report *report, const struct outcome *left,
                         const struct outcome *right)
{
    size_t common = left->size < right->size ? left->size : right->size, at = 0;

    while (at < common && left->data[at] == right->data[at])
        at++;
    if (at == common && left->size == right->size)
        return;
    differs(report, "bytes");
    strbuf_printf(report->text, "%zu on the left, %zu on the right, the first difference at %zu",
                  left->size, right->size, at);
    if (at < common)
        strbuf_printf(report->text, ": %#x and %#x", left->data[at], right->data[at]);
    strbuf_puts(report->text, "\n");
}

static void compare_text(struct report *report, const struct outcome *left,
                         const struct outcome *right)
{
    if (left->text.length == right->text.length &&
        (left->text.length == 0 ||
         memcmp(left->text.data, right->text.data, left->text.length) == 0))
        return;
    differs(report, "names");
    strbuf_printf(report->text, "on the left\n%.*son the right\n%.*s", (int)left->text.length,
                  left->text.data ? left->text.data : "", (int)right->text.length,
                  right->text.data ? right->text.data : "");
}

bool rules_compare(const struct comparison *comparison, const char *of, const struct outcome *left,
                   const struct outcome *right, struct strbuf *text, const char **ret_field)
{
    struct report report = {comparison, of, text, NULL};

    compare_value(&report, "result", left->result < 0 ? -left->error : left->result,
                  right->result < 0 ? -right->error : right->result);
    for (size_t i = 0; i < left->count && i < right->count && !report.field; i++)
        compare_value(&report, left->values[i].name, left->values[i].value, right->values[i].value);
    if (!report.field)
        compare_data(&report, left, right);
    if (!report.field)
        compare_text(&report, left, right);
    if (report.field)
        *ret_field = report.field;
    return report.field != NULL;
}
