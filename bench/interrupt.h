/*
 * SIGINT, SIGTERM and SIGHUP end a run in an orderly way: they set a flag that every wait and long loop looks at. The
 * state is the process's, as signal dispositions are.
 */
#ifndef TALLY_BENCH_INTERRUPT_H
#define TALLY_BENCH_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* Takes the signals over. 0; -errno. */
int interrupt_install(void);

bool interrupt_pending(void);

/* For loops in other libraries. */
const volatile sig_atomic_t *interrupt_flag(void);

/* Becomes readable with the signal, and stays so; -1 before interrupt_install. */
int interrupt_fd(void);

/* Sleeps. 0; -ECANCELED at once when a signal has come. */
int interrupt_sleep_ms(int milliseconds);

#endif
