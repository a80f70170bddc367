/*
 * Requests that wait for a lock. They must not hold a thread: the request that gives the lock back needs one. So one
 * thread of the queue's own tries for all of them, at once when a lock is given back through this mount, and every few
 * milliseconds for those that are given back elsewhere.
 */
#ifndef TALLY_FS_LOCK_QUEUE_H
#define TALLY_FS_LOCK_QUEUE_H

#include <fcntl.h>

#include "fs/call.h"

struct lock_queue;

/* One attempt that may be repeated: a POSIX or a BSD lock. */
struct lock_attempt {
    int fd;
    bool is_flock;
    int operation;     /* of flock(2) */
    struct flock lock; /* of fcntl(2) */
    struct node *node; /* of a POSIX lock, and who wants it */
    uint64_t owner;
    uint64_t give_up_ns; /* with EAGAIN, on clock_ns, and only after some tries; 0: never */
};

/* Tries without waiting. 0; -EAGAIN when somebody else has the lock; -errno. */
int lock_try(struct split *split, const struct lock_attempt *attempt);

/* 0 or -ENOMEM. No thread is started before a request waits. */
int lock_queue_create(struct lock_queue **ret_queue);

/* Ends the thread; requests that still wait are answered with EINTR. The session must still exist. */
void lock_queue_end(struct lock_queue *queue);
void lock_queue_destroy(struct lock_queue *queue);

/*
 * While it is held nobody begins to wait but the one who holds it: two who would wait for one another could otherwise
 * each look for the other before either is there.
 */
void lock_queue_hold(struct lock_queue *queue);
void lock_queue_let_go(struct lock_queue *queue);

/*
 * Has the queue answer the call once the attempt succeeds, fails or is interrupted; the call is deferred then. The
 * attempt's descriptor is duplicated. 0 or -errno.
 */
int lock_queue_wait(struct lock_queue *queue, struct call *call, const struct lock_attempt *attempt);

/*
 * Whether the owner of POSIX locks waits, and for what. The copy's descriptor is the caller's to close, and its node has
 * one lookup more, for the caller to forget.
 */
bool lock_queue_find(struct lock_queue *queue, uint64_t owner, struct lock_attempt *ret_attempt);

/* A lock was given back. */
void lock_queue_wake(struct lock_queue *queue);

#endif
