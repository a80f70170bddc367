#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/trees.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/parse.h"

#define TIMEOUT_MAX_S 31536000.0
#define CHUNK_MIN (UINT64_C(16) << 10)
#define CHUNK_MAX (UINT64_C(1) << 20)
#define THREADS_MAX 1024
/* Long for any one operation, but of a disk that sleeps or a file system far away. */
#define SLOW_FALLBACK_MS 100

/* 0, -EINVAL or -ERANGE. `value` is NULL for an option without one. */
typedef int option_parser(struct options *options, const char *value);

static int set_compress(struct options *options, const char *value)
{
    return tally_codec_parse(value, &options->fs.compress);
}

static int set_chunk(struct options *options, const char *value)
{
    uint64_t bytes;
    int r = parse_size(value, CHUNK_MIN, CHUNK_MAX, &bytes);

    if (r == 0 && (bytes & (bytes - 1)) != 0)
        r = -EINVAL;
    if (r == 0)
        options->fs.chunk_bytes = (uint32_t)bytes;
    return r;
}

static int set_cache(struct options *options, const char *value)
{
    static const char *const modes[] = {
        [FS_CACHE_AUTO] = "auto",
        [FS_CACHE_NONE] = "none",
        [FS_CACHE_WRITEBACK] = "writeback",
    };

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (strcmp(value, modes[i]) == 0) {
            options->fs.cache = (enum fs_cache)i;
            return 0;
        }
    }
    return -EINVAL;
}

static int set_attr_timeout(struct options *options, const char *value)
{
    return parse_seconds(value, TIMEOUT_MAX_S, &options->attr_timeout_s);
}

static int set_entry_timeout(struct options *options, const char *value)
{
    return parse_seconds(value, TIMEOUT_MAX_S, &options->entry_timeout_s);
}

static int set_threads(struct options *options, const char *value)
{
    int64_t threads;
    int r = parse_integer(value, 1, THREADS_MAX, &threads);

    if (r == 0)
        options->threads = (unsigned)threads;
    return r;
}

static int set_io_uring(struct options *options, const char *value)
{
    (void)value;
    options->io_uring = true;
    return 0;
}

static int set_stats(struct options *options, const char *value)
{
    int on;
    int r = parse_switch(value, &on);

    if (r == 0)
        options->fs.count = on;
    return r;
}

static int set_slow(struct options *options, const char *value)
{
    int64_t ms;
    int r = parse_integer(value, 0, FS_SLOW_MAX_MS, &ms);

    if (r == 0) {
        options->fs.slow_ns = (uint64_t)ms * NS_PER_MS;
        options->fs.slow_logged = ms > 0;
    }
    return r;
}

static int set_tree(struct options *options, const char *value)
{
    int64_t depth;
    int r = parse_integer(value, 0, TREES_DEPTH_MAX, &depth);

    if (r == 0)
        options->fs.tree_depth = (unsigned)depth;
    return r;
}

static int set_control(struct options *options, const char *value)
{
    char *name;

    if (value[0] == '\0' || strchr(value, '/') || strcmp(value, ".") == 0 || strcmp(value, "..") == 0 ||
        strlen(value) > 255)
        return -EINVAL;
    name = strdup(value);
    if (!name)
        return -ENOMEM;
    free(options->control);
    options->control = name;
    return 0;
}

static int set_remount(struct options *options, const char *value)
{
    (void)value;
    options->remount.wanted = true;
    return 0;
}

/* What mount(8) and fstab say to others than the file system. */
static int ignore(struct options *options, const char *value)
{
    (void)options;
    (void)value;
    return 0;
}

struct option_row {
    const char *name;
    const char *value;    /* placeholder; NULL for an option without a value */
    const char *fallback; /* what holds when it is not given; NULL: nothing to parse */
    const char *help;     /* NULL: not shown */
    option_parser *parse;
};

