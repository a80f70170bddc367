/* tallyctl convert */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/copy.h"
#include "ctl/counted.h"
#include "ctl/format.h"
#include "ctl/keep.h"
#include "ctl/kind.h"
#include "ctl/lower.h"
#include "ctl/mounts.h"
#include "ctl/replace.h"
#include "store/check.h"
#include "util/cleanup.h"

struct convert {
    struct store *store;
    struct tally_codec_choice to;
    uint32_t chunk_bytes;
    _Atomic uint64_t converted, skipped, before_bytes, after_bytes;
};

/* The contents of an open file as programs see them. */
static int open_contents(struct convert *convert, struct job *job, int fd, bool is_stored,
                         struct backend **ret_backend)
{
    static const struct tally_codec_choice none = {0};
    struct backend *lower;
    int r = counted_open(fd, job, &lower);

    if (r < 0 || !is_stored) {
        if (r == 0)
            *ret_backend = lower;
        return r;
    }
    r = store_file_open(convert->store, NULL, lower, &none, true, ret_backend);
    if (r < 0)
        backend_close(lower, NULL);
    return r;
}

/* 1, 0 when the file is already what it is to be, or -errno. */
static int is_to_convert(struct convert *convert, struct job *job, const struct tree_file *file)
{
    struct store_file_info info;
    struct backend *contents;
    enum lower_kind kind;
    int r = lower_claim(*file->fd, STORE_CLAIM_READ);

    if (r == 0)
        r = lower_kind(*file->fd, &file->attributes, &kind);
    if (r < 0)
        return r;
    if (kind == LOWER_PLAIN)
        return file->attributes.st_size > 0 && convert->to.codec != NULL;
    if (kind == LOWER_DISGUISED)
        return -EBADMSG;
    if (!convert->to.codec)
        return 1;
    r = open_contents(convert, job, *file->fd, true, &contents);
    if (r < 0)
        return r;
    r = store_file_info(contents, NULL, &info);
    backend_close(contents, NULL);
    return r < 0 ? r
                 : info.codec != convert->to.codec->id || info.chunk_bytes != convert->chunk_bytes;
}

static int open_new_contents(struct convert *convert, int fd, struct backend **ret_backend)
{
    struct backend *lower;
    int r, copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (copy < 0)
        return -errno;
    r = raw_backend_create(copy, NULL, &lower);
    if (r < 0) {
        close(copy);
        return r;
    }
    if (!convert->to.codec) {
        *ret_backend = lower;
        return 0;
    }
    r = store_file_open(convert->store, NULL, lower, &convert->to, false, ret_backend);
    if (r < 0)
        backend_close(lower, NULL);
    return r;
}

static int write_new(struct convert *convert, struct backend *contents, int fd)
{
    struct backend *out;
    int r = open_new_contents(convert, fd, &out), s;

    if (r < 0)
        return r;
    r = copy_contents(contents, out);
    if (r == 0)
        r = backend_sync(out, NULL, false);
    s = backend_close(out, NULL);
    return r < 0 ? r : s;
}

/* Reads what was written, from the new file alone. */
static int verify_new(struct convert *convert, struct job *job, struct backend *contents, int fd)
{
    struct backend *written;
    int r = open_contents(convert, job, fd, convert->to.codec != NULL, &written);

    if (r < 0)
        return r;
    r = copy_compare(contents, written);
    backend_close(written, NULL);
    return r;
}

/* A plain file's bytes may look like a container, as when one was stored in a container. */
static int mark_if_misleading(int fd)
{
    struct stat attributes;
    enum lower_kind kind;
    int r;

    if (fstat(fd, &attributes) < 0)
        return -errno;
    r = lower_kind(fd, &attributes, &kind);
    if (r < 0 || kind == LOWER_PLAIN)
        return r;
    return fsetxattr(fd, LOWER_PLAIN_MARK, "1", 1, 0) < 0 ? -errno : 0;
}

