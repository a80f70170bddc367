#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "interrupt.h"
#include "process.h"
#include "tally/stats.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define CONTROL_FILE ".tallyfs"
#define START_LIMIT_S 20
#define STOP_LIMIT_MS 60000
#define UNMOUNTED_LIMIT_MS 5000
#define BUSY_LIMIT_MS 3000
#define POLL_MS 10

/* The kernel's own limit for a value, and that of the counters. */
#define COUNTERS_BYTES ((size_t)1 << 16)

static int find_beside(const char *place, char **ret_path)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *path AUTO_FREE = NULL;

    if (length < 0)
        return -errno;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    if (asprintf(&path, "%s/%s", self, place) < 0)
        return -ENOMEM;
    *ret_path = realpath(path, NULL);
    return *ret_path && access(*ret_path, X_OK) == 0 ? 0 : -ENOENT;
}

static int find_in_path(const char *name, char **ret_path)
{
    const char *search = getenv("PATH");
    char *copy AUTO_FREE = strdup(search ? search : "");
    char *rest = copy, *directory;

    while (copy && (directory = strsep(&rest, ":"))) {
        char *path AUTO_FREE = NULL;

        if (asprintf(&path, "%s/%s", *directory ? directory : ".", name) < 0)
            return -ENOMEM;
        if (access(path, X_OK) == 0) {
            *ret_path = TAKE_POINTER(path);
            return 0;
        }
    }
    return -ENOENT;
}

int mount_find_program(const char *wanted, char **ret_path, struct reason *reason)
{
    static const char *const places[] = {"tallyfs", "../fuse/main/tallyfs"};
    char *path AUTO_FREE = NULL;
    int r = -ENOENT;

    if (wanted) {
        path = realpath(wanted, NULL);
        if (!path || access(path, X_OK) < 0)
            return reason_path(reason, -errno, wanted);
        *ret_path = TAKE_POINTER(path);
        return 0;
    }
    for (size_t i = 0; r < 0 && i < sizeof(places) / sizeof(places[0]); i++) {
        free(TAKE_POINTER(path));
        r = find_beside(places[i], &path);
    }
    if (r < 0)
        r = find_in_path("tallyfs", &path);
    if (r < 0)
        return reason_set(reason, r, "tallyfs: not found beside tallybench nor in PATH");
    *ret_path = TAKE_POINTER(path);
    return 0;
}

/* fork and not posix_spawn: the daemon must end with this process, even if that is killed. */
static pid_t start_daemon(const char *program, const char *lower, const char *point,
                          const char *option, int stderr_fd)
{
    char *const arguments[] = {(char *)program, (char *)lower,  (char *)point, (char *)"-f",
                               (char *)"-o",    (char *)option, NULL};
    pid_t parent = getpid(), pid = fork();

    if (pid == 0) {
        int null = open("/dev/null", O_RDWR);

        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(null, 0);
        dup2(null, 1);
        dup2(stderr_fd, 2);
        close(null);
        if (getppid() == parent)
            execv(program, arguments);
        dprintf(2, "%s: %s\n", program, strerror(errno));
        _exit(127);
    }
    return pid;
}

static ssize_t get_attribute(const struct mount *mount, const char *name, void *value, size_t size)
{
    char *path AUTO_FREE = NULL;
    ssize_t got;

    if (asprintf(&path, "%s/%s", mount->point, CONTROL_FILE) < 0)
        return -ENOMEM;
    got = getxattr(path, name, value, size);
    return got < 0 ? -errno : got;
}

static int command(const struct mount *mount, const char *name)
{
    char *path AUTO_FREE = NULL;

    if (asprintf(&path, "%s/%s", mount->point, CONTROL_FILE) < 0)
        return -ENOMEM;
    return setxattr(path, name, "1", 1, 0) < 0 ? -errno : 0;
}

static bool ended_within(const struct mount *mount, int milliseconds)
{
    struct pollfd ended = {.fd = mount->pidfd, .events = POLLIN};

    return poll(&ended, 1, milliseconds) > 0;
}

bool mount_alive(const struct mount *mount, struct reason *reason)
{
    siginfo_t how = {0};
    char line[400];

    if (!ended_within(mount, 0))
        return true;
    waitid(P_PID, (id_t)mount->pid, &how, WEXITED | WNOHANG | WNOWAIT);
    process_first_line(mount->stderr_fd, line, sizeof(line));
    if (how.si_code == CLD_EXITED)
        reason_set(reason, -EIO, "%s%stallyfs ended with status %d", line, line[0] ? "; " : "",
                   how.si_status);
    else
        reason_set(reason, -EIO, "%s%stallyfs was killed by signal %d (%s)", line,
                   line[0] ? "; " : "", how.si_status, strsignal(how.si_status));
    return false;
}

static int wait_until_mounted(const struct mount *mount, struct reason *reason)
{
    uint64_t limit_ns = clock_ns() + START_LIMIT_S * NS_PER_SECOND;
    char version[256];

    while (clock_ns() < limit_ns) {
        int r;

        if (get_attribute(mount, TALLY_XATTR_PREFIX "version", version, sizeof(version)) >= 0)
            return 0;
        if (!mount_alive(mount, reason))
            return -EIO;
        r = interrupt_sleep_ms(POLL_MS);
        if (r < 0)
            return reason_set(reason, r, "interrupted");
    }
    return reason_set(reason, -ETIMEDOUT, "%s: tallyfs does not answer after %d s", mount->point,
                      START_LIMIT_S);
}

