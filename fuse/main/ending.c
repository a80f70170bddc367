#include "ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cleanup.h"

#define WAKE_INTERVAL_US 10000

static sigset_t ending_signals(void)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    return signals;
}

void ending_block_signals(void)
{
    sigset_t signals = ending_signals();

    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static bool unmount_as_user(const char *mountpoint)
{
    char *arguments[] = {(char *)(uintptr_t) "fusermount3", (char *)(uintptr_t) "-u", (char *)(uintptr_t) "-q",
                         (char *)(uintptr_t) "--", (char *)(uintptr_t)mountpoint, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ) == 0)
        waitpid(child, &status, 0);
    posix_spawn_file_actions_destroy(&actions);
    return status == 0;
}

/* Unmounts unless programs use it; the kernel then writes everything back first. */
static bool unmount(const char *mountpoint)
{
    return geteuid() == 0 ? umount2(mountpoint, UMOUNT_NOFOLLOW) == 0 : unmount_as_user(mountpoint);
}

/* Starts writing all back at once, then waits for each file. */
static void write_back(const struct ending *ending)
{
    AUTO_CLOSE int fd = open(ending->mountpoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        syncfs(fd);
    fs_write_back(ending->fs);
}

static void wake_up(int number)
{
    (void)number;
}

static void *wait_for_signal(void *argument)
{
    struct ending *ending = argument;
    sigset_t signals = ending_signals();
    int number;

    sigwait(&signals, &number);
    ending->begun = true;
    if (ending->over)
        return NULL;
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    if (!unmount(ending->mountpoint)) {
        write_back(ending);
        fuse_session_exit(ending->session);
    }
    /* The loop may be about to sleep when it is woken, so once is not enough. */
    while (!ending->over) {
        pthread_kill(ending->loop_thread, SIGUSR1);
        usleep(WAKE_INTERVAL_US);
    }
    return NULL;
}

int ending_start(struct ending *ending, struct fs *fs, struct fuse_session *session, const char *mountpoint)
{
    struct sigaction wake = {.sa_handler = wake_up};
    int r;

    *ending = (struct ending){
        .fs = fs,
        .session = session,
        .mountpoint = mountpoint,
        .loop_thread = pthread_self(),
    };
    sigaction(SIGUSR1, &wake, NULL);
    r = pthread_create(&ending->signal_thread, NULL, wait_for_signal, ending);
    return -r;
}

void ending_stop(struct ending *ending)
{
    ending->over = true;
    if (!ending->begun)
        pthread_kill(ending->signal_thread, SIGTERM);
    pthread_join(ending->signal_thread, NULL);
}
