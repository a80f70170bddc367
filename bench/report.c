#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "reason.h"
#include "result.h"
#include "util/cleanup.h"

static int load(const char *file, struct report_input *input, struct reason *reason)
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

static int write_out(const char *output, const struct strbuf *text, struct reason *reason)
{
    FILE *file AUTO_FCLOSE = NULL;

    if (!output) {
        fwrite(text->data, 1, text->length, stdout); /* main looks for errors */
        return 0;
    }
    file = fopen(output, "we");
    if (!file || fwrite(text->data, 1, text->length, file) != text->length || fflush(file) != 0)
        return reason_path(reason, -errno, output);
    return 0;
}

int command_report(struct options *options, const struct log *log)
{
    static int (*const writers[])(const struct report_input *, size_t, struct strbuf *) = {
        report_table, report_json, report_csv, report_markdown, report_html};
    struct report_input *inputs;
    struct strbuf text AUTO_STRBUF = STRBUF_INIT;
    struct reason reason = {""};
    int r = 0;

    if (options->argument_count == 0) {
        log_error(log, "report: a result file is missing");
        return EXIT_WRONG_USAGE;
    }
    inputs = calloc(options->argument_count, sizeof(*inputs));
    if (!inputs)
        r = -ENOMEM;
    for (size_t i = 0; r == 0 && i < options->argument_count; i++)
        r = load(options->arguments[i], &inputs[i], &reason);
    if (r == 0)
        r = writers[options->format](inputs, options->argument_count, &text);
    if (r == 0)
        r = text.failed ? -ENOMEM : write_out(options->output, &text, &reason);
    if (r < 0)
        log_error(log, "%s", reason.text[0] ? reason.text : strerror(-r));
    for (size_t i = 0; inputs && i < options->argument_count; i++) {
        summary_free(&inputs[i].summary);
        json_decref(inputs[i].result);
    }
    free(inputs);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
