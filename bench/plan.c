#include "plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "statistics/statistics.h"
#include "util/cleanup.h"

const char *path_name(enum path path)
{
    static const char *const names[] = {"source", "native", "tallyfs"};

    return names[path];
}

static size_t add(struct plan *plan, struct configuration configuration)
{
    plan->configurations[plan->count] = configuration;
    return plan->count++;
}

static void add_target(struct plan *plan, const struct options *options,
                       const struct workload *workload, const struct target *target)
{
    size_t first = plan->count;

    if (options->path_native)
        add(plan, (struct configuration){workload, target, "none", PATH_NATIVE, PLAN_NO_TWIN});
    for (size_t c = 0; options->path_tallyfs && c < options->codec_count; c++)
        add(plan, (struct configuration){workload, target, options->codecs[c], PATH_TALLYFS,
                                         PLAN_NO_TWIN});
    if (options->twin && plan->count > first) {
        size_t twin = add(plan, plan->configurations[first]);

        plan->configurations[twin].twin_of = first;
    }
}

int plan_make(const struct options *options, struct plan *ret_plan)
{
    size_t per_target = options->codec_count + 2; /* native, and the twin */
    struct plan plan = {0};

    plan.configurations = calloc(options->workload_count * (1 + options->target_count * per_target),
                                 sizeof(*plan.configurations));
    if (!plan.configurations)
        return -ENOMEM;
    for (size_t w = 0; w < options->workload_count; w++) {
        const struct workload *workload = options->workloads[w];

        for (size_t t = 0; t < options->target_count; t++)
            add_target(&plan, options, workload, &options->targets[t]);
        add(&plan, (struct configuration){workload, NULL, "none", PATH_SOURCE, PLAN_NO_TWIN});
    }
    *ret_plan = plan;
    return 0;
}

void plan_free(struct plan *plan)
{
    free(plan->configurations);
    *plan = (struct plan){0};
}

void configuration_label(const struct configuration *configuration, char *label, size_t size)
{
    const char *workload = configuration->workload->name;

    if (configuration->path == PATH_SOURCE)
        snprintf(label, size, "%s: reading the source", workload);
    else
        snprintf(label, size, "%s: %s %s%s", workload, configuration->target->name,
                 configuration->path == PATH_NATIVE ? "native" : configuration->codec,
                 configuration->twin_of == PLAN_NO_TWIN ? "" : " again");
}

json_t *plan_configurations_json(const struct plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->count; i++) {
        const struct configuration *configuration = &plan->configurations[i];

        json_array_append_new(
            list,
            json_pack("{s:s, s:s?, s:s, s:s, s:o}", "workload", configuration->workload->name,
                      "target", configuration->target ? configuration->target->name : NULL, "codec",
                      configuration->codec, "path", path_name(configuration->path), "twin_of",
                      configuration->twin_of == PLAN_NO_TWIN
                          ? json_null()
                          : json_integer((json_int_t)configuration->twin_of)));
    }
    return list;
}

json_t *plan_block_json(const struct plan *plan, uint64_t seed, size_t block)
{
    size_t *order AUTO_FREE = calloc(plan->count, sizeof(*order));
    json_t *list = order ? json_array() : NULL;

    if (order)
        stats_block_order(seed, block, order, plan->count);
    for (size_t i = 0; list && i < plan->count; i++)
        json_array_append_new(list, json_integer((json_int_t)order[i]));
    return list;
}
