/* A table as Markdown or HTML. The first cell of a row is its head. */
#ifndef TALLY_BENCH_PUBLISHED_MARKUP_H
#define TALLY_BENCH_PUBLISHED_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

#include "util/strbuf.h"

struct markup {
    struct strbuf *to;
    bool html;
    bool in_table;
};

void markup_begin_table(struct markup *markup, const char *title, const char *const *heads,
                        size_t count);
void markup_row(struct markup *markup, const char *const *cells, size_t count, bool head);
void markup_end_table(struct markup *markup); /* nothing to do outside one */

#endif
