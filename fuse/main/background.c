#include "background.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>

#include "util/cleanup.h"

/* The status with which the first process ends. */
static int wait_for_daemon(pid_t daemon, int ready, const char *mountpoint, const struct log *log)
{
    struct stat attributes;
    char byte;
    int status;

    if (read(ready, &byte, 1) == 1) {
        if (stat(mountpoint, &attributes) == 0)
            return 0;
        log_error(log, "%s: the mount does not answer: %s", mountpoint, strerror(errno));
        return 1;
    }
    if (waitpid(daemon, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == 0) {
        log_error(log, "%s: the daemon ended before the mount was there", mountpoint);
        return 1;
    }
    return WEXITSTATUS(status);
}

int background_start(struct background *background, const char *mountpoint, const struct log *log)
{
    AUTO_CLOSE int theirs = -1;
    AUTO_CLOSE int ours = -1;
    int ends[2];
    pid_t daemon;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    theirs = ends[0];
    ours = ends[1];
    daemon = fork();
    if (daemon < 0)
        return -errno;
    if (daemon > 0) {
        cleanup_close(&ours);
        _exit(wait_for_daemon(daemon, theirs, mountpoint, log));
    }
    setsid();
    background->ready = take_fd(&ours);
    return 0;
}

void background_ready(struct background *background, struct log *log)
{
    AUTO_CLOSE int null = -1;

    if (background->ready < 0)
        return;
    null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (chdir("/") < 0 || null < 0)
        log_warning(log, "cannot leave the terminal: %s", strerror(errno));
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    openlog(log->program, LOG_PID, LOG_DAEMON);
    log->to_syslog = true;
    if (write(background->ready, "1", 1) != 1)
        log_warning(log, "nobody waited for the mount");
    close(background->ready);
    background->ready = -1;
}
