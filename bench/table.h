/* A table: the first column to the left, the others to the right. Written as text, Markdown or HTML. */
#ifndef TALLY_BENCH_TABLE_H
#define TALLY_BENCH_TABLE_H

#include <stddef.h>

#include "util/strbuf.h"

#define TABLE_MAX_COLUMNS 16
#define TABLE_CELL_BYTES 48

enum table_format { TABLE_TEXT, TABLE_MARKDOWN, TABLE_HTML };

struct table_cell {
    char text[TABLE_CELL_BYTES]; /* used unless it is empty */
    double number;
};

struct table {
    const char *headings[TABLE_MAX_COLUMNS]; /* that of the first column is the table's title too */
    size_t columns;
    struct table_cell (*rows)[TABLE_MAX_COLUMNS]; /* owned */
    size_t count, next;
    int failed; /* an allocation failed: -ENOMEM */
};

/* Starts a table with these headings, NULL at the end; strings are borrowed. */
void table_begin(struct table *table, const char *const *headings);

/* Starts a row with its first cell. The functions below add the next cell of it. */
void table_row(struct table *table, const char *label);
void table_text(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number, printed with as many decimals as the largest of its column needs: 3 below 10, 2 below 10000, else 1. NaN is
 * printed as a dash. */
void table_number(struct table *table, double number);

/* Adds the table to `to`, with a blank line before it, and ends it. Without rows nothing is added. 0; -ENOMEM. */
int table_finish(struct table *table, enum table_format format, struct strbuf *to);

/* Columns that UTF-8 text takes on a terminal, for text without wide or combining characters. */
size_t text_width(const char *text);

/* Adds text in which nothing is taken for mark-up: control characters become blanks. */
void escape_text(struct strbuf *to, const char *text);
void escape_html(struct strbuf *to, const char *text);
void escape_markdown(struct strbuf *to, const char *text);

#endif
