#include "html/svg.h"

#include <stdio.h>

#include "table.h"

static void put_classed(struct strbuf *to, const char *element, const char *class)
{
    strbuf_printf(to, "<%s class=\"%s\"", element, class);
}

void svg_begin(struct strbuf *to, const char *id, double height, const char *title,
               const char *description)
{
    strbuf_printf(to,
                  "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-labelledby=\"%s-t %s-d\">"
                  "<title id=\"%s-t\">",
                  SVG_WIDTH, height, id, id, id);
    escape_html(to, title);
    strbuf_printf(to, "</title><desc id=\"%s-d\">", id);
    escape_html(to, description);
    strbuf_puts(to, "</desc>\n");
}

void svg_end(struct strbuf *to)
{
    strbuf_puts(to, "</svg>\n");
}

void svg_text(struct strbuf *to, double x, double y, const char *class, const char *text)
{
    put_classed(to, "text", class);
    strbuf_printf(to, " x=\"%.1f\" y=\"%.1f\">", x, y);
    escape_html(to, text);
    strbuf_puts(to, "</text>\n");
}

void svg_line(struct strbuf *to, double x1, double y1, double x2, double y2, const char *class)
{
    put_classed(to, "line", class);
    strbuf_printf(to, " x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x1, y1, x2, y2);
}

void svg_mark(struct strbuf *to, size_t shape, double x, double y, const char *class,
              const char *title)
{
    static const char *const shapes[SVG_SHAPES] = {"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z",
                                                   "M-3.5 -3.5h7v7h-7Z",
                                                   "M0 -5L5 0L0 5L-5 0Z",
                                                   "M0 -4.5L4.5 3.5H-4.5Z",
                                                   "M0 4.5L4.5 -3.5H-4.5Z",
                                                   "M-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z"};

    put_classed(to, "path", class);
    strbuf_printf(to, " transform=\"translate(%.1f %.1f)\" d=\"%s\"", x, y,
                  shapes[shape % SVG_SHAPES]);
    if (title) {
        strbuf_puts(to, "><title>");
        escape_html(to, title);
        strbuf_puts(to, "</title></path>\n");
    } else {
        strbuf_puts(to, "/>\n");
    }
}

void svg_format_number(double value, char *text, size_t size)
{
    snprintf(text, size, "%.4g", value);
}

void svg_format_ns(double value, char *text, size_t size)
{
    if (value < 1e3)
        snprintf(text, size, "%.3g ns", value);
    else if (value < 1e6)
        snprintf(text, size, "%.3g µs", value / 1e3);
    else if (value < 1e9)
        snprintf(text, size, "%.3g ms", value / 1e6);
    else
        snprintf(text, size, "%.3g s", value / 1e9);
}

void svg_axis(struct strbuf *to, const struct scale *scale, double top, double y,
              void (*format)(double value, char *text, size_t size))
{
    double ticks[SCALE_MAX_TICKS];
    size_t count = scale_ticks(scale, ticks);

    for (size_t i = 0; i < count; i++) {
        double x = scale_place(scale, ticks[i]);
        char text[32];

        format(ticks[i], text, sizeof(text));
        svg_line(to, x, top, x, y, "grid");
        svg_text(to, x, y + 14,
                 i == 0           ? "tick first"
                 : i + 1 == count ? "tick last"
                                  : "tick",
                 text);
    }
}
