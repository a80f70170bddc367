/* tallyctl cat */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/lower.h"
#include "tally/format.h"
#include "util/cleanup.h"

#define PIECE_BYTES FORMAT_CHUNK_MIN

static int write_all(const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(STDOUT_FILENO, data, size);

        if (written < 0 && errno != EINTR)
            return -errno;
        if (written > 0) {
            data += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

/* Piece by piece, a chunk at most: where one is damaged, all before it has gone out. */
static int copy_out(const char *path, const struct lower_file *lower, const struct log *log)
{
    AUTO_FREE char *buffer = malloc(PIECE_BYTES);
    off_t offset = 0;
    ssize_t length;

    if (!buffer) {
        log_error(log, "%s", strerrordesc_np(ENOMEM));
        return EXIT_FAILED;
    }
    while ((length = backend_pread(lower->file, NULL, buffer, PIECE_BYTES, offset)) > 0) {
        int r = write_all(buffer, (size_t)length);

        if (r < 0) {
            log_error(log, "standard output: %s", strerrordesc_np(-r));
            return EXIT_FAILED;
        }
        offset += length;
    }
    if (length < 0) {
        log_error(log, "%s: at byte %jd: %s", path, (intmax_t)offset,
                  strerrordesc_np((int)-length));
        return EXIT_FAILED;
    }
    return EXIT_DONE;
}

int command_cat(const struct options *options, const struct log *log)
{
    AUTO_LOWER_FILE struct lower_file lower = LOWER_FILE_NONE;
    const char *path = options->operands[0];
    int r = lower_file_open(path, true, &lower);

    if (r < 0) {
        log_error(log, "%s: %s", path,
                  r == -EINVAL  ? "not a regular file"
                  : r == -EBUSY ? "in use by a mount"
                                : strerrordesc_np(-r));
        return EXIT_FAILED;
    }
    return copy_out(path, &lower, log);
}
