#include "outcome.h"

#include <errno.h>

#define NOW INT64_MAX
#define DAY_S 86400

bool outcome_result(struct outcome *outcome, long result)
{
    outcome->error = result < 0 ? errno : 0;
    outcome->result = result;
    return result >= 0;
}

void outcome_value(struct outcome *outcome, const char *name, int64_t value)
{
    if (outcome->count == OUTCOME_VALUES_MAX)
        return;
    outcome->values[outcome->count].name = name;
    outcome->values[outcome->count++].value = value;
}

void outcome_attributes(struct outcome *outcome, const struct stat *attributes)
{
    outcome_value(outcome, "mode", attributes->st_mode);
    outcome_value(outcome, "links", (int64_t)attributes->st_nlink);
    outcome_value(outcome, "uid", attributes->st_uid);
    outcome_value(outcome, "gid", attributes->st_gid);
    outcome_value(outcome, "size", attributes->st_size);
    outcome_value(outcome, "rdev", (int64_t)attributes->st_rdev);
    outcome_value(outcome, "block size", attributes->st_blksize);
    /* What goes through a named pipe moves its times, and the kernel tells nobody below of it. */
    if (S_ISFIFO(attributes->st_mode))
        return;
    outcome_value(outcome, "atime", outcome_time(attributes->st_atim));
    outcome_value(outcome, "mtime", outcome_time(attributes->st_mtim));
    outcome_value(outcome, "ctime", outcome_time(attributes->st_ctim));
}

void outcome_reset(struct outcome *outcome)
{
    outcome->result = outcome->error = 0;
    outcome->count = outcome->size = outcome->text.length = 0;
}

int64_t outcome_time(struct timespec time)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (time.tv_sec > now.tv_sec - DAY_S && time.tv_sec < now.tv_sec + DAY_S)
        return NOW;
    return time.tv_sec * 1000000000 + time.tv_nsec;
}
