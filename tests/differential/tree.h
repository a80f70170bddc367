/* Whether two directories hold the same: names, attributes, contents, holes, links, extended attributes. */
#ifndef TALLY_DIFFERENTIAL_TREE_H
#define TALLY_DIFFERENTIAL_TREE_H

#include "rules.h"

/* Whether there is a difference: adds it to `text`, and gives the name of the first differing field. */
bool tree_compare(const struct traits *traits, const char *left, const char *right,
                  struct strbuf *text, const char **ret_field);

#endif
