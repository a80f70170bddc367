/*
 * Rows as the attributes top, by.* and slow have them: a line of tab-separated column names, then a line a row. Columns are
 * found by their names, so that there may come to be more. Names in cells are escaped, and fit to be shown as they are.
 */
#ifndef TALLY_CTL_ROWS_H
#define TALLY_CTL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rows {
    char **cells; /* `columns` for the heading, then for each row; in text that the caller keeps */
    size_t columns;
    size_t count; /* without the heading */
};

/* Parts `text` in place. 0; -EBADMSG when it is not such a table; -ENOMEM. */
int rows_parse(char *text, struct rows *ret_rows);
void rows_free(struct rows *rows);

/* The row's cell in the column of that name, or NULL when there is no such column. */
const char *rows_text(const struct rows *rows, size_t row, const char *column);

/* The same as a number; 0 where there is none. */
uint64_t rows_number(const struct rows *rows, size_t row, const char *column);

#define AUTO_ROWS __attribute__((cleanup(rows_free)))

#endif
