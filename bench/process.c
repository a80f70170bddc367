#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interrupt.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define KILL_PATIENCE_MS 5000

struct child {
    pid_t pid;
    int pidfd;
    int stderr_fd;
    int status;
};

int process_pidfd(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    return fd < 0 ? -errno : fd;
}

void process_first_line(int stderr_fd, char *line, size_t size)
{
    ssize_t got = pread(stderr_fd, line, size - 1, 0);

    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

void process_status_text(int status, char *text, size_t size)
{
    if (WIFSIGNALED(status))
        snprintf(text, size, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
}

/* The environment with messages in English, since they become part of the result. */
static char **c_locale_environment(void)
{
    static char locale[] = "LC_ALL=C";
    size_t count = 0, kept = 0;
    char **copy;

    while (environ[count])
        count++;
    copy = calloc(count + 2, sizeof(*copy));
    if (!copy)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "LC_ALL=", 7) != 0)
            copy[kept++] = environ[i];
    }
    copy[kept] = locale;
    return copy;
}

static int spawn_child(const struct process_stage *stage, int input, int output,
                       struct child *child)
{
    char **environment AUTO_FREE = c_locale_environment();
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int r;

    child->stderr_fd = memfd_create("stderr", MFD_CLOEXEC);
    if (!environment || child->stderr_fd < 0)
        return environment ? -errno : -ENOMEM;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, child->stderr_fd, 2);
    posix_spawn_file_actions_addchdir_np(&actions, stage->directory);
    r = -posix_spawnp(&child->pid, stage->arguments[0], &actions, &attributes,
                      (char *const *)stage->arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (r < 0) {
        child->pid = 0;
        return r;
    }
    child->pidfd = process_pidfd(child->pid);
    return child->pidfd < 0 ? child->pidfd : 0;
}

static void kill_children(struct child *children, size_t count, int signal)
{
    for (size_t i = 0; i < count; i++) {
        if (children[i].pid > 0 && kill(-children[i].pid, signal) < 0)
            kill(children[i].pid, signal);
    }
}

/* Reads and drops until the writers have closed. */
static int drain_pipe(int fd)
{
    struct pollfd polls[] = {{.fd = fd, .events = POLLIN},
                             {.fd = interrupt_fd(), .events = POLLIN}};
    size_t size = (size_t)1 << 20;
    char *buffer AUTO_FREE = malloc(size);
    ssize_t got;

    if (!buffer)
        return -ENOMEM;
    for (;;) {
        if (poll(polls, 2, -1) < 0 && errno != EINTR)
            return -errno;
        if (interrupt_pending())
            return -ECANCELED;
        if (!polls[0].revents)
            continue;
        got = read(fd, buffer, size);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR)
            return -errno;
    }
}

/* Waits for all to end. A signal ends them, or at least the patience with them; then they are killed. */
static int reap_children(const struct process_plan *plan, struct child *children, bool end_now,
                         struct process_usage *usage)
{
    bool ended = end_now || plan->uninterrupted;
    size_t count = plan->count;
    int r = 0;

    if (end_now)
        kill_children(children, count, SIGTERM);
    for (size_t i = 0; i < count; i++) {
        struct pollfd polls[] = {{.fd = children[i].pidfd, .events = POLLIN},
                                 {.fd = interrupt_fd(), .events = POLLIN}};
        struct rusage rusage;

        if (children[i].pid <= 0)
            continue;
        while (children[i].pidfd >= 0 && !polls[0].revents) {
            int ready = poll(polls, ended ? 1 : 2, ended ? KILL_PATIENCE_MS : -1);

            if (ready == 0)
                kill_children(children, count, SIGKILL);
            if (!ended && interrupt_pending()) {
                kill_children(children, count, SIGTERM);
                ended = true;
                r = -ECANCELED;
            }
        }
        while (wait4(children[i].pid, &children[i].status, 0, &rusage) < 0 && errno == EINTR)
            ;
        children[i].pid = 0;
        usage->user_s += (double)rusage.ru_utime.tv_sec + (double)rusage.ru_utime.tv_usec * 1e-6;
        usage->system_s += (double)rusage.ru_stime.tv_sec + (double)rusage.ru_stime.tv_usec * 1e-6;
    }
    return r;
}

/* The last of a pipe knows best what went wrong; one before it often only died of the broken pipe. */
static int judge_children(const struct process_plan *plan, const struct child *children,
                          struct reason *reason)
{
    for (size_t i = plan->count; i-- > 0;) {
        const char *program = plan->stages[i].arguments[0];
        char line[400], status[64];

        if (children[i].status == 0)
            continue;
        process_first_line(children[i].stderr_fd, line, sizeof(line));
        process_status_text(children[i].status, status, sizeof(status));
        if (line[0] && strncmp(line, program, strlen(program)) == 0)
            return reason_set(reason, -EIO, "%s", line);
        if (line[0])
            return reason_set(reason, -EIO, "%s: %s", program, line);
        return reason_set(reason, -EIO, "%s: %s", program, status);
    }
    return 0;
}

static int run_children(const struct process_plan *plan, struct child *children,
                        struct process_usage *usage, struct reason *reason)
{
    int null AUTO_CLOSE = open("/dev/null", O_RDWR | O_CLOEXEC);
    int input AUTO_CLOSE = fcntl(null, F_DUPFD_CLOEXEC, 0);
    uint64_t began_ns = clock_ns();
    int r = null < 0 || input < 0 ? -errno : 0, reaped;

    for (size_t i = 0; r == 0 && i < plan->count; i++) {
        bool piped = i + 1 < plan->count || plan->drain;
        int ends[2] = {-1, -1};

        if (piped && pipe2(ends, O_CLOEXEC) < 0)
            r = -errno;
        if (r == 0)
            r = spawn_child(&plan->stages[i], input, piped ? ends[1] : null, &children[i]);
        if (r < 0)
            reason_set(reason, r, "%s: %s", plan->stages[i].arguments[0], strerror(-r));
        cleanup_close(&ends[1]);
        cleanup_close(&input);
        input = ends[0];
    }
    if (r == 0 && plan->drain)
        r = drain_pipe(input);
    reaped = reap_children(plan, children, r < 0, usage);
    usage->wall_s += (double)(clock_ns() - began_ns) * 1e-9;
    return r < 0 ? r : reaped;
}

int process_run(const struct process_plan *plan, struct process_usage *usage, struct reason *reason)
{
    struct child children[PROCESS_MAX_STAGES];
    int r;

    for (size_t i = 0; i < PROCESS_MAX_STAGES; i++)
        children[i] = (struct child){.pidfd = -1, .stderr_fd = -1};
    r = run_children(plan, children, usage, reason);
    if (r == 0)
        r = judge_children(plan, children, reason);
    for (size_t i = 0; i < PROCESS_MAX_STAGES; i++) {
        cleanup_close(&children[i].pidfd);
        cleanup_close(&children[i].stderr_fd);
    }
    if (r == -ECANCELED)
        reason_set(reason, r, "interrupted");
    return r;
}
