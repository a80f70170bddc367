#include "markup.h"

static void put_text(struct markup *markup, const char *text)
{
    for (; *text; text++) {
        if (markup->html && (*text == '<' || *text == '>' || *text == '&'))
            strbuf_puts(markup->to, *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : "&amp;");
        else
            strbuf_add(markup->to, text, 1);
    }
}

void markup_row(struct markup *markup, const char *const *cells, size_t count, bool head)
{
    strbuf_puts(markup->to, markup->html ? "<tr>" : "|");
    for (size_t i = 0; i < count; i++) {
        bool is_head = head || i == 0;

        if (markup->html)
            strbuf_puts(markup->to, head      ? "<th scope=\"col\">"
                                    : is_head ? "<th scope=\"row\">"
                                              : "<td>");
        else
            strbuf_puts(markup->to, " ");
        put_text(markup, cells[i]);
        strbuf_puts(markup->to, markup->html ? (is_head ? "</th>" : "</td>") : " |");
    }
    strbuf_puts(markup->to, markup->html ? "</tr>\n" : "\n");
    if (head && !markup->html) {
        strbuf_puts(markup->to, "|");
        for (size_t i = 0; i < count; i++)
            strbuf_puts(markup->to, i ? "---:|" : "---|");
        strbuf_puts(markup->to, "\n");
    }
    if (head && markup->html)
        strbuf_puts(markup->to, "</thead><tbody>\n");
}

void markup_begin_table(struct markup *markup, const char *title, const char *const *heads,
                        size_t count)
{
    strbuf_puts(markup->to, markup->html ? "<h3>" : "### ");
    put_text(markup, title);
    strbuf_puts(markup->to, markup->html
                                ? "</h3>\n<div class=\"scroll\" tabindex=\"0\"><table><thead>"
                                : "\n\n");
    markup_row(markup, heads, count, true);
    markup->in_table = true;
}

void markup_end_table(struct markup *markup)
{
    if (markup->in_table)
        strbuf_puts(markup->to, markup->html ? "</tbody></table></div>\n" : "\n");
    markup->in_table = false;
}
