#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "corpus/event.h"
#include "corpus/generators.h"
#include "corpus/gzip.h"
#include "util/cleanup.h"

#define WANTED_FILES 8 /* of a small set, if they get SMALLEST_FILE bytes each */
#define SMALLEST_FILE 4096
#define FILES_PER_RUN 12
#define PLAN_STREAMS (UINT64_C(1) << 33)

#define GZ_WORST_RATIO_PERCENT 60 /* what is left of an event that repeats nothing */
#define GZ_CLOSE_BYTES 320        /* so near to the wanted size a file ends */

struct trigger_writer {
    struct corpus_output *output;
    struct event_builder event;
    struct gzip_writer gzip;
};

/* One of the two sets. */
struct trigger_set {
    const char *name; /* of the set and its directory */
    const char *suffix;
    uint64_t published_kib, published_files;
    uint64_t first_stream; /* of the seed, for the events of its files */
    /* Fills the open file with about `bytes`; the raw set with exactly as many. */
    int (*write)(struct trigger_writer *writer, uint64_t bytes, uint64_t *ret_written);
};

static int write_raw(struct trigger_writer *writer, uint64_t bytes, uint64_t *ret_written)
{
    uint64_t left = bytes;

    while (left) {
        uint32_t length = event_choose_length(&writer->event, left);
        int r;

        event_build(&writer->event, length);
        r = output_write(writer->output, writer->event.bytes, length);
        if (r < 0)
            return r;
        left -= length;
    }
    *ret_written = bytes;
    return 0;
}

static int gzip_to_output(void *context, const void *bytes, size_t length)
{
    return output_write(context, bytes, length);
}

static int gzip_event(struct trigger_writer *writer)
{
    const struct event_builder *event = &writer->event;
    const uint8_t *bytes = event->bytes;

    for (size_t i = 0; i < event->segment_count; i++) {
        struct event_segment segment = event->segments[i];
        int r;

        if (segment.distance)
            r = gzip_repeat(&writer->gzip, bytes, segment.length, segment.distance);
        else
            r = gzip_literals(&writer->gzip, bytes, segment.length);
        if (r < 0)
            return r;
        bytes += segment.length;
    }
    return 0;
}

/*
 * How many events fill a compressed file shows only on the way: each is taken as if it compressed
 * badly, so that the last ones get shorter and none goes beyond the end.
 */
static int write_gz(struct trigger_writer *writer, uint64_t bytes, uint64_t *ret_written)
{
    int r;

    gzip_begin(&writer->gzip, (struct gzip_sink){gzip_to_output, writer->output});
    while (writer->gzip.written_bytes + GZ_CLOSE_BYTES < bytes) {
        uint64_t left = bytes - writer->gzip.written_bytes;
        uint32_t length = event_choose_length(&writer->event, left * 100 / GZ_WORST_RATIO_PERCENT);

        event_build(&writer->event, length);
        r = gzip_event(writer);
        if (r < 0)
            return r;
    }
    r = gzip_end(&writer->gzip);
    *ret_written = writer->gzip.written_bytes;
    return r;
}

/* How a set is cut into files. */
struct plan {
    struct random_stream random;
    uint64_t bytes;
    uint64_t files;
    uint64_t deviation; /* of the last even-numbered file from the mean */
};

static struct plan make_plan(const struct trigger_set *set, uint64_t seed, uint64_t bytes)
{
    uint64_t mean = set->published_kib * 1024 / set->published_files;
    uint64_t files = (bytes + mean / 2) / mean;

    if (files < WANTED_FILES)
        files = bytes / SMALLEST_FILE < WANTED_FILES ? bytes / SMALLEST_FILE : WANTED_FILES;
    return (struct plan){
        .random = random_stream(seed, PLAN_STREAMS + set->first_stream),
        .bytes = bytes,
        .files = files ? files : 1,
    };
}

/* The size of file `index`: up to a quarter off the mean, in pairs that even out; the last takes
 * the remainder. */
static uint64_t plan_next(struct plan *plan, uint64_t index)
{
    uint64_t mean = plan->bytes / plan->files;
    uint64_t rest = index + 1 == plan->files ? plan->bytes % plan->files : 0;

    if (index % 2 == 1)
        return mean - plan->deviation + rest;
    plan->deviation = 0;
    if (index + 1 < plan->files)
        plan->deviation = mean / 1024 * random_below(&plan->random, 256);
    return mean + plan->deviation + rest;
}

static int generate_file(struct trigger_writer *writer, const struct trigger_set *set,
                         uint64_t seed, uint64_t index, uint64_t bytes, uint64_t *ret_written)
{
    /* Eight digits that tell some seeds apart; a run has a dozen files. */
    uint32_t run = (uint32_t)((10000000 + seed % 1000 * 10000 + index / FILES_PER_RUN) % 100000000);
    char path[64];
    int r;

    snprintf(path, sizeof(path), "%s/run%08u.2.%u.dat%s", set->name, run,
             (unsigned int)(index % FILES_PER_RUN), set->suffix);
    event_builder_init(&writer->event, seed, set->first_stream + index, run);
    r = output_begin_file(writer->output, path);
    if (r < 0)
        return r;
    r = set->write(writer, bytes, ret_written);
    if (r < 0)
        return r;
    return output_end_file(writer->output);
}

static int generate_set(struct trigger_writer *writer, const struct trigger_set *set, uint64_t seed,
                        uint64_t bytes)
{
    struct plan plan = make_plan(set, seed, bytes);
    uint64_t wanted = 0;
    uint64_t made = 0;
    int r = output_begin_set(writer->output, set->name, bytes);

    if (r == 0)
        r = output_make_directory(writer->output, set->name);
    for (uint64_t i = 0; r == 0 && i < plan.files; i++) {
        uint64_t written = 0;

        /* What one file came out too long or too short, the next evens out. */
        wanted += plan_next(&plan, i);
        r = generate_file(writer, set, seed, i, wanted - made, &written);
        made += written;
    }
    return r;
}

int generate_trigger(const struct corpus_config *config, struct corpus_output *output)
{
    static const struct trigger_set raw = {
        .name = "raw",
        .suffix = "",
        .published_kib = 42467036,
        .published_files = 1454,
        .first_stream = 0,
        .write = write_raw,
    };
    static const struct trigger_set gz = {
        .name = "gz",
        .suffix = ".gz",
        .published_kib = 17146908,
        .published_files = 1703,
        .first_stream = UINT64_C(1) << 32, /* so that the two sets hold different events */
        .write = write_gz,
    };
    struct trigger_writer *writer AUTO_FREE = calloc(1, sizeof(*writer));
    uint64_t whole = raw.published_kib + gz.published_kib;
    /* Divided first: the product would not fit for the largest sizes. */
    uint64_t gz_bytes = config->total_bytes / whole * gz.published_kib +
                        config->total_bytes % whole * gz.published_kib / whole;
    int r;

    if (!writer)
        return -ENOMEM;
    writer->output = output;
    r = generate_set(writer, &raw, config->seed, config->total_bytes - gz_bytes);
    if (r < 0)
        return r;
    return generate_set(writer, &gz, config->seed, gz_bytes);
}
