#include <stdio.h>
#include <string.h>

#include "html/plot.h"
#include "html/style.h"
#include "report_facts.h"

/* Each line of `lines` as an item of a list; empties it. Nothing when there are none. */
static void put_list(struct strbuf *lines, const char *class, struct strbuf *to)
{
    char *rest = lines->data, *line;

    if (lines->length)
        strbuf_printf(to, "<ul class=\"%s\">\n", class);
    while (rest && (line = strsep(&rest, "\n"))) {
        if (!rest)
            break;
        strbuf_puts(to, "<li>");
        escape_html(to, line + strspn(line, "* "));
        strbuf_puts(to, "</li>\n");
    }
    if (lines->length)
        strbuf_puts(to, "</ul>\n");
    to->failed = to->failed || lines->failed;
    strbuf_free(lines);
    *lines = (struct strbuf)STRBUF_INIT;
}

static int put_plots(const struct plot *plot, struct strbuf *to)
{
    int r;

    strbuf_puts(to, "<h3>At a glance</h3>\n<div class=\"grid\">\n");
    r = plot_heat(plot, METRIC_WRITE_TOTAL, "Time to write, until all is synced", to);
    if (r == 0)
        r = plot_heat(plot, METRIC_READ_WALL, "Time to read", to);
    if (r == 0)
        r = plot_heat(plot, METRIC_SPACE_DF, "Space taken, % of the original", to);
    strbuf_puts(to, "</div>\n<h3>Every trial</h3>\n<div class=\"plots\">\n");
    if (r == 0)
        r = plot_dots(plot, METRIC_WRITE_TOTAL, "Time to write, until all is synced (s)", to);
    if (r == 0)
        r = plot_dots(plot, METRIC_READ_WALL, "Time to read (s)", to);
    if (r == 0)
        r = plot_dots(plot, METRIC_DELETE_TOTAL, "Time to delete, until all is synced (s)", to);
    if (r == 0)
        r = plot_speed(plot, to);
    if (r == 0)
        r = plot_timeline(plot, to);
    if (r == 0)
        r = plot_latency(plot, "write", to);
    if (r == 0)
        r = plot_latency(plot, "read", to);
    strbuf_puts(to, "</div>\n");
    return r;
}

/* Names of workloads are this program's own, and good as parts of an id. */
static int put_workload(const struct report_input *input, size_t number,
                        const struct workload *workload, size_t *serial, struct strbuf *to)
{
    const json_t *corpus = facts_find_corpus(input, workload->name);
    struct section section = {&input->summary, workload,
                              json_number_value(json_object_get(corpus, "bytes")), TABLE_HTML};
    struct plot plot = {input, &section, serial};
    struct strbuf text AUTO_STRBUF = STRBUF_INIT;
    int r;

    if (!corpus)
        return 0;
    strbuf_printf(to, "<section aria-labelledby=\"r%zu-%s\"><h2 id=\"r%zu-%s\">", number,
                  workload->name, number, workload->name);
    facts_title(input, corpus, &text);
    escape_html(to, text.data ? text.data : "");
    strbuf_puts(to, "</h2>\n");
    strbuf_free(&text);
    text = (struct strbuf)STRBUF_INIT;
    facts_corpus(corpus, &text);
    put_list(&text, "facts", to);
    facts_notes(input, &section, &text);
    put_list(&text, "notes", to);
    r = put_plots(&plot, to);
    if (r == 0)
        r = facts_why(&section, &text);
    if (text.length)
        strbuf_puts(to, "<h3>Why</h3>\n");
    put_list(&text, "notes", to);
    strbuf_puts(to, "<h3>Tables</h3>\n<div class=\"grid wide\">\n");
    if (r == 0)
        r = sections_write(&section, to);
    strbuf_puts(to, "</div></section>\n");
    return r;
}

static void put_links(const struct report_input *inputs, size_t count, struct strbuf *to)
{
    strbuf_puts(to, "<nav aria-label=\"Workloads\"><ul>\n");
    for (size_t i = 0; i < count; i++) {
        for (size_t w = 0; w < WORKLOAD_COUNT; w++) {
            const char *name = workload_at(w)->name;

            if (!facts_find_corpus(&inputs[i], name))
                continue;
            strbuf_printf(to, "<li><a href=\"#r%zu-%s\">%s", i, name, name);
            if (count > 1) {
                strbuf_puts(to, ", ");
                escape_html(to, inputs[i].file);
            }
            strbuf_puts(to, "</a></li>\n");
        }
    }
    strbuf_puts(to, "</ul></nav>\n");
}

int report_html(const struct report_input *inputs, size_t count, struct strbuf *to)
{
    struct strbuf lines AUTO_STRBUF = STRBUF_INIT;
    size_t serial = 0;
    int r = 0;

    /* The policy keeps even a hostile name, should one get through, from loading or running anything. */
    strbuf_puts(to, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'\">\n"
                    "<meta name=\"color-scheme\" content=\"light dark\">\n"
                    "<title>tallybench: report</title>\n<style>\n");
    strbuf_puts(to, html_style);
    strbuf_puts(
        to, "</style></head>\n<body><a class=\"skip\" href=\"#content\">Skip to the results</a>\n"
            "<header><h1>File systems and codecs, measured</h1>\n");
    put_links(inputs, count, to);
    strbuf_puts(to, "</header>\n<main id=\"content\" tabindex=\"-1\">\n");
    for (size_t i = 0; r == 0 && i < count; i++) {
        facts_machine(&inputs[i], &lines);
        put_list(&lines, "facts", to);
        for (size_t w = 0; r == 0 && w < WORKLOAD_COUNT; w++)
            r = put_workload(&inputs[i], i, workload_at(w), &serial, to);
    }
    strbuf_puts(to, "</main>\n<footer><h2>What the signs mean</h2>\n");
    facts_legend(&lines);
    put_list(&lines, "facts", to);
    strbuf_puts(to, "</footer></body></html>\n");
    return r;
}
