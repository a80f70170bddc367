#include "ctl/job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ctl/format.h"
#include "util/cleanup.h"
#include "util/clock.h"

#define TICK_NS 200000000L
#define CLEAR_LINE "\r\033[K"

static void show_progress(struct job *job)
{
    double seconds = (double)(clock_ns() - job->began_ns) / 1e9;
    uint64_t bytes = atomic_load(&job->bytes);
    char size[FORMAT_BYTES], rate[FORMAT_BYTES];

    format_bytes(bytes, size);
    format_bytes(seconds > 0 ? (uint64_t)((double)bytes / seconds) : 0, rate);
    pthread_mutex_lock(&job->output);
    fprintf(stderr, CLEAR_LINE "%" PRIu64 " files %s, %sB, %sB/s", atomic_load(&job->files),
            job->verb, size, rate);
    fflush(stderr);
    pthread_mutex_unlock(&job->output);
}

static void *tick(void *argument)
{
    const struct timespec interval = {.tv_nsec = TICK_NS};
    struct job *job = argument;

    while (!atomic_load(&job->done)) {
        int signal_number = sigtimedwait(&job->signals, NULL, &interval);

        if (atomic_load(&job->done))
            break;
        if (signal_number > 0)
            atomic_store(&job->stop, true);
        else if (job->shows_progress)
            show_progress(job);
    }
    return NULL;
}

int job_begin(struct job *job, const struct log *log, const char *verb)
{
    int r;

    *job = (struct job){
        .log = log, .verb = verb, .began_ns = clock_ns(), .shows_progress = isatty(STDERR_FILENO)};
    pthread_mutex_init(&job->output, NULL);
    sigemptyset(&job->signals);
    sigaddset(&job->signals, SIGINT);
    sigaddset(&job->signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &job->signals, &job->before);
    r = pthread_create(&job->ticker, NULL, tick, job);
    if (r == 0)
        return 0;
    pthread_sigmask(SIG_SETMASK, &job->before, NULL);
    pthread_mutex_destroy(&job->output);
    return -r;
}

void job_end(struct job *job)
{
    atomic_store(&job->done, true);
    pthread_kill(job->ticker, SIGTERM); /* wakes it */
    pthread_join(job->ticker, NULL);
    if (job->shows_progress)
        fputs(CLEAR_LINE, stderr);
    if (atomic_load(&job->stop))
        job_fail(job, "interrupted after %" PRIu64 " files", atomic_load(&job->files));
    pthread_sigmask(SIG_SETMASK, &job->before, NULL);
    pthread_mutex_destroy(&job->output);
}

void job_print(struct job *job, const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&job->output);
    if (job->shows_progress)
        fputs(CLEAR_LINE, stderr);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    pthread_mutex_unlock(&job->output);
}

static void say(struct job *job, enum log_level level, const char *format, va_list arguments)
{
    AUTO_FREE char *text = NULL;
    int length = vasprintf(&text, format, arguments);

    pthread_mutex_lock(&job->output);
    fflush(stdout);
    if (job->shows_progress)
        fputs(CLEAR_LINE, stderr);
    if (length >= 0)
        log_line(job->log, level, "%s", text);
    else
        text = NULL;
    pthread_mutex_unlock(&job->output);
}

void job_fail(struct job *job, const char *format, ...)
{
    va_list arguments;

    atomic_store(&job->failed, true);
    va_start(arguments, format);
    say(job, LOG_LEVEL_ERROR, format, arguments);
    va_end(arguments);
}

void job_note(struct job *job, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(job, LOG_LEVEL_WARNING, format, arguments);
    va_end(arguments);
}
