/* tallyctl check */
#include "store/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/counted.h"
#include "ctl/format.h"
#include "ctl/keep.h"
#include "ctl/kind.h"
#include "ctl/lower.h"
#include "ctl/mounts.h"
#include "ctl/tree.h"
#include "util/cleanup.h"

struct check {
    struct store *store;
    bool repair;
    _Atomic uint64_t stored, plain, damaged, repaired, lost_bytes;
};

static void print_damage(struct job *job, const char *path, const struct store_damage *damage)
{
    const char *text = store_damage_text(damage->kind);

    if (damage->logical_length)
        job_print(job, "%s: bytes %" PRIu64 "+%" PRIu64 ": %s; stored at %" PRIu64 "+%" PRIu64,
                  path, damage->logical_offset, damage->logical_length, text, damage->lower_offset,
                  damage->lower_length);
    else
        job_print(job, "%s: stored at %" PRIu64 "+%" PRIu64 ": %s", path, damage->lower_offset,
                  damage->lower_length, text);
}

static void print_report(struct check *check, struct job *job, const char *path,
                         const struct store_report *report)
{
    for (size_t i = 0; i < report->damage_count; i++)
        print_damage(job, path, &report->damage[i]);
    if (report->torn_bytes)
        job_print(job, "%s: %" PRIu64 " bytes at the end of the stored file were left by a crash%s",
                  path, report->torn_bytes, report->is_repaired ? "; cut off" : "");
    if (report->is_repaired)
        job_print(job, "%s: repaired; %" PRIu64 " of %" PRIu64 " bytes lost", path,
                  report->lost_bytes, report->logical_bytes);
    if (report->damage_count)
        atomic_fetch_add(&check->damaged, 1);
    if (report->is_repaired)
        atomic_fetch_add(&check->repaired, 1);
    atomic_fetch_add(&check->lost_bytes, report->lost_bytes);
}

static int check_stored(struct check *check, struct job *job, int fd,
                        struct store_report *ret_report)
{
    struct backend *lower;
    int r = counted_open(fd, job, &lower);

    if (r < 0)
        return r;
    /* The medium is to be looked at, not what the kernel remembers of it. */
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    if (check->repair)
        return store_repair(check->store, lower, ret_report);
    r = store_check(check->store, lower, ret_report);
    backend_close(lower, NULL);
    return r;
}

/* With the file claimed. */
static int check_claimed(struct check *check, struct job *job, const struct tree_file *file, int fd)
{
    struct store_report report = STORE_REPORT_NONE;
    struct kept kept = {.capability_size = -1};
    int r = check->repair ? keep_take(fd, &kept) : 0;

    if (r == 0)
        r = check_stored(check, job, fd, &report);
    if (r < 0)
        return r;
    print_report(check, job, file->path, &report);
    if (report.is_repaired)
        r = keep_give_back(fd, &kept);
    store_report_free(&report);
    if (r < 0)
        job_fail(job, "%s: repaired, but its times or mode could not be kept: %s", file->path,
                 strerrordesc_np(-r));
    return 0;
}

static int check_file(struct check *check, struct job *job, const struct tree_file *file)
{
    AUTO_CLOSE int writable = -1;
    enum lower_kind kind;
    int r, fd = *file->fd;

    r = lower_claim(fd, STORE_CLAIM_READ);
    if (r == 0)
        r = lower_kind(fd, &file->attributes, &kind);
    if (r < 0)
        return r;
    if (kind == LOWER_PLAIN) {
        atomic_fetch_add(&check->plain, 1);
        return 0;
    }
    atomic_fetch_add(&check->stored, 1);
    if (check->repair) {
        writable = lower_reopen(fd, O_RDWR);
        if (writable < 0)
            return writable;
        store_claim(fd, NULL, STORE_CLAIM_NONE);
        r = lower_claim(writable, STORE_CLAIM_WRITE);
    }
    return r < 0 ? r : check_claimed(check, job, file, check->repair ? writable : fd);
}

static void visit(void *user, struct job *job, const struct tree_file *file)
{
    struct check *check = user;
    int r = check_file(check, job, file);

    switch (r) {
    case 0:
    case -ECANCELED:
        break;
    case -EBUSY:
        job_fail(job, "%s: in use by a mount", file->path);
        break;
    case -EIO:
        /* No frame is whole: nothing can be told, or rescued. */
        job_print(job, "%s: damaged; no part of it can be read", file->path);
        atomic_fetch_add(&check->damaged, 1);
        break;
    case -EPROTONOSUPPORT:
        job_fail(job, "%s: written by a newer version of tallyfs", file->path);
        break;
    default:
        job_fail(job, "%s: %s", file->path, strerrordesc_np(-r));
    }
}

static void print_summary(const struct check *check, struct job *job)
{
    char bytes[FORMAT_BYTES];

    format_bytes(atomic_load(&job->bytes), bytes);
    job_print(job,
              "%" PRIu64 " compressed files checked, %sB; %" PRIu64 " damaged, %" PRIu64
              " bytes lost, %" PRIu64 " repaired; %" PRIu64 " plain files left alone",
              check->stored, bytes, check->damaged, check->lost_bytes, check->repaired,
              check->plain);
}

int command_check(const struct options *options, const struct log *log)
{
    struct check check = {.repair = options->repair};
    struct job job;
    int r, status;

    if (mounts_allow(options, log, options->repair) < 0)
        return EXIT_FAILED;
    r = job_begin(&job, log, "checked");
    if (r == 0) {
        r = lower_store_create(LOWER_CHUNK_BYTES, 0, &check.store);
        if (r == 0)
            tree_walk(&job, options->operands, options->operand_count, visit, &check);
        print_summary(&check, &job);
        job_end(&job);
    }
    if (check.store)
        store_destroy(check.store);
    if (r < 0) {
        log_error(log, "%s", strerrordesc_np(-r));
        return EXIT_FAILED;
    }
    status = atomic_load(&job.failed) ? EXIT_FAILED : EXIT_DONE;
    return check.damaged ? EXIT_DAMAGED : status;
}
