/* tallyfs: mounts a counting, compressing view of a directory. */
#include <errno.h>
#include <fuse_log.h>
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "background.h"
#include "ending.h"
#include "fs/fs.h"
#include "fs/libfuse.h"
#include "options.h"
#include "place.h"
#include "util/cleanup.h"

enum exit_status { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define THREADS_DEFAULT_MIN 8
#define THREADS_DEFAULT_MAX 32

/* libfuse's messages look like ours. They come without a context, so they go to stderr only. */
static void log_libfuse(enum fuse_log_level level, const char *format, va_list arguments)
{
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;

    (void)level;
    strbuf_vprintf(&text, format, arguments);
    if (text.failed || text.length == 0)
        return;
    /* Some messages come in several calls; only what begins one is a line of ours. */
    fprintf(stderr, "%s%s", strncmp(text.data, "fuse: ", 6) == 0 ? "tallyfs: " : "",
            text.data + (strncmp(text.data, "fuse: ", 6) == 0 ? 6 : 0));
}

/*
 * Requests and chunks come and go in pieces of 128 KiB to 1 MiB. By default malloc gives each back to the kernel and
 * takes the next from it: with the page faults of touching it anew, dearer than the copy that it was wanted for.
 */
static void keep_freed_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
}

static void print_versions(void)
{
    const struct tally_codec *codec;

    printf("tallyfs %s\n", TALLY_VERSION);
    printf("libfuse %s\n", fuse_pkgversion());
    for (size_t i = 0; (codec = tally_codec_at(i)); i++)
        printf("%s by %s %s\n", codec->name, codec->library, codec->library_version());
}

static unsigned processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    return count > 0 ? (unsigned)count : 1;
}

static unsigned answering_threads(const struct options *options)
{
    unsigned threads = 2 * processors();

    if (options->threads)
        return options->threads;
    if (threads < THREADS_DEFAULT_MIN)
        return THREADS_DEFAULT_MIN;
    return threads < THREADS_DEFAULT_MAX ? threads : THREADS_DEFAULT_MAX;
}

static bool kernel_has_io_uring(void)
{
    AUTO_FCLOSE FILE *parameter = fopen("/sys/module/fuse/parameters/enable_uring", "re");

    return parameter && fgetc(parameter) == 'Y';
}

/* The option for libfuse, or a warning and the ordinary transport. */
static int request_io_uring(struct options *options, const struct log *log)
{
#if TALLY_FUSE_HAS_V318
    if (kernel_has_io_uring())
        return fuse_opt_add_arg(&options->libfuse, "-oio_uring") == 0 ? 0 : -ENOMEM;
    log_warning(log, "io_uring: not enabled in the kernel (/sys/module/fuse/parameters/enable_uring is not Y); "
                     "using the ordinary transport");
#else
    (void)options;
    (void)kernel_has_io_uring;
    log_warning(log, "io_uring: needs libfuse 3.18, this is %s; using the ordinary transport", fuse_pkgversion());
#endif
    return 0;
}

/* "-o NAME=VALUE" for libfuse, with the commas and backslashes of the value kept from it. */
static int add_escaped(struct fuse_args *arguments, const char *name, const char *value)
{
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;

    strbuf_printf(&text, "-o%s=", name);
    for (; *value; value++)
        strbuf_printf(&text, *value == ',' || *value == '\\' ? "\\%c" : "%c", *value);
    return !text.failed && fuse_opt_add_arg(arguments, text.data) == 0 ? 0 : -ENOMEM;
}

static int complete_libfuse_options(struct options *options, const struct place *place, const struct log *log)
{
    int r = fuse_opt_add_arg(&options->libfuse, "-odefault_permissions") == 0 ? 0 : -ENOMEM;

    if (r == 0 && !options->fsname_given)
        r = add_escaped(&options->libfuse, "fsname", place->lower);
    if (r == 0 && !options->subtype_given)
        r = add_escaped(&options->libfuse, "subtype", "tallyfs");
    if (r == 0 && options->io_uring)
        r = request_io_uring(options, log);
    return r;
}

