/*
 * The attributes that say who did what: top, by.uid, by.pid, by.tree, slow. Each is a header line with the names of the columns and
 * then lines of values, separated by tabs. Numbers are decimal; in names a tab, a newline and a backslash are "\t", "\n"
 * and "\\", and other control characters three octal digits after a backslash.
 *
 * The mount's owner and root see all. Others see what their own user did, and no names of files; `top` and `by.tree`,
 * which do not say whose the operations were, are not for them.
 */
#ifndef TALLY_FS_REPORT_H
#define TALLY_FS_REPORT_H

#include "fs/context.h"
#include "util/strbuf.h"

/* Whether the caller is root or the mount's owner. */
bool report_for_all(const struct call *call);

/* 0; -ENODATA for a name that is none of these; -EPERM; -ENOMEM. */
int report_get(struct call *call, const char *name, struct strbuf *value);

/* Calls `add` with each name that the caller may read. */
void report_names(const struct call *call, void (*add)(void *user, const char *name), void *user);

#endif