int mount_start(const char *program, const char *lower, const char *point, const char *codec,
                struct mount *ret_mount, struct reason *reason)
{
    struct mount mount = MOUNT_NONE;
    struct reason ignored;
    char option[64];
    int r = 0;

    snprintf(option, sizeof(option), "compress=%s", codec);
    mount.point = strdup(point);
    mount.stderr_fd = memfd_create("tallyfs", MFD_CLOEXEC);
    if (!mount.point || mount.stderr_fd < 0)
        r = -ENOMEM;
    if (r == 0) {
        mount.pid = start_daemon(program, lower, point, option, mount.stderr_fd);
        mount.pidfd = mount.pid > 0 ? process_pidfd(mount.pid) : -1;
        if (mount.pid < 0 || mount.pidfd < 0)
            r = -EAGAIN;
    }
    if (r < 0)
        reason_path(reason, r, program);
    else
        r = wait_until_mounted(&mount, reason);
    if (r < 0)
        mount_stop(&mount, &ignored);
    else
        *ret_mount = mount;
    return r;
}

static int unmount(const char *point, bool detach)
{
    const char *const arguments[] = {"fusermount3", "-u", point, detach ? "-z" : NULL, NULL};
    struct process_plan plan = {.stages = {{arguments, "/"}}, .count = 1, .uninterrupted = true};
    struct process_usage usage = {0};
    struct reason ignored;

    if (umount2(point, UMOUNT_NOFOLLOW | (detach ? MNT_DETACH : 0)) == 0)
        return 0;
    if (errno != EPERM)
        return -errno;
    return process_run(&plan, &usage, &ignored);
}

/* By the kernel's list: asking the file system itself would wait for a daemon that hangs. */
static bool is_mountpoint(const char *point)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    const struct mntent *entry;
    bool found = false;

    while (mounts && !found && (entry = getmntent(mounts)))
        found = strcmp(entry->mnt_dir, point) == 0;
    if (mounts)
        endmntent(mounts);
    return found;
}

int mount_stop(struct mount *mount, struct reason *reason)
{
    int r = 0, status = 0, unmounted = 0;
    bool dead;

    if (!mount->point)
        return 0;
    dead = mount->pidfd < 0 || !mount_alive(mount, reason);
    /* Something may still have it open for a moment: a program that was just ended, an indexer. */
    for (int waited = 0; !dead && waited < BUSY_LIMIT_MS; waited += POLL_MS) {
        unmounted = unmount(mount->point, false);
        if (unmounted == 0 || !is_mountpoint(mount->point))
            break;
        poll(NULL, 0, POLL_MS);
    }
    if (!dead && is_mountpoint(mount->point))
        unmounted = unmount(mount->point, true);
    /* Never got as far as mounting. */
    if (!dead && unmounted < 0)
        kill(mount->pid, SIGTERM);
    /* Another mount namespace that began meanwhile has a copy of the mount, which keeps the daemon at work. */
    if (mount->pid > 0 && !ended_within(mount, UNMOUNTED_LIMIT_MS))
        kill(mount->pid, SIGTERM);
    if (mount->pid > 0 && !ended_within(mount, STOP_LIMIT_MS)) {
        kill(mount->pid, SIGKILL);
        r = reason_set(reason, -EIO, "tallyfs did not end after its unmount and was killed");
    }
    if (mount->pid > 0)
        while (waitpid(mount->pid, &status, 0) < 0 && errno == EINTR)
            ;
    if (is_mountpoint(mount->point))
        unmount(mount->point, true);
    if (r == 0 && dead)
        r = -EIO;
    if (r == 0 && status != 0) {
        char text[64], line[400];

        process_status_text(status, text, sizeof(text));
        process_first_line(mount->stderr_fd, line, sizeof(line));
        r = reason_set(reason, -EIO, "tallyfs: %s%s%s", line, line[0] ? "; " : "", text);
    }
    cleanup_close(&mount->pidfd);
    cleanup_close(&mount->stderr_fd);
    free(mount->point);
    *mount = (struct mount)MOUNT_NONE;
    return r;
}

int mount_sync(const struct mount *mount)
{
    return command(mount, TALLY_XATTR_PREFIX "cmd.sync");
}

int mount_reset(const struct mount *mount)
{
    return command(mount, TALLY_XATTR_PREFIX "cmd.reset");
}

int mount_counters(const struct mount *mount, json_t **ret_counters)
{
    char *text AUTO_FREE = malloc(COUNTERS_BYTES);
    ssize_t got;
    json_t *counters;

    if (!text)
        return -ENOMEM;
    got = get_attribute(mount, TALLY_XATTR_PREFIX "stats.json", text, COUNTERS_BYTES);
    if (got < 0)
        return (int)got;
    counters = json_loadb(text, (size_t)got, JSON_REJECT_DUPLICATES, NULL);
    if (!counters)
        return -EPROTO;
    *ret_counters = counters;
    return 0;
}
