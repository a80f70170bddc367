/* The kinds of corpus. Each writes its sets to `output`. 0; the errors of output_*. */
#ifndef TALLY_CORPUS_GENERATORS_H
#define TALLY_CORPUS_GENERATORS_H

#include "corpus/output.h"

int generate_trigger(const struct corpus_config *config, struct corpus_output *output);
int generate_mailbox(const struct corpus_config *config, struct corpus_output *output);

#endif
