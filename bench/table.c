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
        strbuf_printf(to, "  %*s%s", blanks, "", text);
    else
        strbuf_printf(to, "%s%*s", text, blanks, "");
}

int table_finish(struct table *table, struct strbuf *to)
{
    size_t widths[TABLE_MAX_COLUMNS] = {0};

    format_numbers(table);
    for (size_t column = 0; column < table->columns; column++) {
        widths[column] = text_width(table->headings[column]);
        for (size_t i = 0; i < table->count; i++) {
            size_t width = text_width(table->rows[i][column].text);

            if (width > widths[column])
                widths[column] = width;
        }
    }
    for (size_t column = 0; column < table->columns; column++)
        put_cell(to, table->headings[column], widths[column], column > 0);
    strbuf_puts(to, "\n");
    for (size_t i = 0; i < table->count; i++) {
        for (size_t column = 0; column < table->columns; column++)
            put_cell(to, table->rows[i][column].text, widths[column], column > 0);
        strbuf_puts(to, "\n");
    }
    free(table->rows);
    table->rows = NULL;
    return table->failed;
}
