/* What the kernel tells about CPU time, space and caches. Functions keep no state. */
#ifndef TALLY_BENCH_MEASURE_H
#define TALLY_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cpu_time {
    double user_s, system_s;
};

/* Of the process and the children it has waited for, in steps of a clock tick (10 ms). 0; -errno. */
int measure_process_cpu(pid_t pid, struct cpu_time *ret_time);

/* All time that any CPU was not idle since the start of the system, in seconds: with kernel threads and interrupts. 0;
 * -errno. */
int measure_machine_busy(double *ret_seconds);

/* Free bytes of the file system that `path` is on. 0; -errno. */
int measure_free(const char *path, uint64_t *ret_bytes);

struct tree_space {
    uint64_t allocated_bytes; /* sum of st_blocks, a file with several links once */
    uint64_t apparent_bytes;  /* sum of st_size of regular files */
    uint64_t files;           /* regular ones */
    uint64_t unwritten_files; /* over 4 KiB in one block at most: a hole, or not written yet */
};

/* Sums up a tree, staying on its file system. 0; -errno. */
int measure_tree(const char *directory, struct tree_space *ret_space);

/* syncfs(2) on the file system that `path` is on. 0; -errno. */
int measure_sync(const char *path);

/* ZFS frees in the background, transaction group by transaction group, seconds after a sync. */
bool measure_frees_slowly(const char *path);

/*
 * Syncs, then waits until free space and, unless `tree` is NULL, the tree's blocks no longer change: for a quarter of a
 * second, or for six where it frees slowly; for forty there while files look as if they were not written yet. 0 with
 * *ret_settled false when that was not so after twenty times the shorter; -ECANCELED; -errno.
 */
int measure_settle(const char *directory, const char *tree, bool *ret_settled);

/* How near free space must come to count as the same: other writers' noise and the journal's. */
uint64_t measure_space_tolerance(uint64_t used_bytes);

/* Writes back and drops page cache, dentries and inodes of the whole machine. 0; -EACCES or -EPERM without root. */
int measure_drop_caches(void);

#endif
