/* A backend that counts for a job what is read through it, and ends reading when the job is to stop. */
#ifndef TALLY_CTL_COUNTED_H
#define TALLY_CTL_COUNTED_H

#include "ctl/job.h"
#include "store/backend.h"

/* Over a raw backend with a copy of `fd`. Reading fails with -ECANCELED once the job is stopped. 0 or -errno. */
int counted_open(int fd, struct job *job, struct backend **ret_backend);

#endif
