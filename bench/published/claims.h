/*
 * Published tables and conclusions beside what was measured. The file of them has a line each, fields between bars:
 *
 *   table|TITLE|WORKLOAD|MEASURE|UNIT
 *   row|LABEL|PUBLISHED|ROW                           of the table above it; the first row is the base of both ratios
 *   claim|WORDS|WORKLOAD|MEASURE|ROW|ROW|more, less or same|PUBLISHED RATIO
 *   gap|WORDS|WHY                                     a conclusion that cannot be looked at here
 *
 * WORKLOAD, MEASURE and ROW as in sample.h; PUBLISHED is "-" where nothing was. Lines that begin with # are comments.
 */
#ifndef TALLY_BENCH_PUBLISHED_CLAIMS_H
#define TALLY_BENCH_PUBLISHED_CLAIMS_H

#include <jansson.h>
#include <stdbool.h>

#include "util/strbuf.h"

/* Adds tables and conclusions. 0; -errno when the file cannot be read, -EBADMSG after a message when it is wrong. */
int claims_write(const char *path, const json_t *results, bool html, struct strbuf *to);

#endif
