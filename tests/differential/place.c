#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/cleanup.h"

#define POLL_NS 5000000
#define MOUNT_POLLS_MAX 12000 /* one minute */
#define SETTLE_POLLS_MAX 2000 /* ten seconds */
#define HASTY_POLLS_MAX 200

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
}

/* Of the daemon, without the O_PATH ones that it keeps as long as it likes; -1 when it has ended. */
static int count_descriptors(pid_t daemon)
{
    char path[64];
    DIR *directory;
    int count = 0;

    snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)daemon);
    directory = opendir(path);
    if (!directory)
        return -1;
    for (struct dirent *entry; (entry = readdir(directory));) {
        AUTO_CLOSE int fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC);
        char text[256] = "", *flags;

        if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
            continue;
        flags = strstr(text, "flags:");
        if (flags && !(strtol(flags + strlen("flags:"), NULL, 8) & O_PATH))
            count++;
    }
    closedir(directory);
    return count;
}

const char *place_options(const struct place *place)
{
    unsigned mount = place->daemon && place->mounts > 0 ? place->mounts - 1 : place->mounts;

    return place->option_count > 0 ? place->options[mount % place->option_count] : "";
}

static pid_t start(const struct place *place)
{
    const char *options = place_options(place);
    char *arguments[] = {
        (char *)place->tallyfs,
        (char *)place->lower,
        (char *)place->mountpoint,
        (char *)"-f",
        options[0] ? (char *)"-o" : NULL,
        (char *)options,
        NULL,
    };
    pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(place->words, STDERR_FILENO);
    execv(place->tallyfs, arguments);
    dprintf(STDERR_FILENO, "%s: %s\n", place->tallyfs, strerror(errno));
    _exit(127);
}

static void add_words(const struct place *place, struct strbuf *text)
{
    char words[4096];
    ssize_t size;
    off_t at = 0;

    while ((size = pread(place->words, words, sizeof(words), at)) > 0) {
        strbuf_add(text, words, (size_t)size);
        at += size;
    }
}

int place_mount(struct place *place, struct strbuf *text)
{
    struct stat before, now;
    unsigned polls = 0;

    if (place->words <= 0)
        place->words = memfd_create("stderr", MFD_CLOEXEC);
    if (place->words < 0 || ftruncate(place->words, 0) < 0 || stat(place->mountpoint, &before) < 0)
        return -1;
    lseek(place->words, 0, SEEK_SET);
    place->daemon = start(place);
    if (place->daemon < 0)
        return -1;
    place->mounts++;
    while (stat(place->mountpoint, &now) < 0 || now.st_dev == before.st_dev) {
        if (waitpid(place->daemon, NULL, WNOHANG) != 0 || ++polls == MOUNT_POLLS_MAX) {
            strbuf_puts(text, "    the daemon did not mount: ");
            add_words(place, text);
            place_kill(place);
            return -1;
        }
        wait_a_little();
    }
    place->descriptors = count_descriptors(place->daemon);
    return 0;
}

static int unmount(const char *mountpoint)
{
    char command[4096];

    if (geteuid() == 0)
        return umount2(mountpoint, 0);
    snprintf(command, sizeof(command), "fusermount3 -u '%s'", mountpoint);
    return system(command) == 0 ? 0 : -1;
}

int place_unmount(struct place *place, struct strbuf *text)
{
    int now, status = 0, r = 0;
    unsigned polls = place->is_hasty ? SETTLE_POLLS_MAX - HASTY_POLLS_MAX : 0;

    /* RELEASE comes after close(2) has returned. */
    while ((now = count_descriptors(place->daemon)) > place->descriptors &&
           ++polls < SETTLE_POLLS_MAX)
        wait_a_little();
    if (now != place->descriptors) {
        strbuf_printf(text, "    the daemon had %d descriptors, now %d\n", place->descriptors, now);
        r = -1;
    }
    errno = 0;
    if (unmount(place->mountpoint) < 0) {
        strbuf_printf(text, "    unmounting: %s\n", strerror(errno));
        add_words(place, text);
        place_kill(place);
        return -1;
    }
    waitpid(place->daemon, &status, 0);
    place->daemon = 0;
    if (status != 0) {
        strbuf_printf(text, "    the daemon ended with wait status %#x\n", status);
        r = -1;
    }
    if (lseek(place->words, 0, SEEK_END) > 0) {
        strbuf_puts(text, "    the daemon said: ");
        add_words(place, text);
        r = -1;
    }
    return r;
}

void place_kill(struct place *place)
{
    if (place->daemon > 0) {
        kill(place->daemon, SIGKILL);
        waitpid(place->daemon, NULL, 0);
        place->daemon = 0;
    }
    if (!place->tallyfs)
        return;
    if (geteuid() == 0) {
        umount2(place->mountpoint, MNT_DETACH);
    } else {
        char command[4096];

        snprintf(command, sizeof(command), "fusermount3 -u -z '%s' 2>/dev/null", place->mountpoint);
        if (system(command) != 0)
            fprintf(stderr, "differential: %s: cannot be unmounted\n", place->mountpoint);
    }
}
