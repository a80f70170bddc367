#include "reason.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int reason_set(struct reason *reason, int error, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason->text, sizeof(reason->text), format, arguments);
    va_end(arguments);
    return error;
}

int reason_path(struct reason *reason, int error, const char *path)
{
    return reason_set(reason, error, "%s: %s", path, strerror(-error));
}
