/* Marks of a plot as SVG. Colours and sizes of letters are the style sheet's; text is escaped here. */
#ifndef TALLY_BENCH_SVG_H
#define TALLY_BENCH_SVG_H

#include "html/scale.h"
#include "util/strbuf.h"

/* Places are counted in these units, from the left and from above; a phone shows one of them as about a pixel. */
#define SVG_WIDTH 400

/* `title` names the picture, `description` says in words what it shows; `id` is unique in the page. */
void svg_begin(struct strbuf *to, const char *id, double height, const char *title,
               const char *description);
void svg_end(struct strbuf *to);

/* `class` is one or more classes of the style sheet; in all functions. */
void svg_text(struct strbuf *to, double x, double y, const char *class, const char *text);
void svg_line(struct strbuf *to, double x1, double y1, double x2, double y2, const char *class);

/* One of SVG_SHAPES shapes, which are told apart without colour. `title` is shown for it; NULL for none. */
#define SVG_SHAPES 6
void svg_mark(struct strbuf *to, size_t shape, double x, double y, const char *class,
              const char *title);

/* An axis below the plot at height `y`, with grid lines from `top` and the unit after the last label. */
void svg_axis(struct strbuf *to, const struct scale *scale, double top, double y,
              void (*format)(double value, char *text, size_t size));

/* "12", "0.25" */
void svg_format_number(double value, char *text, size_t size);
/* "10 µs", "1 ms", "2 s" */
void svg_format_ns(double value, char *text, size_t size);

#endif
