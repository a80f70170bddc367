/*
 * Corpora for the workloads: sets of files like those of the published comparisons, made from a
 * seed alone. The same kind, size and seed give the same bytes on every machine: no floating point,
 * no library whose output may change, every field little-endian.
 *
 *   CORPUS_TRIGGER  DIR/raw/runNNNNNNNN.2.N.dat and DIR/gz/runNNNNNNNN.2.N.dat.gz, in the
 * proportion of the published sets (41 to 17); about 30 and 10 MB each, smaller when that would
 * make fewer than eight files. At 128 KiB blocks raw keeps 40-42 % under lz4, 41-43 % under zlib;
 * gz does not compress. CORPUS_MAILBOX  DIR/userNN/..., mail stores in dovecot's mdbox layout. lz4
 * keeps 86-88 %, zstd:3 67-69 %, gzip:6 the same within a point.
 *
 * These ratios hold for corpora of some megabytes; a smaller one is too short to be even.
 */
#ifndef TALLY_CORPUS_CORPUS_H
#define TALLY_CORPUS_CORPUS_H

#include <signal.h>
#include <stdint.h>

#define CORPUS_MIN_BYTES UINT64_C(8192)
#define CORPUS_MAX_BYTES (UINT64_C(1) << 50)

/* Ratios are measured on blocks of this size, counted from the start of each file: the published
 * record size. */
#define CORPUS_BLOCK_BYTES ((size_t)128 * 1024)

/* While this file stands in the directory, what lies there is unfinished. */
#define CORPUS_INCOMPLETE_MARK ".corpus-incomplete"

enum corpus_kind {
    CORPUS_TRIGGER,
    CORPUS_MAILBOX,
};

struct corpus_config {
    enum corpus_kind kind;
    uint64_t
        total_bytes; /* wanted size of all files together, CORPUS_MIN_BYTES ... CORPUS_MAX_BYTES */
    uint64_t seed;
    const char *directory; /* must be absent, or empty; its parent must exist */
    /* Called from the generating thread about once a megabyte and at the end; may be NULL. */
    void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
    void *progress_context;
    const volatile sig_atomic_t
        *cancel; /* generation stops when this becomes non-zero; may be NULL */
};

/*
 * Compressed size over original size (1 is "not smaller") as the plain libraries give it, over the
 * sampled blocks: about 64 whole ones, evenly spaced over the set's files in the order they are
 * written or, for a survey, sorted by path; every block of a set that has fewer.
 */
struct corpus_ratios {
    double lz4;
    double zlib6;
    double zstd3;
    uint64_t sampled_blocks; /* 0: there was nothing to sample, the ratios are NaN */
};

struct corpus_set {
    const char *name; /* "raw", "gz", "mailbox", "source"; a constant */
    uint64_t files;
    uint64_t bytes;
    struct corpus_ratios ratios;
};

#define CORPUS_MAX_SETS 2

struct corpus_result {
    unsigned int set_count;
    struct corpus_set sets[CORPUS_MAX_SETS];
    uint64_t files;
    uint64_t bytes; /* off what was wanted by less than 1 KiB a file */
    /*
     * XXH3-64 over all regular files sorted by relative path (byte order): path with its NUL, size
     * as u64, XXH3-64 of the contents as u64, both little-endian.
     */
    uint64_t hash;
};

/* "trigger", "mailbox". */
const char *corpus_kind_name(enum corpus_kind kind);

/* 0; -EINVAL when there is no such kind. */
int corpus_kind_parse(const char *name, enum corpus_kind *ret_kind);

/*
 * Makes the corpus and puts it on stable storage. 0; -EINVAL for a size out of range; -ENOTEMPTY
 * when the directory holds something; -ECANCELED; -ENOMEM; else the error of the system call that
 * failed (-ENOSPC, -EDQUOT, -EACCES …). On failure everything that was made is removed again.
 * *ret_failed_path is then the path that the error is about (for the caller to free, NULL if it is
 * about none), else NULL.
 */
int corpus_generate(const struct corpus_config *config, struct corpus_result *ret_result,
                    char **ret_failed_path);

/*
 * The same figures for files that are there already: all regular files below `directory`, symbolic
 * links and mounts not followed. One set, "source". 0; -ECANCELED; -ENOMEM; -ENOTDIR; the error of
 * a system call, with its path as above.
 */
int corpus_survey(const char *directory, const volatile sig_atomic_t *cancel,
                  struct corpus_result *ret_result, char **ret_failed_path);

#endif
