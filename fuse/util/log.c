#include "util/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <syslog.h>

void log_line(const struct log *log, enum log_level level, const char *format, ...)
{
    static const int priorities[] = {LOG_ERR, LOG_WARNING, LOG_INFO};
    int saved = errno;
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (log->to_syslog)
        syslog(LOG_DAEMON | priorities[level], "%s", text);
    else
        fprintf(stderr, "%s: %s\n", log->program, text);
    errno = saved;
}
