/*
 * Messages for people: "PROGRAM: text" on stderr, and to syslog once a daemon has left its terminal. A program
 * makes one `struct log` and hands it down; libraries below fs do not log, they return errors.
 */
#ifndef TALLY_UTIL_LOG_H
#define TALLY_UTIL_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };

struct log {
    const char *program; /* not owned; the first word of every line */
    bool to_syslog;      /* else to stderr */
};

/* One line; `format` without a newline. Thread-safe: the line is written by one call. Keeps errno. */
void log_line(const struct log *log, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(log, ...) log_line(log, LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(log, ...) log_line(log, LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(log, ...) log_line(log, LOG_LEVEL_INFO, __VA_ARGS__)

#endif
