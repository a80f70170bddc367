/* Resources that end with their scope. */
#ifndef TALLY_UTIL_CLEANUP_H
#define TALLY_UTIL_CLEANUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Closes *fd unless it is negative; errno is kept, so that it can stand on an error path. */
static inline void cleanup_close(int *fd)
{
    if (*fd >= 0) {
        int saved = errno;

        close(*fd);
        errno = saved;
    }
}

static inline void cleanup_free(void *pointer)
{
    free(*(void **)pointer);
}

static inline void cleanup_fclose(FILE **file)
{
    if (*file)
        fclose(*file);
}

#define CLEANUP(function) __attribute__((cleanup(function)))
#define AUTO_CLOSE CLEANUP(cleanup_close)
#define AUTO_FREE CLEANUP(cleanup_free)
#define AUTO_FCLOSE CLEANUP(cleanup_fclose)

/* Hands a descriptor on: the scope no longer closes it. */
static inline int take_fd(int *fd)
{
    int taken = *fd;

    *fd = -1;
    return taken;
}

/* Hands memory on: the scope no longer frees it. */
#define TAKE_POINTER(pointer)                                                                      \
    __extension__({                                                                                \
        __typeof__(pointer) taken_ = (pointer);                                                    \
        (pointer) = NULL;                                                                          \
        taken_;                                                                                    \
    })

#endif
