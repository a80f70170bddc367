#include "html/plot.h"

#include <stdio.h>
#include <string.h>

#include "html/svg.h"
#include "table.h"

void plot_open(const struct plot *plot, const char *caption, char id[static PLOT_ID_BYTES],
               struct strbuf *to)
{
    snprintf(id, PLOT_ID_BYTES, "plot%zu", ++*plot->serial);
    strbuf_puts(to, "<figure><figcaption>");
    escape_html(to, caption);
    strbuf_puts(to, "</figcaption>\n");
}

void plot_close(struct strbuf *to)
{
    strbuf_puts(to, "</figure>\n");
}

const char *plot_codec(const struct row *row)
{
    return strcmp(row->path, "native") == 0 ? "native" : row->codec;
}

static const char *target_of(const struct row *row)
{
    return row->target;
}

/* How many different names the rows before the first row with this name have. */
static size_t number_of_name(const struct section *section, const char *name,
                             const char *(*name_of)(const struct row *row))
{
    const struct row *rows = section->summary->rows;
    size_t number = 0;

    for (size_t i = 0; i < section->summary->count; i++) {
        bool seen = false;

        if (!row_competes(&rows[i], section->workload->name))
            continue;
        if (strcmp(name_of(&rows[i]), name) == 0)
            return number;
        for (size_t j = 0; j < i && !seen; j++)
            seen = row_competes(&rows[j], section->workload->name) &&
                   strcmp(name_of(&rows[j]), name_of(&rows[i])) == 0;
        number += !seen;
    }
    return number;
}

size_t plot_colour(const struct section *section, const struct row *row)
{
    return row->target ? number_of_name(section, row->target, target_of) % PLOT_COLOURS : 0;
}

size_t plot_shape(const struct section *section, const struct row *row)
{
    return row->target ? number_of_name(section, plot_codec(row), plot_codec) % SVG_SHAPES : 0;
}

static void put_key(struct strbuf *to, size_t shape, const char *class, const char *name)
{
    strbuf_puts(to, "<li><svg class=\"key\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\">");
    svg_mark(to, shape, 0, 0, class, NULL);
    strbuf_puts(to, "</svg>");
    escape_html(to, name);
    strbuf_puts(to, "</li>\n");
}

void plot_legend(const struct section *section, struct strbuf *to)
{
    size_t targets = 0, codecs = 0;

    strbuf_puts(to, "<ul class=\"legend\">\n");
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < section->summary->count; i++) {
            const struct row *row = &section->summary->rows[i];
            char class[16];

            if (!row_competes(row, section->workload->name))
                continue;
            if (pass == 0 && number_of_name(section, row->target, target_of) == targets) {
                snprintf(class, sizeof(class), "c%zu", targets++ % PLOT_COLOURS);
                put_key(to, 0, class, row->target);
            }
            if (pass == 1 && number_of_name(section, plot_codec(row), plot_codec) == codecs)
                put_key(to, codecs++, "plain", plot_codec(row));
        }
    }
    strbuf_puts(to, "</ul>\n");
}
