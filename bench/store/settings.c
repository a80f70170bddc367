#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "speed.h"
#include "tally/format.h"
#include "util/parse.h"

#define ROUNDS_MAX 1000
#define WORKERS_MAX 256
#define OPERATIONS_MAX 10000000

static const char default_codecs[] = "none,lz4,lz4hc,zstd:1,zstd:3,gzip:6";

typedef int set_option(struct settings *settings, const char *value);

static int set_codecs(struct settings *settings, const char *value)
{
    char text[512], *rest = text, *word;

    if (strlen(value) >= sizeof(text))
        return -EINVAL;
    strcpy(text, value);
    settings->choice_count = 0;
    while ((word = strsep(&rest, ","))) {
        if (settings->choice_count == SETTINGS_MAX_CODECS ||
            tally_codec_parse(word, &settings->choices[settings->choice_count++]) < 0)
            return -EINVAL;
    }
    return 0;
}

static int set_chunks(struct settings *settings, const char *value)
{
    char text[512], *rest = text, *word;

    if (strlen(value) >= sizeof(text))
        return -EINVAL;
    strcpy(text, value);
    settings->chunk_count = 0;
    while ((word = strsep(&rest, ","))) {
        uint64_t bytes;

        if (settings->chunk_count == SETTINGS_MAX_CHUNKS ||
            parse_size(word, FORMAT_CHUNK_MIN, FORMAT_CHUNK_MAX, &bytes) < 0 || bytes & (bytes - 1))
            return -EINVAL;
        settings->chunks[settings->chunk_count++] = (uint32_t)bytes;
    }
    return 0;
}

static int set_corpus(struct settings *settings, const char *value)
{
    enum corpus_kind kind;
    int r = corpus_kind_parse(value, &kind);

    if (r == 0)
        settings->corpora[kind] = true;
    return r;
}

static int set_source(struct settings *settings, const char *value)
{
    settings->source = value;
    return 0;
}

static int set_btrfs(struct settings *settings, const char *value)
{
    settings->btrfs = value;
    return 0;
}

static int set_size(struct settings *settings, const char *value)
{
    return parse_size(value, CORPUS_MIN_BYTES, UINT64_C(1) << 40, &settings->size_bytes);
}

static int set_request(struct settings *settings, const char *value)
{
    return parse_size(value, 1, UINT64_C(1) << 30, &settings->request_bytes);
}

static int set_number(const char *value, int64_t max, unsigned *number)
{
    int64_t parsed;
    int r = parse_integer(value, 1, max, &parsed);

    if (r == 0)
        *number = (unsigned)parsed;
    return r;
}

static int set_rounds(struct settings *settings, const char *value)
{
    return set_number(value, ROUNDS_MAX, &settings->rounds);
}

static int set_workers(struct settings *settings, const char *value)
{
    return set_number(value, WORKERS_MAX, &settings->workers);
}

static int set_operations(struct settings *settings, const char *value)
{
    return set_number(value, OPERATIONS_MAX, &settings->operations);
}

static int set_sync_every(struct settings *settings, const char *value)
{
    return set_number(value, OPERATIONS_MAX, &settings->sync_every);
}

static int set_seed(struct settings *settings, const char *value)
{
    int64_t seed;
    int r = parse_integer(value, 0, INT64_MAX, &seed);

    if (r == 0)
        settings->seed = (uint64_t)seed;
    return r;
}

static int set_json(struct settings *settings, const char *value)
{
    (void)value;
    settings->json = true;
    return 0;
}

static int set_help(struct settings *settings, const char *value)
{
    (void)value;
    settings->help = true;
    return 0;
}

