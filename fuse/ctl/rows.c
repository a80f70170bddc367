#include "ctl/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t count_char(const char *text, char wanted)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == wanted;
    return count;
}

/* Parts a line at its tabs. -EBADMSG unless it has `columns` cells. */
static int part(char *line, size_t columns, char **ret_cells)
{
    for (size_t i = 0; i < columns; i++) {
        ret_cells[i] = strsep(&line, "\t");
        if (!ret_cells[i])
            return -EBADMSG;
    }
    return line ? -EBADMSG : 0;
}

int rows_parse(char *text, struct rows *ret_rows)
{
    char *heading = strsep(&text, "\n"), *line;
    struct rows rows = {.columns = count_char(heading, '\t') + 1};
    size_t lines = text ? count_char(text, '\n') + 2 : 1;
    int r;

    if (*heading == '\0')
        return -EBADMSG;
    rows.cells = calloc(lines * rows.columns, sizeof(*rows.cells));
    if (!rows.cells)
        return -ENOMEM;
    r = part(heading, rows.columns, rows.cells);
    while (r == 0 && (line = strsep(&text, "\n"))) {
        if (*line == '\0' && !text)
            break;
        r = part(line, rows.columns, rows.cells + ++rows.count * rows.columns);
    }
    if (r < 0) {
        free(rows.cells);
        return r;
    }
    *ret_rows = rows;
    return 0;
}

void rows_free(struct rows *rows)
{
    free(rows->cells);
    rows->cells = NULL;
}

const char *rows_text(const struct rows *rows, size_t row, const char *column)
{
    for (size_t i = 0; i < rows->columns; i++)
        if (strcmp(rows->cells[i], column) == 0)
            return rows->cells[(row + 1) * rows->columns + i];
    return NULL;
}

uint64_t rows_number(const struct rows *rows, size_t row, const char *column)
{
    const char *text = rows_text(rows, row, column);

    return text ? strtoull(text, NULL, 10) : 0;
}
