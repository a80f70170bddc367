/* What a report says beside its tables, in lines that each end with a newline; the writers of the formats dress them. */
#ifndef TALLY_BENCH_REPORT_FACTS_H
#define TALLY_BENCH_REPORT_FACTS_H

#include "report.h"
#include "report_sections.h"

/* File, time and seed; the machine; a line a target. */
void facts_machine(const struct report_input *input, struct strbuf *to);

/* The workload's corpus, borrowed; NULL when it was not run. */
const json_t *facts_find_corpus(const struct report_input *input, const char *workload);

/* The workload's heading; without a newline. */
void facts_title(const struct report_input *input, const json_t *corpus, struct strbuf *to);

/* How far each set can be compressed. */
void facts_corpus(const json_t *corpus, struct strbuf *to);

/* What is to be known about single rows, the noise floor, and how the run ended. */
void facts_notes(const struct report_input *input, const struct section *section,
                 struct strbuf *to);

/* For each difference that is told from chance a sentence: what of tallyfs' counters differs most. 0; -ENOMEM. */
int facts_why(const struct section *section, struct strbuf *to);

/* What the signs in the tables mean. */
void facts_legend(struct strbuf *to);

#endif
