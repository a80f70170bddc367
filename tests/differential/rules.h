/*
 * Comparing outcomes. Left and right must be the same except for what the table in rules.c lists, each row with the
 * reason why it has to be so.
 */
#ifndef TALLY_DIFFERENTIAL_RULES_H
#define TALLY_DIFFERENTIAL_RULES_H

#include <stdbool.h>

#include "outcome.h"
#include "script.h"
#include "view.h"

/* What the left side is. */
struct traits {
    bool compressed; /* files are stored compressed */
    bool writeback;  /* cache=writeback */
    int64_t chunk_bytes;
};

struct comparison {
    const struct traits *traits;
    const struct op *op;
    const struct view *left, *right;
};

/* Whether a call shall not be made on the right, since the left may refuse it for a listed reason. */
bool rules_left_refuses(const struct comparison *comparison, const struct outcome *left);

/*
 * Whether there is a difference: adds what differs to `text`, and gives the name of the first differing field. `from`
 * is NULL or what the values are of.
 */
bool rules_compare(const struct comparison *comparison, const char *of, const struct outcome *left,
                   const struct outcome *right, struct strbuf *text, const char **ret_field);

#endif
