#include "util/strbuf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `more` bytes and a NUL. */
static bool reserve(struct strbuf *buf, size_t more)
{
    size_t capacity = buf->capacity ? buf->capacity : 128;
    char *data;

    if (buf->failed)
        return false;
    if (more >= SIZE_MAX / 4 || buf->length >= SIZE_MAX / 4) {
        buf->failed = true;
        return false;
    }
    while (capacity < buf->length + more + 1)
        capacity *= 2;
    if (capacity == buf->capacity)
        return true;
    data = realloc(buf->data, capacity);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void strbuf_add(struct strbuf *buf, const void *bytes, size_t length)
{
    if (!reserve(buf, length))
        return;
    if (length)
        memcpy(buf->data + buf->length, bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void strbuf_puts(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, text, strlen(text));
}

void strbuf_vprintf(struct strbuf *buf, const char *format, va_list arguments)
{
    va_list again;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0 || !reserve(buf, (size_t)length)) {
        buf->failed = true;
        return;
    }
    vsnprintf(buf->data + buf->length, (size_t)length + 1, format, arguments);
    buf->length += (size_t)length;
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    strbuf_vprintf(buf, format, arguments);
    va_end(arguments);
}

/* The length of the UTF-8 sequence at `text`, 1 to 4, or 0 where there is none (RFC 3629: no overlong forms, no surrogates). */
static size_t utf8_length(const unsigned char *text)
{
    uint32_t point;
    size_t length;

    if (text[0] < 0x80)
        return 1;
    if (text[0] >= 0xc2 && text[0] <= 0xdf)
        length = 2;
    else if ((text[0] & 0xf0) == 0xe0)
        length = 3;
    else if (text[0] >= 0xf0 && text[0] <= 0xf4)
        length = 4;
    else
        return 0;
    point = text[0] & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (text[i] & 0x3fU);
    }
    if (length == 3 && (point < 0x800 || (point >= 0xd800 && point <= 0xdfff)))
        return 0;
    if (length == 4 && (point < 0x10000 || point > 0x10ffff))
        return 0;
    return length;
}

void strbuf_json_string(struct strbuf *buf, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    strbuf_add(buf, "\"", 1);
    while (*at) {
        size_t length = utf8_length(at);

        if (length == 0) {
            /* File names are bytes; JSON is not. The byte's Latin-1 reading is wrong but readable and valid. */
            strbuf_printf(buf, "\\u00%02x", *at);
            length = 1;
        } else if (*at == '"' || *at == '\\') {
            strbuf_printf(buf, "\\%c", *at);
        } else if (*at < 0x20 || *at == 0x7f) {
            strbuf_printf(buf, "\\u%04x", *at);
        } else {
            strbuf_add(buf, at, length);
        }
        at += length;
    }
    strbuf_add(buf, "\"", 1);
}

void strbuf_free(struct strbuf *buf)
{
    free(buf->data);
    *buf = (struct strbuf)STRBUF_INIT;
}

char *strbuf_take(struct strbuf *buf)
{
    char *data;

    if (!buf->data && !buf->failed)
        strbuf_add(buf, "", 0);
    if (buf->failed) {
        strbuf_free(buf);
        return NULL;
    }
    data = buf->data;
    *buf = (struct strbuf)STRBUF_INIT;
    return data;
}
