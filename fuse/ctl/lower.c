#include "ctl/lower.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "util/cleanup.h"

#define CHUNK_BYTES (128U << 10)
#define CACHE_BYTES (8UL << 20)

/* O_NONBLOCK: a fifo is to be refused, not waited for. */
static int open_regular(const char *path, struct stat *ret_attributes)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 || fstat(fd, ret_attributes) < 0)
        return -errno;
    if (S_ISDIR(ret_attributes->st_mode))
        return -EISDIR;
    return S_ISREG(ret_attributes->st_mode) ? take_fd(&fd) : -EINVAL;
}

static int open_store(struct lower_file *lower)
{
    static const struct store_config config = {
        .chunk_bytes = CHUNK_BYTES,
        .dirty_limit_bytes = CACHE_BYTES,
        .cache_limit_bytes = CACHE_BYTES,
    };
    static const struct tally_codec_choice none = {0};
    struct backend *stored;
    int r = store_create(&config, &lower->store);

    if (r == 0)
        r = store_file_open(lower->store, NULL, lower->file, &none, true, &stored);
    if (r == 0)
        lower->file = stored;
    return r;
}

int lower_file_open(const char *path, struct lower_file *ret_lower)
{
    AUTO_LOWER_FILE struct lower_file lower = LOWER_FILE_NONE;
    AUTO_CLOSE int fd = -1;
    struct stat attributes;
    struct store_probe probe;
    int r;

    fd = open_regular(path, &attributes);
    if (fd < 0)
        return fd;
    r = store_probe(fd, NULL, &attributes, &probe);
    if (r == 0)
        r = raw_backend_create(fd, NULL, &lower.file);
    if (r < 0)
        return r;
    take_fd(&fd);
    lower.is_stored = probe.is_container;
    if (lower.is_stored)
        r = open_store(&lower);
    if (r < 0)
        return r;
    *ret_lower = lower;
    lower = (struct lower_file)LOWER_FILE_NONE;
    return 0;
}

void lower_file_close(struct lower_file *lower)
{
    if (lower->file)
        backend_close(lower->file, NULL);
    if (lower->store)
        store_destroy(lower->store);
}

int lower_file_info(const struct lower_file *lower, struct store_file_info *ret_info)
{
    struct stat attributes;
    int r;

    if (lower->is_stored)
        return store_file_info(lower->file, NULL, ret_info);
    r = backend_stat(lower->file, NULL, &attributes);
    if (r < 0)
        return r;
    *ret_info = (struct store_file_info){
        .logical_bytes = (uint64_t)attributes.st_size,
        .data_bytes = (uint64_t)attributes.st_size,
        .live_bytes = (uint64_t)attributes.st_size,
        .stored_bytes = (uint64_t)attributes.st_blocks * 512,
    };
    return 0;
}
