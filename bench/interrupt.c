#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A handler can reach nothing else. */
static volatile sig_atomic_t interrupted;
static int event_fd = -1;

static void note_signal(int signal)
{
    const uint64_t one = 1;
    int saved = errno;

    (void)signal;
    interrupted = 1;
    if (write(event_fd, &one, sizeof(one)) < 0)
        interrupted = 1; /* the counter is full: it is readable already */
    errno = saved;
}

int interrupt_install(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};

    event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_fd < 0)
        return -errno;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        if (sigaction(signals[i], &action, NULL) < 0)
            return -errno;
    }
    return 0;
}

bool interrupt_pending(void)
{
    return interrupted != 0;
}

const volatile sig_atomic_t *interrupt_flag(void)
{
    return &interrupted;
}

int interrupt_fd(void)
{
    return event_fd;
}

int interrupt_sleep_ms(int milliseconds)
{
    struct pollfd wait = {.fd = event_fd, .events = POLLIN};

    poll(&wait, 1, milliseconds);
    return interrupted ? -ECANCELED : 0;
}
