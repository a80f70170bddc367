/* What is to be measured, and in which order. */
#ifndef TALLY_BENCH_PLAN_H
#define TALLY_BENCH_PLAN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"

enum path {
    PATH_SOURCE,  /* the source is only read: what bounds the others */
    PATH_NATIVE,  /* on the target itself */
    PATH_TALLYFS, /* through a mount over it */
};

struct configuration {
    const struct workload *workload;
    const struct target *target; /* NULL for PATH_SOURCE */
    const char *codec;           /* "none" unless it is PATH_TALLYFS */
    enum path path;
    size_t twin_of; /* index of the one that this repeats, to show the noise; PLAN_NO_TWIN */
};

#define PLAN_NO_TWIN SIZE_MAX

struct plan {
    struct configuration *configurations; /* they refer to the options */
    size_t count;
};

/* workloads x (source + targets x (native + codecs)), and with options->twin the first one of each target again. 0;
 * -ENOMEM. */
int plan_make(const struct options *options, struct plan *ret_plan);

void plan_free(struct plan *plan);

/* "source", "native", "tallyfs". */
const char *path_name(enum path path);

/* "trigger ext4 lz4", for people. */
void configuration_label(const struct configuration *configuration, char *label, size_t size);

/* New references; NULL without memory. */
json_t *plan_configurations_json(const struct plan *plan);
json_t *plan_block_json(const struct plan *plan, uint64_t seed, size_t block);

#endif
