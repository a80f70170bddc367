#include <errno.h>
#include <stdlib.h>

#include "interrupt.h"
#include "measure.h"
#include "trial_state.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define UNTIL_FREE_LIMIT_S 120

/* Others may be filling the disk, so that free space never gets back to what it was. It is given up when it has not
 * grown for longer than the file system pauses between two rounds of freeing. */
#define PAUSE_S 3
#define SLOW_PAUSE_S 15

#define UNTIL_FREE_POLL_MS 10

int trial_settle(struct trial *trial, const char *tree, bool *ret_settled)
{
    const char *target = trial->config->configuration->target->directory;
    int r = 0;

    if (trial->mount.point)
        r = mount_sync(&trial->mount);
    if (r == 0)
        r = measure_settle(target, tree, ret_settled);
    return r < 0 ? reason_path(trial->reason, r, tree ? tree : target) : 0;
}

int trial_note_space(struct trial *trial, const struct source_set *set, uint64_t free_before)
{
    char *stored AUTO_FREE = NULL, *seen AUTO_FREE = NULL;
    struct tree_space lower, mounted;
    bool settled = false;
    uint64_t free_now = 0;
    int r;

    if (asprintf(&stored, "%s/%s", trial->lower, set->name) < 0 ||
        asprintf(&seen, "%s/%s", trial->data, set->name) < 0)
        return reason_path(trial->reason, -ENOMEM, trial->lower);
    r = trial_settle(trial, stored, &settled);
    if (r < 0)
        return r;
    r = measure_free(trial->lower, &free_now);
    if (r == 0)
        r = measure_tree(stored, &lower);
    if (r == 0)
        r = measure_tree(seen, &mounted);
    if (r < 0)
        return reason_path(trial->reason, r, seen);
    if (json_array_append_new(
            json_object_get(trial->record, "space"),
            json_pack("{s:s, s:I, s:I, s:I, s:o, s:I, s:b}", "set", set->name, "original_bytes",
                      (json_int_t)set->bytes, "df_bytes", (json_int_t)(free_before - free_now),
                      "allocated_bytes", (json_int_t)lower.allocated_bytes, "mount_allocated_bytes",
                      trial->config->configuration->path == PATH_TALLYFS
                          ? json_integer((json_int_t)mounted.allocated_bytes)
                          : json_null(),
                      "apparent_bytes", (json_int_t)mounted.apparent_bytes, "settled", settled)) <
        0)
        return -ENOMEM;
    return 0;
}

int trial_wait_until_free(struct trial *trial)
{
    uint64_t began_ns = clock_ns(), grown_ns = began_ns, free_now = 0, most = 0, used = 0;
    uint64_t pause_s = measure_frees_slowly(trial->lower) ? SLOW_PAUSE_S : PAUSE_S;
    json_t *spaces = json_object_get(trial->record, "space"), *space;
    size_t i;

    json_array_foreach(spaces, i, space)
        used += (uint64_t)json_integer_value(json_object_get(space, "allocated_bytes"));
    for (;;) {
        uint64_t now_ns = clock_ns();
        int r = measure_free(trial->lower, &free_now);

        if (r < 0)
            return reason_path(trial->reason, r, trial->lower);
        if (free_now + measure_space_tolerance(used) >= trial->free_bytes)
            return json_object_set_new(trial->record, "until_free_s",
                                       json_real((double)(now_ns - began_ns) * 1e-9));
        if (free_now > most) {
            most = free_now;
            grown_ns = now_ns;
        }
        if (now_ns - began_ns > UNTIL_FREE_LIMIT_S * NS_PER_SECOND ||
            now_ns - grown_ns > pause_s * NS_PER_SECOND)
            return 0; /* stays null */
        r = interrupt_sleep_ms(UNTIL_FREE_POLL_MS);
        if (r < 0)
            return r;
    }
}
