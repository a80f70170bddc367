/* Making a failing script short, by delta debugging. */
#ifndef TALLY_DIFFERENTIAL_SHRINK_H
#define TALLY_DIFFERENTIAL_SHRINK_H

#include "run.h"

/*
 * Gives the shortest script found that shows a difference of the same kind as `difference`, which becomes that script's.
 * 0; -EAGAIN when the script does not show it again; -ENOMEM.
 */
int shrink_script(struct trial *trial, const struct script *script, struct difference *difference,
                  struct script *ret_script);

#endif
