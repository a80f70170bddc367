#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "util/cleanup.h"
#include "workload.h"

static int untar_set(const struct source_set *set, const char *into, struct process_usage *usage,
                     struct reason *reason)
{
    const char *const pack[] = {"tar", "-cf", "-", ".", NULL};
    const char *const unpack[] = {"tar", "-xf", "-", NULL};
    char *to AUTO_FREE = NULL;
    struct process_plan plan = {.count = 2};

    if (asprintf(&to, "%s/%s", into, set->name) < 0)
        return reason_path(reason, -ENOMEM, into);
    if (mkdir(to, 0700) < 0)
        return reason_path(reason, -errno, to);
    plan.stages[0] = (struct process_stage){pack, set->directory};
    plan.stages[1] = (struct process_stage){unpack, to};
    return process_run(&plan, usage, reason);
}

/* Through a pipe, because GNU tar reads nothing when its output is /dev/null itself. */
static int tar_set(const struct source_set *set, const char *from, struct process_usage *usage,
                   struct reason *reason)
{
    const char *const pack[] = {"tar", "-cf", "-", ".", NULL};
    struct process_plan plan = {.stages = {{pack, from}}, .count = 1, .drain = true};

    (void)set;
    return process_run(&plan, usage, reason);
}

const struct workload workload_mailbox = {
    .name = "mailbox",
    .summary = "untar a mail store (dovecot mdbox) onto the target, tar it back, delete",
    .write_name = "tar | untar",
    .read_name = "tar > /dev/null",
    .delete_name = "rm -r",
    .corpus = CORPUS_MAILBOX,
    .write = untar_set,
    .read = tar_set,
};
