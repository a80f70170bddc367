#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"

#define BAR_CELLS 20
#define REDRAW_NS (NS_PER_SECOND / 10)

void progress_begin(struct progress *progress, size_t steps)
{
    *progress = (struct progress){
        .terminal = isatty(STDERR_FILENO) == 1, .steps = steps, .began_ns = clock_ns()};
}

static void draw(struct progress *progress, double part)
{
    double done = ((double)progress->step - 1 + part) / (double)progress->steps;
    double elapsed_s = (double)(clock_ns() - progress->began_ns) * 1e-9;
    int cells = (int)(done * BAR_CELLS + 0.5);
    char bar[BAR_CELLS + 1], left[32] = "";

    memset(bar, '-', BAR_CELLS);
    memset(bar, '#', (size_t)(cells < 0 ? 0 : cells > BAR_CELLS ? BAR_CELLS : cells));
    bar[BAR_CELLS] = '\0';
    /* Before the first steps have told how long one takes there is nothing to say. */
    if (done > 0.02) {
        long seconds = (long)(elapsed_s * (1 - done) / done + 0.5);

        snprintf(left, sizeof(left), " %ld:%02ld left", seconds / 60, seconds % 60);
    }
    fprintf(stderr, "\r\033[K[%s] %zu/%zu%s  %.40s", bar, progress->step, progress->steps, left,
            progress->what);
    fflush(stderr);
    progress->drawn_ns = clock_ns();
}

void progress_step(struct progress *progress, const char *what)
{
    progress->step++;
    snprintf(progress->what, sizeof(progress->what), "%s", what);
    if (progress->terminal)
        draw(progress, 0);
    else
        fprintf(stderr, "[%zu/%zu] %s\n", progress->step, progress->steps, what);
}

void progress_more(struct progress *progress, size_t steps)
{
    progress->steps += steps;
}

void progress_part(struct progress *progress, double part)
{
    if (progress->terminal && clock_ns() - progress->drawn_ns >= REDRAW_NS)
        draw(progress, part);
}

void progress_clear(const struct progress *progress)
{
    if (progress->terminal) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