static int make_new(struct convert *convert, struct job *job, const struct replacement *replacement)
{
    struct backend *contents;
    enum lower_kind kind;
    int r = lower_kind(replacement->old, &replacement->attributes, &kind);

    if (r == 0)
        r = open_contents(convert, job, replacement->old, kind == LOWER_STORED, &contents);
    if (r < 0)
        return r;
    r = write_new(convert, contents, replacement->fd);
    if (r == 0)
        r = verify_new(convert, job, contents, replacement->fd);
    backend_close(contents, NULL);
    if (r == 0 && !convert->to.codec)
        r = mark_if_misleading(replacement->fd);
    return r < 0 ? r : keep_copy(replacement->old, replacement->fd);
}

static uint64_t stored_bytes(int fd)
{
    struct stat attributes;

    return fstat(fd, &attributes) < 0 ? 0 : (uint64_t)attributes.st_blocks * 512;
}

static int convert_file(struct convert *convert, struct job *job, const struct tree_file *file)
{
    AUTO_REPLACEMENT struct replacement replacement = REPLACEMENT_NONE;
    int r = is_to_convert(convert, job, file);

    if (r <= 0) {
        if (r == 0)
            atomic_fetch_add(&convert->skipped, 1);
        return r;
    }
    if (file->attributes.st_nlink > 1)
        return -EMLINK;
    r = replace_begin(file, &replacement);
    if (r == 0)
        r = make_new(convert, job, &replacement);
    if (r == 0)
        r = replace_commit(&replacement);
    if (r < 0)
        return r;
    atomic_fetch_add(&convert->converted, 1);
    atomic_fetch_add(&convert->before_bytes, (uint64_t)replacement.attributes.st_blocks * 512);
    atomic_fetch_add(&convert->after_bytes, stored_bytes(replacement.fd));
    return 0;
}

static void visit(void *user, struct job *job, const struct tree_file *file)
{
    int r = convert_file(user, job, file);

    switch (r) {
    case 0:
    case -ECANCELED:
        break;
    case -EBUSY:
        job_fail(job, "%s: in use by a mount or another program; left as it is", file->path);
        break;
    case -ESTALE:
        job_fail(job, "%s: was replaced meanwhile; left as it is", file->path);
        break;
    case -EMLINK:
        job_fail(job, "%s: has %ju names, which would become different files; left as it is",
                 file->path, (uintmax_t)file->attributes.st_nlink);
        break;
    case -EBADMSG:
    case -EIO:
        job_fail(job, "%s: damaged, or cannot be read; left as it is", file->path);
        break;
    default:
        job_fail(job, "%s: %s; left as it is", file->path, strerrordesc_np(-r));
    }
}

static void print_summary(const struct convert *convert, struct job *job)
{
    char before[FORMAT_BYTES], after[FORMAT_BYTES];

    format_bytes(convert->before_bytes, before);
    format_bytes(convert->after_bytes, after);
    job_print(job,
              "%" PRIu64 " files converted, from %sB to %sB stored; %" PRIu64
              " left, being so already",
              convert->converted, before, after, convert->skipped);
}

int command_convert(const struct options *options, const struct log *log)
{
    struct convert convert = {.to = options->to, .chunk_bytes = options->chunk_bytes};
    struct job job;
    int r;

    if (mounts_allow(options, log, true) < 0)
        return EXIT_FAILED;
    signal(SIGIO, SIG_IGN); /* a lease is about to be taken away: looked for when it matters */
    r = job_begin(&job, log, "looked at");
    if (r == 0) {
        r = lower_store_create(options->chunk_bytes, (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
                               &convert.store);
        if (r == 0)
            tree_walk(&job, options->operands, options->operand_count, visit, &convert);
        print_summary(&convert, &job);
        job_end(&job);
    }
    if (convert.store)
        store_destroy(convert.store);
    if (r < 0)
        log_error(log, "%s", strerrordesc_np(-r));
    return r < 0 || atomic_load(&job.failed) ? EXIT_FAILED : EXIT_DONE;
}
