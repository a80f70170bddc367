/* tallyctl compact */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/counted.h"
#include "ctl/keep.h"
#include "ctl/kind.h"
#include "ctl/lower.h"
#include "ctl/mounts.h"
#include "ctl/tree.h"
#include "store/store.h"
#include "util/cleanup.h"

struct compact {
    struct store *store;
};

static int compact_store_file(struct backend *contents, struct store_file_info *ret_before)
{
    int r = store_file_info(contents, NULL, ret_before);

    return r < 0 ? r : store_file_compact(contents, NULL);
}

/* What the lower file takes is looked at after it was closed, which may write an index. */
static int compact_stored(struct compact *compact, struct job *job, int fd, uint64_t *ret_before)
{
    static const struct tally_codec_choice none = {0};
    struct backend *lower, *contents;
    struct store_file_info before = {0};
    int r = counted_open(fd, job, &lower), s;

    if (r < 0)
        return r;
    r = store_file_open(compact->store, NULL, lower, &none, false, &contents);
    if (r < 0) {
        backend_close(lower, NULL);
        return r;
    }
    r = compact_store_file(contents, &before);
    s = backend_close(contents, NULL);
    *ret_before = before.stored_bytes;
    return r < 0 ? r : s;
}

static int compact_file(struct compact *compact, struct job *job, const struct tree_file *file)
{
    AUTO_CLOSE int fd = lower_reopen(*file->fd, O_RDWR);
    struct kept kept = {.capability_size = -1};
    enum lower_kind kind;
    struct stat after;
    uint64_t before;
    int r = fd < 0 ? fd : lower_claim(fd, STORE_CLAIM_WRITE);

    if (r == 0)
        r = keep_take(fd, &kept);
    if (r == 0)
        r = lower_kind(fd, &kept.attributes, &kind);
    if (r < 0)
        return r;
    if (kind != LOWER_STORED)
        return kind == LOWER_PLAIN ? 0 : -EIO;
    r = compact_stored(compact, job, fd, &before);
    if (r < 0)
        return r;
    r = keep_give_back(fd, &kept);
    if (r == 0 && fstat(fd, &after) < 0)
        r = -errno;
    if (r == 0)
        job_print(job, "%15" PRIu64 " %15" PRIu64 "  %s", before, (uint64_t)after.st_blocks * 512,
                  file->path);
    return r;
}

static void visit(void *user, struct job *job, const struct tree_file *file)
{
    int r = compact_file(user, job, file);

    if (r == -EBUSY)
        job_fail(job, "%s: in use by a mount", file->path);
    else if (r == -EIO)
        job_fail(job, "%s: damaged; `tallyctl check --repair` first", file->path);
    else if (r < 0 && r != -ECANCELED)
        job_fail(job, "%s: %s", file->path, strerrordesc_np(-r));
}

int command_compact(const struct options *options, const struct log *log)
{
    struct compact compact = {0};
    struct job job;
    int r;

    if (mounts_allow(options, log, true) < 0)
        return EXIT_FAILED;
    r = job_begin(&job, log, "compacted");
    if (r == 0) {
        r = lower_store_create(LOWER_CHUNK_BYTES, 0, &compact.store);
        if (r == 0) {
            job_print(&job, "%15s %15s  %s", "bytes before", "bytes after", "file");
            tree_walk(&job, options->operands, options->operand_count, visit, &compact);
        }
        job_end(&job);
    }
    if (compact.store)
        store_destroy(compact.store);
    if (r < 0)
        log_error(log, "%s", strerrordesc_np(-r));
    return r < 0 || atomic_load(&job.failed) ? EXIT_FAILED : EXIT_DONE;
}
