/* Numbers that people write: strict, whole-string, with the range checked. */
#ifndef TALLY_UTIL_PARSE_H
#define TALLY_UTIL_PARSE_H

#include <stdint.h>

/* A decimal integer within [min, max]. 0; -EINVAL for anything else than digits with an optional sign; -ERANGE. */
int parse_integer(const char *text, int64_t min, int64_t max, int64_t *ret_value);

/*
 * A size in bytes: an integer with an optional unit K, M, G or T (powers of 1024; a following "iB" or "B" is
 * allowed). 0; -EINVAL; -ERANGE when outside [min, max].
 */
int parse_size(const char *text, uint64_t min_bytes, uint64_t max_bytes, uint64_t *ret_bytes);

/* Seconds with an optional fraction, "0", "1.5", within [0, max_seconds]. 0; -EINVAL; -ERANGE. */
int parse_seconds(const char *text, double max_seconds, double *ret_seconds);

/* "on", "yes", "true", "1" against "off", "no", "false", "0". 0 with *ret_value 0 or 1; -EINVAL. */
int parse_switch(const char *text, int *ret_value);

#endif