static const struct {
    const char *name, *value; /* value NULL: takes none */
    set_option *set;
    const char *help;
} options[] = {
    {"codec", "LIST", set_codecs, "codecs; default none,lz4,lz4hc,zstd:1,zstd:3,gzip:6"},
    {"chunk", "LIST", set_chunks, "chunk sizes, 16K to 1M; default 128K"},
    {"corpus", "trigger|mailbox", set_corpus, "contents to make; can be repeated; default both"},
    {"source", "PATH", set_source, "a file, or all files of a directory, as contents instead"},
    {"size", "SIZE", set_size, "bytes of contents; default 64M"},
    {"seed", "N", set_seed, "of corpora and random positions; default 1"},
    {"rounds", "N", set_rounds, "of everything, in changing order; default 5"},
    {"workers", "N", set_workers, "threads that compress; default: the processors"},
    {"request", "SIZE", set_request, "bytes of one streaming read or write; default 128K"},
    {"operations", "N", set_operations, "small operations of each kind in a round; default 256"},
    {"sync-every", "N", set_sync_every, "overwrites between two fsyncs; default 16"},
    {"btrfs", "DIR", set_btrfs, "a directory on a Btrfs mount to compare with; root only"},
    {"json", NULL, set_json, "all samples as JSON instead of tables"},
    {"help", NULL, set_help, "this text"},
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

void settings_print_help(void)
{
    puts("Usage: store_speed [OPTION...] DIRECTORY\n\n"
         "Measures the compressed store without FUSE, in files made in DIRECTORY, beside the same\n"
         "codec in memory and a plain file in the same rounds.\n\nOptions:");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        char left[64];

        snprintf(left, sizeof(left), "--%s %s", options[i].name,
                 options[i].value ? options[i].value : "");
        printf("  %-26s %s\n", left, options[i].help);
    }
    puts(
        "\nWrites end with an fsync within the time. Before a cold read the lower file's pages "
        "are\n"
        "dropped (posix_fadvise) and the file is opened anew; the disk's own cache stays. Figures\n"
        "are medians of the rounds, with half the range of all rounds behind the sign ±; ratios "
        "are\n"
        "medians of each round's own. \"limit\" is 1 / (1/codec + 1/plain write): what compressing "
        "on\n"
        "all workers and then writing as much as a plain file takes gives. Stored bytes are the\n"
        "blocks that the file has after an fsync; Btrfs's are the disk bytes of the file's "
        "extents,\n"
        "as compsize counts them. CPU time depends less on what else the machine does.\n"
        "With --btrfs its mount is remounted with compress-force= and back again. Its own codecs\n"
        "stand beside: zstd:N for zstd:N, zlib:N for gzip:N, nothing for lz4.\n"
        "MiB is 1024 x 1024 bytes. Exit status: 0 done, 1 failed, 2 wrong usage.");
}

static int find_option(const char *name)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int read_options(int argc, char **argv, const struct log *log, struct settings *settings)
{
    struct option table[OPTION_COUNT + 1] = {0};
    int index, c;

    for (size_t i = 0; i < OPTION_COUNT; i++)
        table[i] =
            (struct option){options[i].name, options[i].value ? required_argument : no_argument,
                            NULL, (int)i + 256};
    while ((c = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        if (c == '?')
            return -EINVAL;
        index = c == 'h' ? find_option("help") : c - 256;
        if (options[index].set(settings, optarg) < 0) {
            log_error(log, "--%s: %s is none", options[index].name, optarg);
            return -EINVAL;
        }
    }
    return 0;
}

int settings_parse(int argc, char **argv, const struct log *log, struct settings *ret_settings)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct settings settings = {
        .size_bytes = UINT64_C(64) << 20,
        .request_bytes = 128 * 1024,
        .seed = 1,
        .rounds = 5,
        .workers = processors > 0 && processors <= WORKERS_MAX ? (unsigned)processors : 1,
        .operations = 256,
        .sync_every = 16,
        .chunks = {128 * 1024},
        .chunk_count = 1,
    };
    int r = set_codecs(&settings, default_codecs);

    if (r == 0)
        r = read_options(argc, argv, log, &settings);
    if (r < 0)
        return r;
    if (!settings.help && optind != argc - 1) {
        log_error(log, "wanted is one directory");
        return -EINVAL;
    }
    if (!settings.source && !settings.corpora[CORPUS_TRIGGER] && !settings.corpora[CORPUS_MAILBOX])
        settings.corpora[CORPUS_TRIGGER] = settings.corpora[CORPUS_MAILBOX] = true;
    settings.directory = argv[optind];
    *ret_settings = settings;
    return 0;
}
