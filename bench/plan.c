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

static void add(struct plan *plan, struct configuration configuration)
{
    plan->configurations[plan->count++] = configuration;
}

int plan_make(const struct options *options, struct plan *ret_plan)
{
    size_t per_target = options->codec_count + 1;
    struct plan plan = {0};

    plan.configurations = calloc(options->workload_count * (1 + options->target_count * per_target),
                                 sizeof(*plan.configurations));
    if (!plan.configurations)
        return -ENOMEM;
    for (size_t w = 0; w < options->workload_count; w++) {
        const struct workload *workload = options->workloads[w];

        for (size_t t = 0; t < options->target_count; t++) {
            const struct target *target = &options->targets[t];

            if (options->path_native)
                add(&plan, (struct configuration){workload, target, "none", PATH_NATIVE});
            for (size_t c = 0; options->path_tallyfs && c < options->codec_count; c++)
                add(&plan,
                    (struct configuration){workload, target, options->codecs[c], PATH_TALLYFS});
        }
        add(&plan, (struct configuration){workload, NULL, "none", PATH_SOURCE});
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
        snprintf(label, size, "%s: %s %s", workload, configuration->target->name,
                 configuration->path == PATH_NATIVE ? "native" : configuration->codec);
}

json_t *plan_configurations_json(const struct plan *plan)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->count; i++) {
        const struct configuration *configuration = &plan->configurations[i];

        json_array_append_new(
            list, json_pack("{s:s, s:s?, s:s, s:s}", "workload", configuration->workload->name,
                            "target", configuration->target ? configuration->target->name : NULL,
                            "codec", configuration->codec, "path", path_name(configuration->path)));
    }
    return list;
}

json_t *plan_order_json(const struct plan *plan, uint64_t seed, unsigned int blocks)
{
    size_t *order AUTO_FREE = calloc(plan->count, sizeof(*order));
    json_t *list = order ? json_array() : NULL;

    for (unsigned int block = 0; list && block < blocks; block++) {
        json_t *row = json_array();

        stats_block_order(seed, block, order, plan->count);
        for (size_t i = 0; i < plan->count; i++)
            json_array_append_new(row, json_integer((json_int_t)order[i]));
        json_array_append_new(list, row);
    }
    return list;
}
