#include "report_input.h"

#include <errno.h>
#include <stdio.h>

#include "result.h"
#include "util/cleanup.h"

int report_input_load(const char *file, struct report_input *input, struct reason *reason)
{
    int r = result_load(file, &input->result, reason);

    input->file = file;
    if (r < 0)
        return r;
    r = summary_make(input->result, &input->summary);
    if (r == -EPROTO)
        return reason_set(reason, r, "%s: its trials and configurations do not fit together", file);
    return r < 0 ? reason_path(reason, r, file) : 0;
}

void report_input_free(struct report_input *input)
{
    summary_free(&input->summary);
    json_decref(input->result);
}

int report_write_out(const char *output, const struct strbuf *text, struct reason *reason)
{
    FILE *file AUTO_FCLOSE = NULL;

    if (!output) {
        fwrite(text->data, 1, text->length, stdout);
        return 0;
    }
    file = fopen(output, "we");
    if (!file || fwrite(text->data, 1, text->length, file) != text->length || fflush(file) != 0)
        return reason_path(reason, -errno, output);
    return 0;
}
