/* A snapshot as `tallyctl stat` shows it. */
#ifndef TALLY_CTL_VIEW_H
#define TALLY_CTL_VIEW_H

#include <stdbool.h>

#include "stats/render.h"

/* For people, within 80 columns, the operations that took most time first. `mount` is as the user named it. */
void view_table(const struct stats_snapshot *snapshot, const char *mount, bool colours,
                struct strbuf *out);

/* The column names; then a row an operation that was used, unknown cells empty. */
void view_csv_head(struct strbuf *out);
void view_csv(const struct stats_snapshot *snapshot, struct strbuf *out);

#endif
