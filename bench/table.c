#include "table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t text_width(const char *text)
{
    size_t width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void table_begin(struct table *table, const char *const *headings)
{
    *table = (struct table){0};
    while (headings[table->columns]) {
        table->headings[table->columns] = headings[table->columns];
        table->columns++;
    }
}

void table_row(struct table *table, const char *label)
{
    void *rows = reallocarray(table->rows, table->count + 1, sizeof(*table->rows));

    if (!rows) {
        table->failed = -ENOMEM;
        return;
    }
    table->rows = rows;
    memset(table->rows[table->count], 0, sizeof(*table->rows));
    for (size_t i = 0; i < table->columns; i++)
        strcpy(table->rows[table->count][i].text, "–");
    snprintf(table->rows[table->count++][0].text, TABLE_CELL_BYTES, "%s", label);
    table->next = 1;
}

static struct table_cell *next_cell(struct table *table)
{
    return table->failed || table->next >= table->columns
               ? NULL
               : &table->rows[table->count - 1][table->next++];
}

void table_text(struct table *table, const char *format, ...)
{
    struct table_cell *cell = next_cell(table);
    va_list arguments;

    if (!cell)
        return;
    va_start(arguments, format);
    vsnprintf(cell->text, sizeof(cell->text), format, arguments);
    va_end(arguments);
}

void table_number(struct table *table, double number)
{
    struct table_cell *cell = next_cell(table);

    if (!cell || isnan(number))
        return;
    cell->text[0] = '\0';
    cell->number = number;
}

static void format_numbers(struct table *table)
{
    for (size_t column = 1; column < table->columns; column++) {
        double largest = 0;
        int decimals;

        for (size_t i = 0; i < table->count; i++) {
            if (!table->rows[i][column].text[0])
                largest = fmax(largest, fabs(table->rows[i][column].number));
        }
        decimals = largest < 10 ? 3 : largest < 10000 ? 2 : 1;
        for (size_t i = 0; i < table->count; i++) {
            struct table_cell *cell = &table->rows[i][column];

            if (!cell->text[0])
                snprintf(cell->text, sizeof(cell->text), "%.*f", decimals, cell->number);
        }
    }
}

static void put_cell(struct strbuf *to, const char *text, size_t width, bool right)
{
    int blanks = (int)(width - text_width(text));

    if (right)
        strbuf_printf(to, "  %*s", blanks, "");
    escape_text(to, text);
    if (!right)
        strbuf_printf(to, "%*s", blanks, "");
}

static void put_text(const struct table *table, struct strbuf *to)
{
    size_t widths[TABLE_MAX_COLUMNS] = {0};

    for (size_t column = 0; column < table->columns; column++) {
        widths[column] = text_width(table->headings[column]);
        for (size_t i = 0; i < table->count; i++) {
            size_t width = text_width(table->rows[i][column].text);

            if (width > widths[column])
                widths[column] = width;
        }
    }
    strbuf_puts(to, "\n");
    for (size_t column = 0; column < table->columns; column++)
        put_cell(to, table->headings[column], widths[column], column > 0);
    strbuf_puts(to, "\n");
    for (size_t i = 0; i < table->count; i++) {
        for (size_t column = 0; column < table->columns; column++)
            put_cell(to, table->rows[i][column].text, widths[column], column > 0);
        strbuf_puts(to, "\n");
    }
}

static void put_markdown_cell(struct strbuf *to, const char *text)
{
    strbuf_puts(to, " ");
    escape_markdown(to, text);
    strbuf_puts(to, " |");
}

static void put_markdown(const struct table *table, struct strbuf *to)
{
    strbuf_puts(to, "\n|");
    for (size_t column = 0; column < table->columns; column++)
        put_markdown_cell(to, table->headings[column]);
    strbuf_puts(to, "\n|---|");
    for (size_t column = 1; column < table->columns; column++)
        strbuf_puts(to, "---:|");
    for (size_t i = 0; i < table->count; i++) {
        strbuf_puts(to, "\n|");
        for (size_t column = 0; column < table->columns; column++)
            put_markdown_cell(to, table->rows[i][column].text);
    }
    strbuf_puts(to, "\n");
}

static void put_html_cell(struct strbuf *to, const char *begin, const char *text, const char *end)
{
    strbuf_puts(to, begin);
    escape_html(to, text);
    strbuf_puts(to, end);
}

/* Wide tables scroll in a box of their own, which must be in the tab order to be scrolled by keyboard. */
static void put_html(const struct table *table, struct strbuf *to)
{
    put_html_cell(to, "\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"",
                  table->headings[0], "\"><table>\n");
    put_html_cell(to, "<caption>", table->headings[0], "</caption>\n<thead><tr><td></td>");
    for (size_t column = 1; column < table->columns; column++)
        put_html_cell(to, "<th scope=\"col\">", table->headings[column], "</th>");
    strbuf_puts(to, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < table->count; i++) {
        put_html_cell(to, "<tr><th scope=\"row\">", table->rows[i][0].text, "</th>");
        for (size_t column = 1; column < table->columns; column++)
            put_html_cell(to, "<td>", table->rows[i][column].text, "</td>");
        strbuf_puts(to, "</tr>\n");
    }
    strbuf_puts(to, "</tbody></table></div>\n");
}

int table_finish(struct table *table, enum table_format format, struct strbuf *to)
{
    static void (*const writers[])(const struct table *, struct strbuf *) = {put_text, put_markdown,
                                                                             put_html};

    format_numbers(table);
    if (table->count)
        writers[format](table, to);
    free(table->rows);
    table->rows = NULL;
    return table->failed;
}
