#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "reason.h"
#include "report_input.h"
#include "util/cleanup.h"

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
        r = report_input_load(options->arguments[i], &inputs[i], &reason);
    if (r == 0)
        r = writers[options->format](inputs, options->argument_count, &text);
    if (r == 0)
        r = text.failed ? -ENOMEM : report_write_out(options->output, &text, &reason);
    if (r < 0)
        log_error(log, "%s", reason.text[0] ? reason.text : strerror(-r));
    for (size_t i = 0; inputs && i < options->argument_count; i++)
        report_input_free(&inputs[i]);
    free(inputs);
    return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
