/* Files on their way from the walk to the workers. */
#ifndef TALLY_CTL_QUEUE_H
#define TALLY_CTL_QUEUE_H

#include "ctl/tree.h"

struct queue;

/* Starts as many workers as there are processors. NULL where not even one can be started. */
struct queue *queue_create(struct job *job, tree_visit *visit, void *user);

/* Waits for the workers to do all that was added. */
void queue_destroy(struct queue *queue);

/* Takes path and name, which are malloc'ed, and both descriptors. Waits while the workers have enough to do. */
void queue_add(struct queue *queue, char *path, char *name, int directory, int fd,
               const struct stat *attributes);

#endif
