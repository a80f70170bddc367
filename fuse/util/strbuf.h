/* A string that grows. One error state, checked once at the end, instead of a check after every append. */
#ifndef TALLY_UTIL_STRBUF_H
#define TALLY_UTIL_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *data;   /* NUL-terminated once something was added; owned */
    size_t length; /* bytes without the NUL */
    size_t capacity;
    bool failed; /* an allocation failed; later appends do nothing */
};

#define STRBUF_INIT {0}

void strbuf_add(struct strbuf *buf, const void *bytes, size_t length);
void strbuf_puts(struct strbuf *buf, const char *text);
void strbuf_printf(struct strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *buf, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

/* Adds `text` as a JSON string with its quotes: control characters, quotes and bytes that are not UTF-8 escaped. */
void strbuf_json_string(struct strbuf *buf, const char *text);

void strbuf_free(struct strbuf *buf);

/* Gives the string to the caller, who frees it, and empties `buf`; NULL when an append had failed. */
char *strbuf_take(struct strbuf *buf);

#define AUTO_STRBUF __attribute__((cleanup(strbuf_free)))

#endif