static int loop(struct fuse_session *session, unsigned threads)
{
    struct fuse_loop_config *config;
    int r;

    if (threads == 1)
        return fuse_session_loop(session);
    config = fuse_loop_cfg_create();
    if (!config)
        return -ENOMEM;
    fuse_loop_cfg_set_clone_fd(config, 0);
    fuse_loop_cfg_set_max_threads(config, threads);
    fuse_loop_cfg_set_idle_threads(config, threads);
    r = fuse_session_loop_mt(session, config);
    fuse_loop_cfg_destroy(config);
    return r;
}

/* Serves until unmounted or told to end by a signal. */
static enum exit_status serve(struct fs *fs, struct fuse_session *session, const struct options *options,
                              const struct place *place, struct background *background, struct log *log)
{
    struct ending ending;
    int r;

    if (fuse_session_mount(session, place->mountpoint) != 0) {
        log_error(log, "%s: cannot mount", place->mountpoint);
        return EXIT_FAILED;
    }
    r = fs_begin(fs, session, place->mountpoint);
    if (r == 0)
        r = ending_start(&ending, fs, session, place->mountpoint);
    if (r == 0) {
        background_ready(background, log);
        r = loop(session, answering_threads(options));
        ending_stop(&ending);
    }
    if (r < 0)
        log_error(log, "%s: %s", place->mountpoint, strerror(-r));
    fuse_session_unmount(session);
    return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

static enum exit_status run(struct options *options, const struct place *place, struct background *background,
                            struct log *log)
{
    enum exit_status status;
    struct fuse_session *session;
    struct fs *fs;
    int r;

    options->fs.lower = place->lower;
    options->fs.log = log;
    options->fs.worker_count = processors();
    r = fs_create(&options->fs, &fs);
    if (r < 0) {
        log_error(log, "%s: lower directory: %s", place->lower, strerror(-r));
        return EXIT_FAILED;
    }
    session = fuse_session_new(&options->libfuse, fs_operations(), sizeof(*fs_operations()), fs);
    if (session) {
        status = serve(fs, session, options, place, background, log);
        fuse_session_destroy(session);
    } else {
        status = EXIT_USAGE;
    }
    r = fs_destroy(fs);
    if (r < 0) {
        log_error(log, "%s: not all data could be written: %s", place->lower, strerror(-r));
        status = EXIT_FAILED;
    }
    return status;
}

static enum exit_status remount_it(const struct options *options, const struct log *log)
{
    AUTO_FREE char *mountpoint = realpath(options->mountpoint, NULL);

    if (!mountpoint) {
        log_error(log, "%s: mountpoint: %s", options->mountpoint, strerror(errno));
        return EXIT_FAILED;
    }
    return remount_do(&options->remount, mountpoint, log) < 0 ? EXIT_FAILED : EXIT_DONE;
}

static enum exit_status mount_it(struct options *options, struct log *log)
{
    struct place place = {NULL, NULL};
    struct background background = BACKGROUND_INIT;
    enum exit_status status = EXIT_FAILED;
    int r = place_resolve(options->lower, options->mountpoint, log, &place);

    if (r == 0) {
        r = complete_libfuse_options(options, &place, log);
        if (r == 0 && !options->foreground)
            r = background_start(&background, place.mountpoint, log);
        if (r < 0)
            log_error(log, "%s: %s", options->mountpoint, strerror(-r));
    }
    if (r == 0) {
        /* New files get the mode that the caller's own umask leaves. */
        umask(0);
        ending_block_signals();
        status = run(options, &place, &background, log);
    }
    place_free(&place);
    return status;
}

int main(int argc, char *argv[])
{
    struct log log = {.program = "tallyfs"};
    struct options options = OPTIONS_INIT;
    enum exit_status status = EXIT_DONE;
    int r;

    keep_freed_memory();
    fuse_set_log_func(log_libfuse);
    r = options_parse(argc, argv, &log, &options);

    if (r == -ENOMEM)
        log_error(&log, "%s", strerror(ENOMEM));
    if (r < 0)
        status = r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
    else if (options.help)
        options_help();
    else if (options.version)
        print_versions();
    else if (options.remount.wanted)
        status = remount_it(&options, &log);
    else
        status = mount_it(&options, &log);
    options_free(&options);
    return status;
}
