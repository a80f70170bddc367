#include <string.h>

#include "table.h"

/* Control characters could move a terminal's cursor or end a line of Markdown. */
static char printable(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f ? ' ' : c;
}

void escape_text(struct strbuf *to, const char *text)
{
    for (; *text; text++) {
        char c = printable(*text);

        strbuf_add(to, &c, 1);
    }
}

void escape_html(struct strbuf *to, const char *text)
{
    for (; *text; text++) {
        char c = printable(*text);

        switch (c) {
        case '&':
            strbuf_puts(to, "&amp;");
            break;
        case '<':
            strbuf_puts(to, "&lt;");
            break;
        case '>':
            strbuf_puts(to, "&gt;");
            break;
        case '"':
            strbuf_puts(to, "&quot;");
            break;
        case '\'':
            strbuf_puts(to, "&#39;");
            break;
        default:
            strbuf_add(to, &c, 1);
        }
    }
}

/* Markdown may hold HTML, so that its characters are escaped as well. */
void escape_markdown(struct strbuf *to, const char *text)
{
    for (; *text; text++) {
        char c = printable(*text);

        if (c == '<')
            strbuf_puts(to, "&lt;");
        else if (c == '&')
            strbuf_puts(to, "&amp;");
        else {
            if (strchr("\\`*_[]|#~!", c))
                strbuf_add(to, "\\", 1);
            strbuf_add(to, &c, 1);
        }
    }
}
