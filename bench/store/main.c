/*
 * The compressed store's speed and space without FUSE: for every codec and chunk size what it does
 * with a file, beside the codec in memory, a plain file and, where wanted, Btrfs's own compression.
 * All of them are measured in every round, in an order that changes from round to round, so that
 * what the machine does meanwhile does not look like a difference.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "speed.h"
#include "statistics/statistics.h"
#include "tree.h"
#include "util/cleanup.h"

#define EXIT_WRONG_USAGE 2

static const struct log store_speed_log = {.program = "store_speed"};
#define LOG (&store_speed_log)

/* Directories that the program has made, and the mount that it changed. */
struct places {
    char directory[4096];
    char on_btrfs[4096]; /* empty without --btrfs */
    struct btrfs btrfs;
};

static int make_directory(const char *in, char path[static 4096])
{
    if (snprintf(path, 4096, "%s/store_speed-XXXXXX", in) >= 4096)
        return -ENAMETOOLONG;
    if (!mkdtemp(path)) {
        path[0] = '\0';
        return -errno;
    }
    return 0;
}

static int places_begin(const struct settings *settings, struct places *places)
{
    int r = make_directory(settings->directory, places->directory);

    if (r < 0)
        log_error(LOG, "%s: %s", settings->directory, strerror(-r));
    if (r < 0 || !settings->btrfs)
        return r;
    r = btrfs_begin(settings->btrfs, &places->btrfs);
    if (r == 0)
        r = make_directory(settings->btrfs, places->on_btrfs);
    if (r < 0)
        log_error(LOG, "%s: %s", settings->btrfs,
                  r == -EINVAL  ? "is not on a Btrfs"
                  : r == -EPERM ? "only root can remount"
                                : strerror(-r));
    return r;
}

static int places_end(struct places *places)
{
    int r;

    if (places->directory[0])
        tree_remove(places->directory);
    if (places->on_btrfs[0])
        tree_remove(places->on_btrfs);
    r = btrfs_end(&places->btrfs);
    if (r < 0)
        log_error(LOG, "%s: could not be remounted with %s again", places->btrfs.mount_point,
                  places->btrfs.before);
    return r;
}

/* The plain file first, then all stores, then what Btrfs has of the codecs. */
static size_t list_subjects(const struct settings *settings, struct subject *subjects)
{
    char option[BTRFS_OPTION_BYTES];
    size_t count = 0;

    subjects[count++] = (struct subject){.kind = SUBJECT_RAW};
    for (size_t i = 0; i < settings->choice_count; i++)
        for (size_t j = 0; j < settings->chunk_count; j++)
            subjects[count++] =
                (struct subject){SUBJECT_STORE, settings->choices[i], settings->chunks[j]};
    for (size_t i = 0; i < settings->choice_count && settings->btrfs; i++)
        if (btrfs_option(&settings->choices[i], option))
            subjects[count++] = (struct subject){SUBJECT_BTRFS, settings->choices[i], 0};
    return count;
}

static int measure_subject(const struct settings *settings, const struct contents *contents,
                           const struct subject *subject, struct places *places,
                           struct sample *sample)
{
    const char *directory = places->directory;
    int r = 0;

    if (subject->kind == SUBJECT_BTRFS) {
        directory = places->on_btrfs;
        r = btrfs_compress(&places->btrfs, &subject->choice);
    } else if (subject->choice.codec) {
        r = memory_measure(settings, contents, subject, sample);
    }
    return r < 0 ? r : file_measure(settings, contents, subject, directory, sample);
}

static int measure_rounds(const struct settings *settings, const struct contents *contents,
                          const struct subject *subjects, size_t count, struct places *places,
                          struct sample *samples)
{
    AUTO_FREE size_t *order = calloc(count, sizeof(*order));

    if (!order)
        return -ENOMEM;
    for (unsigned round = 0; round < settings->rounds; round++) {
        stats_block_order(settings->seed, round, order, count);
        for (size_t i = 0; i < count; i++) {
            struct sample *sample = &samples[order[i] * settings->rounds + round];
            int r;

            for (size_t measure = 0; measure < MEASURE_COUNT; measure++)
                sample->values[measure] = NAN;
            r = measure_subject(settings, contents, &subjects[order[i]], places, sample);
            if (r < 0) {
                char name[SUBJECT_NAME_BYTES];

                subject_name(&subjects[order[i]], name);
                if (r != -ECANCELED)
                    log_error(LOG, "%s, %s: %s", contents->name, name,
                              r == -EBADMSG ? "what was read is not what was written"
                                            : strerror(-r));
                return r;
            }
        }
    }
    return 0;
}

static int measure_contents(const struct settings *settings, const struct contents *contents,
                            struct places *places, json_t *documents)
{
    struct subject subjects[1 + SETTINGS_MAX_CODECS * (SETTINGS_MAX_CHUNKS + 1)];
    size_t count = list_subjects(settings, subjects);
    AUTO_FREE struct sample *samples = calloc(count * settings->rounds, sizeof(*samples));
    const struct results results = {settings, contents, subjects, count, samples};
    int r;

    if (!samples)
        return -ENOMEM;
    r = measure_rounds(settings, contents, subjects, count, places, samples);
    if (r < 0)
        return r;
    if (settings->json)
        return json_array_append_new(documents, report_json(&results)) == 0 ? 0 : -ENOMEM;
    printf("%s%s: %.1f MiB; %u rounds, %u workers, requests of %.0f KiB\n",
           ftell(stdout) > 0 ? "\n" : "", contents->name, (double)contents->size / MIB,
           settings->rounds, settings->workers, (double)settings->request_bytes / 1024);
    r = report_tables(&results);
    fflush(stdout);
    return r;
}

static int measure_all(const struct settings *settings, struct places *places, json_t *documents)
{
    int r = 0;

    for (int kind = 0; kind <= CORPUS_MAILBOX && r == 0; kind++) {
        struct contents contents;

        if (settings->source ? kind > 0 : !settings->corpora[kind])
            continue;
        r = contents_load(settings, places->directory, (enum corpus_kind)kind, LOG, &contents);
        if (r < 0)
            break;
        r = measure_contents(settings, &contents, places, documents);
        free(contents.data);
    }
    return r;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct places places = {0};
    json_t *documents;
    int r, s;

    if (settings_parse(argc, argv, LOG, &settings) < 0) {
        log_error(LOG, "`store_speed --help` shows the usage");
        return EXIT_WRONG_USAGE;
    }
    if (settings.help) {
        settings_print_help();
        return EXIT_SUCCESS;
    }
    documents = json_array();
    r = documents ? interrupt_install() : -ENOMEM;
    if (r == 0)
        r = places_begin(&settings, &places);
    if (r == 0)
        r = measure_all(&settings, &places, documents);
    s = places_end(&places);
    if (r == -ECANCELED)
        log_error(LOG, "interrupted; what was made is removed");
    if (r == 0 && settings.json &&
        (json_dumpf(documents, stdout, JSON_INDENT(1)) < 0 || putchar('\n') == EOF))
        r = -EIO;
    json_decref(documents);
    return r < 0 || s < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
