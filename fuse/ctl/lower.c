#include "ctl/lower.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "ctl/kind.h"
#include "util/cleanup.h"

#define CACHE_BYTES (8UL << 20)

#define CLAIM_TRIES 20
#define CLAIM_WAIT_NS 25000000L

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

int lower_store_create(uint32_t chunk_bytes, unsigned workers, struct store **ret_store)
{
    const struct store_config config = {
        .chunk_bytes = chunk_bytes,
        .dirty_limit_bytes = CACHE_BYTES + (size_t)chunk_bytes * 4 * workers,
        .cache_limit_bytes = CACHE_BYTES,
        .worker_count = workers,
    };

    return store_create(&config, ret_store);
}

int lower_claim(int fd, enum store_claim claim)
{
    const struct timespec moment = {.tv_nsec = CLAIM_WAIT_NS};
    int r = store_claim(fd, NULL, claim);

    for (unsigned tries = 0; r == -EBUSY && tries < CLAIM_TRIES; tries++) {
        nanosleep(&moment, NULL);
        r = store_claim(fd, NULL, claim);
    }
    return r;
}

static int open_store(struct lower_file *lower)
{
    static const struct tally_codec_choice none = {0};
    struct backend *stored;
    int r = lower_store_create(LOWER_CHUNK_BYTES, 0, &lower->store);

    if (r == 0)
        r = store_file_open(lower->store, NULL, lower->file, &none, true, &stored);
    if (r == 0)
        lower->file = stored;
    return r;
}

int lower_file_open(const char *path, bool claim, struct lower_file *ret_lower)
{
    AUTO_LOWER_FILE struct lower_file lower = LOWER_FILE_NONE;
    AUTO_CLOSE int fd = -1;
    struct stat attributes;
    enum lower_kind kind;
    int r;

    fd = open_regular(path, &attributes);
    if (fd < 0)
        return fd;
    r = claim ? lower_claim(fd, STORE_CLAIM_READ) : 0;
    if (r == 0)
        r = lower_kind(fd, &attributes, &kind);
    if (r == 0)
        r = raw_backend_create(fd, NULL, &lower.file);
    if (r < 0)
        return r;
    take_fd(&fd);
    lower.is_stored = kind != LOWER_PLAIN;
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
