/*
 * The JSON document of a run. Its keys:
 *
 *   schema, program, started, seed, arguments   what was asked for; a resumed run must ask for the same
 *   environment, targets, corpora               what the numbers depend on
 *   trials_wanted, time_limit_s, precision, quick   how long it was to go on
 *   stopped                                     why it ended, see stop_rule.h; null when it did not get there
 *   configurations, block_order                 which the trials refer to by index; twin_of of a configuration is that
 *                                               of which it is a repetition
 *   trials                                      a record each, see trial.h
 *
 * Units are in the key names. A value that could not be had is null, never 0 and never NaN.
 */
#ifndef TALLY_BENCH_RESULT_H
#define TALLY_BENCH_RESULT_H

#include <jansson.h>

#include "options.h"
#include "plan.h"
#include "reason.h"

/* Goes up when a reader of the old one would misread the new one. */
#define RESULT_SCHEMA 1

/* A document without environment, corpora and trials. NULL when a name is not UTF-8, or without memory. */
json_t *result_new(const struct options *options, const struct plan *plan);

/* Reads a document and checks its schema. 0; -errno; -EPROTO when it is none; with a reason. */
int result_load(const char *path, json_t **ret_result, struct reason *reason);

/* Whether the loaded document was made with the same arguments, the number of trials apart, on the same system. 0; -EINVAL with a reason.
 */
int result_check_resumable(const json_t *old, const json_t *new, const char *path,
                           struct reason *reason);

/* The record of that configuration in that block, or NULL; borrowed. */
json_t *result_find_trial(const json_t *result, size_t configuration, unsigned int block);

/* Adds the record, in place of an earlier one of the same configuration and block. 0; -ENOMEM. */
int result_put_trial(json_t *result, json_t *trial);

/* Replaces the file as a whole, on stable storage, so that a reader sees the old or the new one. 0; -errno with a
 * reason. */
int result_save(const json_t *result, const char *path, struct reason *reason);

/* Now, as "2025-01-31T12:00:00Z". */
json_t *result_time_now(void);

#endif
