#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"
#include "workload.h"

/* Names for one cat, well below the kernel's limit for arguments. */
#define BATCH_FILES 1000
#define BATCH_BYTES ((size_t)100 * 1024)

static int copy_set(const struct source_set *set, const char *into, struct process_usage *usage,
                    struct reason *reason)
{
    char *to AUTO_FREE = NULL;
    int r;

    if (asprintf(&to, "%s/%s", into, set->name) < 0)
        return reason_path(reason, -ENOMEM, into);
    {
        const char *const arguments[] = {"cp", "-r", "--", set->directory, to, NULL};
        struct process_plan plan = {.stages = {{arguments, "/"}}, .count = 1};

        r = process_run(&plan, usage, reason);
    }
    return r;
}

/* cat * > /dev/null, in as few calls as the names allow. */
static int read_set(const struct source_set *set, const char *from, struct process_usage *usage,
                    struct reason *reason)
{
    const char **arguments AUTO_FREE = calloc(BATCH_FILES + 3, sizeof(*arguments));
    struct process_plan plan = {.stages = {{arguments, from}}, .count = 1};
    size_t next = 0;

    if (!arguments)
        return reason_path(reason, -ENOMEM, from);
    arguments[0] = "cat";
    arguments[1] = "--";
    while (next < set->manifest.count) {
        size_t count = 2, bytes = 0;
        int r;

        while (next < set->manifest.count && count < BATCH_FILES + 2 && bytes < BATCH_BYTES) {
            arguments[count++] = set->manifest.files[next].path;
            bytes += strlen(set->manifest.files[next++].path) + 1 + sizeof(char *);
        }
        arguments[count] = NULL;
        r = process_run(&plan, usage, reason);
        if (r < 0)
            return r;
    }
    return 0;
}

const struct workload workload_trigger = {
    .name = "trigger",
    .summary = "copy a detector's trigger files (raw and gzipped), read all, delete",
    .write_name = "cp -r",
    .read_name = "cat * > /dev/null",
    .delete_name = "rm -r",
    .corpus = CORPUS_TRIGGER,
    .write = copy_set,
    .read = read_set,
};