/* clang-format off */
static const struct option_row rows[] = {
    {"compress", "CODEC", "none", "none, lz4, lz4hc[:3..12], zstd[:-50..19] or gzip[:1..9]", set_compress},
    {"chunk", "SIZE", "128K", "compression chunk, a power of two from 16K to 1M", set_chunk},
    {"cache", "MODE", "auto", "kernel page cache: auto, none or writeback", set_cache},
    {"attr_timeout", "S", NULL, "seconds the kernel keeps attributes (1; 0 with cache=none)", set_attr_timeout},
    {"entry_timeout", "S", NULL, "seconds the kernel keeps names (1; 0 with cache=none)", set_entry_timeout},
    {"threads", "N", NULL, "threads that answer, 1 to 1024 (2 a processor, 8 to 32)", set_threads},
    {"io_uring", NULL, NULL, "transport over io_uring, where libfuse and the kernel have it", set_io_uring},
    {"stats", "on|off", "on", "count and time every operation", set_stats},
    {"slow", "MS", NULL, "keep operations that take longer, and log them (kept only: 100); 0 is none", set_slow},
    {"tree", "DEPTH", "0", "count each directory down to this depth, 1 to 16, with what is below it", set_tree},
    {"control", "NAME", ".tallyfs", "name of the control file in the mount's root", set_control},
    {"default_permissions", NULL, NULL, NULL, ignore},
    {"remount", NULL, NULL, NULL, set_remount},
    {"auto", NULL, NULL, NULL, ignore},
    {"noauto", NULL, NULL, NULL, ignore},
    {"nofail", NULL, NULL, NULL, ignore},
    {"user", NULL, NULL, NULL, ignore},
    {"_netdev", NULL, NULL, NULL, ignore},
};
/* clang-format on */

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static const struct option_row *find_row(const char *name, size_t length)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
            return &rows[i];
    }
    return NULL;
}

static int pass_on(struct options *options, const char *option)
{
    options->fsname_given |= strncmp(option, "fsname=", 7) == 0;
    options->subtype_given |= strncmp(option, "subtype=", 8) == 0;
    return fuse_opt_add_arg(&options->libfuse, "-o") == 0 && fuse_opt_add_arg(&options->libfuse, option) == 0
               ? 0
               : -ENOMEM;
}

static int parse_one(struct options *options, const struct log *log, const char *option)
{
    const char *equals = strchr(option, '=');
    const struct option_row *row = find_row(option, equals ? (size_t)(equals - option) : strlen(option));
    int r;

    if (strncmp(option, "x-", 2) == 0)
        return 0;
    remount_note(&options->remount, option);
    if (!row)
        return pass_on(options, option);
    if ((equals != NULL) != (row->value != NULL)) {
        log_error(log, "-o %s: %s", option, row->value ? "a value is missing" : "takes no value");
        return -EINVAL;
    }
    r = row->parse(options, equals ? equals + 1 : NULL);
    if (r == -ENOMEM)
        return r;
    if (r < 0) {
        log_error(log, "-o %s: %s; expected %s", option, r == -ERANGE ? "out of range" : "not a valid value",
                  row->help);
        return -EINVAL;
    }
    return 0;
}

/* Splits at commas; a backslash keeps the next character, as libfuse and mount(8) have it. */
static int parse_list(struct options *options, const struct log *log, const char *list)
{
    AUTO_FREE char *option = malloc(strlen(list) + 1);
    size_t length = 0;
    int r = 0;

    if (!option)
        return -ENOMEM;
    if (options->given.length > 0)
        strbuf_puts(&options->given, ",");
    strbuf_puts(&options->given, list);
    for (const char *at = list; r == 0; at++) {
        if (*at == ',' || *at == '\0') {
            option[length] = '\0';
            if (length > 0)
                r = parse_one(options, log, option);
            length = 0;
            if (*at == '\0')
                break;
            continue;
        }
        if (*at == '\\' && at[1] != '\0')
            at++;
        option[length++] = *at;
    }
    return r;
}

static int add_operand(struct options *options, const struct log *log, const char *operand)
{
    char **to = !options->lower ? &options->lower : !options->mountpoint ? &options->mountpoint : NULL;

    if (!to) {
        log_error(log, "%s: one operand too many; usage: tallyfs LOWER MOUNTPOINT [-o OPTION[,OPTION…]]", operand);
        return -EINVAL;
    }
    *to = strdup(operand);
    return *to ? 0 : -ENOMEM;
}

