/*
 * Finding data and holes. The kernel asks without having written back what programs wrote into its pages, which the
 * lower file does not have then. So where somebody has the file open for writing, it is told to write them first; and
 * as this thread may not wait for the requests that come of it, those seeks are answered by a thread of their own.
 */
#ifndef TALLY_FS_SEEK_H
#define TALLY_FS_SEEK_H

struct seeker;

/* 0 or -ENOMEM. No thread is started before it is needed. */
int seeker_create(struct seeker **ret_seeker);

/* Ends the thread; the connection must have ended, so that nothing is waited for. What still waits gets EINTR. */
void seeker_end(struct seeker *seeker);
void seeker_destroy(struct seeker *seeker);

#endif
