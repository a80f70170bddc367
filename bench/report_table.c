/* Text and Markdown: the same order of the same things, dressed differently. */
#include <stdlib.h>
#include <string.h>

#include "report_facts.h"

typedef void put_line(struct strbuf *to, const char *line);

struct dress {
    enum table_format format;
    const char *heading, *heading_end; /* around a workload's title */
    const char *why;                   /* the heading of explanations */
    put_line *fact, *note;
};

#define PAGE_WIDTH 80

/* Long lines are broken between words, and go on further in. */
static void put_wrapped(struct strbuf *to, const char *line)
{
    size_t column = strspn(line, " ");
    const char *word = line + column;

    strbuf_printf(to, "%*s", (int)column, "");
    while (*word) {
        size_t length = strcspn(word, " ");
        char *copy = strndup(word, length);
        size_t width = copy ? text_width(copy) : 0;

        if (word > line + strspn(line, " ")) {
            bool fits = column + 1 + width <= PAGE_WIDTH;

            strbuf_puts(to, fits ? " " : "\n    ");
            column = fits ? column + 1 : 4;
        }
        if (copy)
            escape_text(to, copy);
        to->failed = to->failed || !copy;
        free(copy);
        column += width;
        word += length;
        word += strspn(word, " ");
    }
    strbuf_puts(to, "\n");
}

static void put_plain(struct strbuf *to, const char *line)
{
    escape_text(to, line);
    strbuf_puts(to, "\n");
}

/* Two blanks at the end break the line. */
static void put_markdown(struct strbuf *to, const char *line)
{
    escape_markdown(to, line);
    strbuf_puts(to, "  \n");
}

static void put_item(struct strbuf *to, const char *line)
{
    strbuf_puts(to, "- ");
    escape_markdown(to, line + strspn(line, "* "));
    strbuf_puts(to, "\n");
}

static const struct dress text_dress = {TABLE_TEXT, "\n== ",   " ==\n",
                                        "\nWHY\n",  put_plain, put_wrapped};
static const struct dress markdown_dress = {TABLE_MARKDOWN,  "\n## ",      "\n\n",
                                            "\n### Why\n\n", put_markdown, put_item};

/* Passes on what `lines` has, line by line, and empties it. */
static void dress_lines(struct strbuf *lines, put_line *put, struct strbuf *to)
{
    char *rest = lines->data, *line;

    while (rest && (line = strsep(&rest, "\n"))) {
        if (rest)
            put(to, line);
    }
    to->failed = to->failed || lines->failed;
    strbuf_free(lines);
    *lines = (struct strbuf)STRBUF_INIT;
}

static int put_workload(const struct report_input *input, const struct workload *workload,
                        const struct dress *dress, struct strbuf *to)
{
    const json_t *corpus = facts_find_corpus(input, workload->name);
    struct section section = {&input->summary, workload,
                              json_number_value(json_object_get(corpus, "bytes")), dress->format};
    struct strbuf lines AUTO_STRBUF = STRBUF_INIT;
    int r;

    if (!corpus)
        return 0;
    strbuf_puts(to, dress->heading);
    facts_title(input, corpus, to);
    strbuf_puts(to, dress->heading_end);
    facts_corpus(corpus, &lines);
    dress_lines(&lines, dress->fact, to);
    r = sections_write(&section, to);
    strbuf_puts(to, "\n");
    facts_notes(input, &section, &lines);
    dress_lines(&lines, dress->note, to);
    if (r == 0)
        r = facts_why(&section, &lines);
    if (lines.length)
        strbuf_puts(to, dress->why);
    dress_lines(&lines, dress->note, to);
    return r;
}

static int write_report(const struct report_input *inputs, size_t count, const struct dress *dress,
                        struct strbuf *to)
{
    struct strbuf lines AUTO_STRBUF = STRBUF_INIT;
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        if (i > 0)
            strbuf_puts(to, "\n\n");
        facts_machine(&inputs[i], &lines);
        dress_lines(&lines, dress->fact, to);
        for (size_t w = 0; r == 0 && w < WORKLOAD_COUNT; w++)
            r = put_workload(&inputs[i], workload_at(w), dress, to);
    }
    strbuf_puts(to, "\n");
    facts_legend(&lines);
    dress_lines(&lines, dress->fact, to);
    return r;
}

int report_table(const struct report_input *inputs, size_t count, struct strbuf *to)
{
    return write_report(inputs, count, &text_dress, to);
}

int report_markdown(const struct report_input *inputs, size_t count, struct strbuf *to)
{
    return write_report(inputs, count, &markdown_dress, to);
}