/* One word that begins with "-"; takes its value from *next where that is a word of its own. */
static int parse_flag(struct options *options, const struct log *log, const char *word, char *const **next)
{
    const char *list;

    if (strncmp(word, "-o", 2) == 0) {
        list = word[2] ? word + 2 : **next;
        if (!list) {
            log_error(log, "-o: a list of options is missing");
            return -EINVAL;
        }
        if (!word[2])
            (*next)++;
        return parse_list(options, log, list);
    }
    if (strcmp(word, "-f") == 0) {
        options->foreground = true;
    } else if (strcmp(word, "-d") == 0) {
        options->debug = options->foreground = true;
    } else if (strcmp(word, "-s") == 0) {
        options->threads = 1;
    } else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
        options->help = true;
    } else if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0) {
        options->version = true;
    } else {
        log_error(log, "%s: unknown option; tallyfs -h lists them", word);
        return -EINVAL;
    }
    return 0;
}

static int set_fallbacks(struct options *options)
{
    options->attr_timeout_s = options->entry_timeout_s = -1;
    options->fs.slow_ns = SLOW_FALLBACK_MS * NS_PER_MS;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        int r = rows[i].fallback ? rows[i].parse(options, rows[i].fallback) : 0;

        if (r < 0)
            return r;
    }
    return 0;
}

static void complete(struct options *options)
{
    double timeout_s = options->fs.cache == FS_CACHE_NONE ? 0 : 1;

    options->fs.control = options->control;
    options->fs.attr_timeout_s = options->attr_timeout_s < 0 ? timeout_s : options->attr_timeout_s;
    options->fs.entry_timeout_s = options->entry_timeout_s < 0 ? timeout_s : options->entry_timeout_s;
    options->fs.options = options->given.data ? options->given.data : "";
}

int options_parse(int argc, char *argv[], const struct log *log, struct options *options)
{
    char *const *next = argv + (argc > 0 ? 1 : 0);
    bool flags_ended = false;
    int r = fuse_opt_add_arg(&options->libfuse, "tallyfs") == 0 ? set_fallbacks(options) : -ENOMEM;

    while (r == 0 && *next) {
        const char *word = *next++;

        if (flags_ended || word[0] != '-' || word[1] == '\0')
            r = add_operand(options, log, word);
        else if (strcmp(word, "--") == 0)
            flags_ended = true;
        else
            r = parse_flag(options, log, word, &next);
    }
    if (r == 0 && options->debug && fuse_opt_add_arg(&options->libfuse, "-d") != 0)
        r = -ENOMEM;
    if (r == 0 && options->given.failed)
        r = -ENOMEM;
    if (r == 0 && !options->help && !options->version && !options->mountpoint) {
        log_error(log, "%s is missing; usage: tallyfs LOWER MOUNTPOINT [-o OPTION[,OPTION…]]",
                  options->lower ? "MOUNTPOINT" : "LOWER");
        r = -EINVAL;
    }
    if (r == 0)
        complete(options);
    return r;
}

void options_free(struct options *options)
{
    free(options->lower);
    free(options->mountpoint);
    free(options->control);
    strbuf_free(&options->given);
    fuse_opt_free_args(&options->libfuse);
}

void options_help(void)
{
    printf("Usage: tallyfs LOWER MOUNTPOINT [-o OPTION[,OPTION...]] [-f] [-d] [-s]\n"
           "       tallyfs -h | -V\n"
           "\n"
           "Mounts a view of the directory LOWER that counts and times every operation and, where asked,\n"
           "keeps file contents compressed.\n"
           "\n"
           "  -f  stay in the foreground      -d  the same, and libfuse prints every request\n"
           "  -s  one thread                  -h  this text      -V  versions\n"
           "\n");
    for (size_t i = 0; i < ROW_COUNT; i++) {
        char left[32];

        if (!rows[i].help)
            continue;
        snprintf(left, sizeof(left), "%s%s%s", rows[i].name, rows[i].value ? "=" : "",
                 rows[i].value ? rows[i].value : "");
        printf("  -o %-19s %s", left, rows[i].help);
        printf(rows[i].fallback ? " [%s]\n" : "\n", rows[i].fallback);
    }
    printf("\nlibfuse's own:\n");
    fuse_lowlevel_help();
}
