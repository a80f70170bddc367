/* tallyctl stat */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/mount.h"
#include "ctl/snapshot.h"
#include "ctl/view.h"
#include "util/cleanup.h"
#include "util/clock.h"

/* A snapshot with every histogram full is about 2 MiB. */
#define FILE_BYTES_MAX (64UL << 20)

static bool wants_colours(void)
{
    const char *no_color = getenv("NO_COLOR");

    return isatty(STDOUT_FILENO) && !(no_color && no_color[0]);
}

static int print_text(struct strbuf *text, const struct log *log)
{
    if (text->failed) {
        log_error(log, "%s", strerrordesc_np(ENOMEM));
        return EXIT_FAILED;
    }
    fwrite(text->data, 1, text->length, stdout);
    if (fflush(stdout) != 0) {
        log_error(log, "standard output: %s", strerrordesc_np(errno));
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

static int print_snapshot(struct snapshot *snapshot, const struct options *options, bool first,
                          const struct log *log)
{
    static const struct stats_detail detail = {.errnos = TALLY_ERRNO_SLOTS, .histograms = true};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    bool colours = wants_colours();

    if (options->some_operations)
        snapshot_keep(snapshot, options->operations);
    switch (options->format) {
    case STAT_JSON:
        stats_render_json(&snapshot->counters, &detail, &text);
        break;
    case STAT_OPENMETRICS:
        stats_render_openmetrics(&snapshot->counters, &detail, &text);
        break;
    case STAT_CSV:
        if (first)
            view_csv_head(&text);
        view_csv(&snapshot->counters, &text);
        break;
    case STAT_TABLE:
        if (options->watch_s > 0 && isatty(STDOUT_FILENO))
            strbuf_puts(&text, "\033[H\033[2J");
        else if (!first)
            strbuf_puts(&text, "\n");
        view_table(&snapshot->counters, options->operands[0], colours, &text);
        break;
    }
    return print_text(&text, log);
}

static int read_mount(const char *mount, const struct log *log, struct snapshot **ret_snapshot)
{
    const char *problem = mount_problem(mount);

    if (!problem) {
        int r = snapshot_read(mount, ret_snapshot);

        if (r == -ENODATA)
            problem = "counting is off (it was mounted with stats=off)";
        else if (r == -EPROTO)
            problem =
                "its counters are not what this tallyctl understands; are both of one version?";
        else if (r == -EAGAIN)
            problem = "it is reset faster than it can be read";
        else if (r < 0)
            problem = strerrordesc_np(-r);
    }
    if (problem)
        log_error(log, "%s: %s", mount, problem);
    return problem ? -EIO : 0;
}

static int read_file(const char *path, struct strbuf *text)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    char buffer[65536];
    ssize_t length;

    if (fd < 0)
        return -errno;
    while ((length = read(fd, buffer, sizeof(buffer))) > 0) {
        strbuf_add(text, buffer, (size_t)length);
        if (text->length > FILE_BYTES_MAX)
            return -EFBIG;
    }
    if (length < 0)
        return -errno;
    strbuf_add(text, "", 1);
    return text->failed ? -ENOMEM : 0;
}

static int load(const char *path, const struct log *log, struct snapshot **ret_snapshot)
{
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    char reason[SNAPSHOT_REASON_BYTES];
    int r = read_file(path, &text);

    if (r < 0) {
        log_error(log, "%s: %s", path, strerrordesc_np(-r));
        return r;
    }
    r = snapshot_parse(text.data, reason, ret_snapshot);
    if (r < 0)
        log_error(log, "%s: %s", path, r == -EINVAL ? reason : strerrordesc_np(-r));
    return r;
}

static int show_once(const struct options *options, const struct log *log)
{
    AUTO_SNAPSHOT struct snapshot *now = NULL, *earlier = NULL;
    const char *problem = NULL;

    if (options->since && load(options->since, log, &earlier) < 0)
        return EXIT_FAILED;
    if (read_mount(options->operands[0], log, &now) < 0)
        return EXIT_FAILED;
    if (earlier)
        problem = snapshot_subtract(now, earlier);
    if (problem) {
        log_error(log, "%s: %s", options->since, problem);
        return EXIT_FAILED;
    }
    return print_snapshot(now, options, true, log);
}

static void wait_until(uint64_t ns)
{
    const struct timespec until = {.tv_sec = (time_t)(ns / NS_PER_SECOND),
                                   .tv_nsec = (long)(ns % NS_PER_SECOND)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* What was counted since `earlier`; after a reset, all that is there. */
static int show_interval(const struct options *options, const struct snapshot *earlier, bool first,
                         const struct log *log, struct snapshot **ret_now)
{
    AUTO_SNAPSHOT struct snapshot *now = NULL, *shown = NULL;
    const char *problem = NULL;
    int status;

    if (read_mount(options->operands[0], log, &now) < 0)
        return EXIT_FAILED;
    shown = snapshot_copy(now);
    if (!shown) {
        log_error(log, "%s", strerrordesc_np(ENOMEM));
        return EXIT_FAILED;
    }
    if (now->counters.epoch == earlier->counters.epoch)
        problem = snapshot_subtract(shown, earlier);
    if (problem) {
        log_error(log, "%s: %s", options->operands[0], "it was mounted anew");
        return EXIT_FAILED;
    }
    status = print_snapshot(shown, options, first, log);
    *ret_now = TAKE_POINTER(now);
    return status;
}

/* Until it fails or a signal ends the program. */
static int watch(const struct options *options, const struct log *log)
{
    AUTO_SNAPSHOT struct snapshot *earlier = NULL;
    uint64_t period_ns = (uint64_t)(options->watch_s * (double)NS_PER_SECOND);
    uint64_t next_ns = clock_ns();
    bool first = true;

    if (read_mount(options->operands[0], log, &earlier) < 0)
        return EXIT_FAILED;
    for (;;) {
        struct snapshot *now = NULL;
        int status;

        next_ns += period_ns;
        wait_until(next_ns);
        status = show_interval(options, earlier, first, log, &now);
        if (status != EXIT_DONE) {
            snapshot_free(now);
            return status;
        }
        snapshot_free(earlier);
        earlier = now;
        first = false;
    }
}

int command_stat(const struct options *options, const struct log *log)
{
    return options->watch_s > 0 ? watch(options, log) : show_once(options, log);
}
