#include "phase.h"

#include <errno.h>
#include <string.h>

#include "measure.h"
#include "util/clock.h"

const char *phase_name(enum phase_kind kind)
{
    static const char *const names[] = {"write", "read", "delete"};

    return names[kind];
}

static int delete_set(const char *directory, struct process_usage *usage, struct reason *reason)
{
    const char *const arguments[] = {"rm", "-r", "--", directory, NULL};
    struct process_plan plan = {.stages = {{arguments, "/"}}, .count = 1};

    return process_run(&plan, usage, reason);
}

static int run_programs(const struct phase *phase, struct process_usage *usage,
                        struct reason *reason)
{
    switch (phase->kind) {
    case PHASE_WRITE:
        return phase->workload->write(phase->set, phase->directory, usage, reason);
    case PHASE_READ:
        return phase->workload->read(phase->set, phase->directory, usage, reason);
    case PHASE_DELETE:
        return delete_set(phase->directory, usage, reason);
    }
    return -EINVAL;
}

/* First what tallyfs holds back, then the file system below it. */
static int timed_sync(const struct phase *phase, double *ret_seconds, struct reason *reason)
{
    uint64_t began_ns = clock_ns();
    int r = phase->mount ? mount_sync(phase->mount) : 0;

    if (r < 0)
        return reason_path(reason, r, phase->mount->point);
    r = measure_sync(phase->sync_directory);
    if (r < 0)
        return reason_path(reason, r, phase->sync_directory);
    *ret_seconds = (double)(clock_ns() - began_ns) * 1e-9;
    return 0;
}

/* From here on tallyfs counts what belongs to this phase. */
static int reset_counters(const struct phase *phase, struct reason *reason)
{
    int r = phase->mount ? mount_reset(phase->mount) : 0;

    return r < 0 ? reason_path(reason, r, phase->mount->point) : 0;
}

static int read_counters(const struct phase *phase, json_t **ret_counters, struct reason *reason)
{
    int r = 0;

    if (phase->mount)
        r = mount_counters(phase->mount, ret_counters);
    else
        *ret_counters = json_null();
    return r < 0 ? reason_set(reason, r, "%s: cannot read the counters: %s", phase->mount->point,
                              strerror(-r))
                 : 0;
}

struct gauges {
    struct cpu_time daemon;
    double machine_busy_s;
};

static int read_gauges(const struct phase *phase, struct gauges *ret_gauges, struct reason *reason)
{
    int r = measure_machine_busy(&ret_gauges->machine_busy_s);

    if (r < 0)
        return reason_path(reason, r, "/proc/stat");
    if (!phase->mount)
        return 0;
    r = measure_process_cpu(phase->mount->pid, &ret_gauges->daemon);
    return r < 0 ? reason_set(reason, r, "tallyfs: its CPU time cannot be read") : 0;
}

int phase_run(const struct phase *phase, json_t *phases, struct reason *reason)
{
    struct process_usage usage = {0};
    struct gauges before = {0}, after = {0};
    double sync_s = 0;
    json_t *counters = NULL;
    int r = reset_counters(phase, reason);

    if (r == 0)
        r = read_gauges(phase, &before, reason);
    if (r == 0)
        r = run_programs(phase, &usage, reason);
    if (r == 0 && phase->kind != PHASE_READ)
        r = timed_sync(phase, &sync_s, reason);
    if (r == 0)
        r = read_gauges(phase, &after, reason);
    if (r == 0)
        r = read_counters(phase, &counters, reason);
    if (r < 0)
        return r;
    if (json_array_append_new(
            phases,
            json_pack("{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:o, s:o, s:f, s:o, s:o}", "name",
                      phase_name(phase->kind), "set", phase->set->name, "bytes",
                      (json_int_t)phase->set->bytes, "files",
                      (json_int_t)phase->set->manifest.count, "wall_s", usage.wall_s, "user_s",
                      usage.user_s, "system_s", usage.system_s, "daemon_user_s",
                      phase->mount ? json_real(after.daemon.user_s - before.daemon.user_s)
                                   : json_null(),
                      "daemon_system_s",
                      phase->mount ? json_real(after.daemon.system_s - before.daemon.system_s)
                                   : json_null(),
                      "machine_busy_s", after.machine_busy_s - before.machine_busy_s, "sync_s",
                      phase->kind == PHASE_READ ? json_null() : json_real(sync_s), "counters",
                      counters)) < 0)
        return -ENOMEM;
    return 0;
}
