/* Loading results for a report, and writing one out. */
#ifndef TALLY_BENCH_REPORT_INPUT_H
#define TALLY_BENCH_REPORT_INPUT_H

#include "reason.h"
#include "report.h"

/* 0; -errno or -EPROTO with a reason. To be freed in both cases. */
int report_input_load(const char *file, struct report_input *input, struct reason *reason);

/* Of one that is all zeros, too. */
void report_input_free(struct report_input *input);

/* Writes to the file, or to stdout for NULL, where errors show when it is flushed. 0; -errno with a reason. */
int report_write_out(const char *output, const struct strbuf *text, struct reason *reason);

#endif
