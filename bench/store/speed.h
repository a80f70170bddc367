/* What is measured, of what, and how: shared by the sources of store_speed. */
#ifndef TALLY_BENCH_STORE_SPEED_H
#define TALLY_BENCH_STORE_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "corpus/corpus.h"
#include "tally/codec.h"
#include "util/log.h"

#define MIB (1024.0 * 1024.0)
#define BLOCK_BYTES 4096u /* of one random read or overwrite */
#define APPEND_BYTES 100u /* of one append */
#define SETTINGS_MAX_CODECS 16
#define SETTINGS_MAX_CHUNKS 8

struct settings {
    const char *directory; /* where the measured files are made */
    const char *source;    /* a file or directory of the user's instead of a corpus, or NULL */
    const char *btrfs;     /* a directory on a Btrfs mount, or NULL */
    bool corpora[CORPUS_MAILBOX + 1]; /* by enum corpus_kind */
    struct tally_codec_choice choices[SETTINGS_MAX_CODECS];
    size_t choice_count;
    uint32_t chunks[SETTINGS_MAX_CHUNKS]; /* bytes */
    size_t chunk_count;
    uint64_t size_bytes;
    uint64_t request_bytes;
    uint64_t seed;
    unsigned rounds, workers, operations, sync_every;
    bool json;
    bool help;
};

/* 0; -EINVAL after a message for what is wrong. With --help nothing else is checked. */
int settings_parse(int argc, char **argv, const struct log *log, struct settings *ret_settings);

void settings_print_help(void);

/* What the files are filled with. */
struct contents {
    char name[CORPUS_MAX_SETS * 16];
    uint8_t *data; /* owned */
    size_t size;
};

enum subject_kind {
    SUBJECT_RAW,   /* a plain file: what the disk gives */
    SUBJECT_STORE, /* a container */
    SUBJECT_BTRFS, /* a plain file on Btrfs, which compresses it */
};

struct subject {
    enum subject_kind kind;
    struct tally_codec_choice choice;
    uint32_t chunk_bytes; /* of SUBJECT_STORE, else 0 */
};

enum measure {
    MEASURE_COMPRESS_ONE, /* in memory, one thread */
    MEASURE_COMPRESS_ALL, /* as many as the store has workers */
    MEASURE_DECOMPRESS_ONE,
    MEASURE_DECOMPRESS_ALL,
    MEASURE_WRITE,
    MEASURE_READ_COLD,
    MEASURE_READ_WARM,
    MEASURE_RANDOM_READ,
    MEASURE_OVERWRITE,
    MEASURE_APPEND,
    MEASURE_REOPEN,
    MEASURE_STORED,
    MEASURE_COMPRESS_CPU, /* all threads of the process */
    MEASURE_DECOMPRESS_CPU,
    MEASURE_WRITE_CPU,
    MEASURE_READ_COLD_CPU,
    MEASURE_READ_WARM_CPU,
    MEASURE_COUNT
};

/* One subject in one round, in the units of measure_unit; NaN for what does not apply. */
struct sample {
    double values[MEASURE_COUNT];
};

/* CPU time of the whole process so far, in seconds. */
double cpu_seconds(void);

/* "write", "read_cold" …; "MiB/s" … */
const char *measure_name(enum measure measure);
const char *measure_unit(enum measure measure);

/* Prints a subject's name: "zstd:3 128K", "raw", "btrfs zstd:3". */
#define SUBJECT_NAME_BYTES 48
void subject_name(const struct subject *subject, char name[static SUBJECT_NAME_BYTES]);

/* Reads a corpus made below `directory`, or the source. 0; -ECANCELED; -errno after a message. */
int contents_load(const struct settings *settings, const char *directory, enum corpus_kind kind,
                  const struct log *log, struct contents *ret_contents);

/* The codec alone, on chunks of the size. 0; -ECANCELED; -errno. */
int memory_measure(const struct settings *settings, const struct contents *contents,
                   const struct subject *subject, struct sample *sample);

/*
 * The subject's file in `directory`, from making to removing it; what is read back is compared. 0;
 * -EBADMSG when it is not what was written; -ECANCELED; -errno.
 */
int file_measure(const struct settings *settings, const struct contents *contents,
                 const struct subject *subject, const char *directory, struct sample *sample);

/* Btrfs's name for a codec, as in compress-force=; false where it has none. */
#define BTRFS_OPTION_BYTES 64
bool btrfs_option(const struct tally_codec_choice *choice, char text[static BTRFS_OPTION_BYTES]);

/* A Btrfs mount of which the compression changes from subject to subject. */
struct btrfs {
    char mount_point[4096];
    char before[BTRFS_OPTION_BYTES]; /* the option that it had */
    bool changed;
};

/* 0; -EINVAL when the directory is on no Btrfs; -EPERM without root; -errno. */
int btrfs_begin(const char *directory, struct btrfs *ret_btrfs);

/* Has new files compressed so. 0; -errno. */
int btrfs_compress(struct btrfs *btrfs, const struct tally_codec_choice *choice);

/* Gives the mount its own option back. 0; -errno. */
int btrfs_end(struct btrfs *btrfs);

/* Bytes on the disk of a file's extents, which must have been synced: as compsize counts. 0; -errno. */
int btrfs_stored_bytes(int fd, uint64_t *ret_bytes);

struct results {
    const struct settings *settings;
    const struct contents *contents;
    const struct subject *subjects;
    size_t subject_count;
    const struct sample *samples; /* of the first subject all rounds, then of the next */
};

/* Adds the tables, or the JSON document of one contents, to stdout. 0; -errno. */
int report_tables(const struct results *results);
json_t *report_json(const struct results *results);

#endif
