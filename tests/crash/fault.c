#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_model.h"
#include "tally/format.h"

#define SECTOR 512u
#define BLOCK 4096u

struct image {
    uint8_t *bytes; /* zero beyond size */
    size_t size;
    size_t capacity;
};

struct operation {
    bool truncates;
    uint64_t offset; /* of the write, or the new size */
    size_t size;
    uint8_t *data; /* of a write; NULL for a punched hole */
};

struct medium {
    struct image durable; /* as of the last sync */
    struct image current; /* as it reads */
    struct operation *pending;
    size_t pending_count;
    size_t pending_capacity;
    uint64_t random;
    uint64_t changes;      /* writes, truncates, punches and syncs so far */
    uint64_t freeze_at;    /* this many changes, 0 for never */
    uint64_t calls;        /* of any kind */
    struct medium_fault fault;
    bool frozen;
    bool cannot_punch;
};

struct fault_backend {
    struct backend backend;
    struct medium *medium;
};

static struct medium *medium_of(struct backend *backend)
{
    return ((struct fault_backend *)backend)->medium;
}

static void image_resize(struct image *image, size_t size)
{
    if (size > image->capacity) {
        size_t capacity = size * 2;

        image->bytes = realloc(image->bytes, capacity);
        if (!image->bytes)
            abort();
        memset(image->bytes + image->capacity, 0, capacity - image->capacity);
        image->capacity = capacity;
    }
    if (size < image->size)
        memset(image->bytes + size, 0, image->size - size);
    image->size = size;
}

static void image_write(struct image *image, uint64_t offset, const uint8_t *data, size_t size)
{
    if (offset + size > image->size)
        image_resize(image, (size_t)offset + size);
    if (size == 0)
        return;
    if (data)
        memcpy(image->bytes + offset, data, size);
    else
        memset(image->bytes + offset, 0, size);
}

static void image_copy(struct image *to, const struct image *from)
{
    image_resize(to, 0);
    image_write(to, 0, from->bytes, from->size);
}

static void remember(struct medium *medium, const struct operation *operation)
{
    if (medium->pending_count == medium->pending_capacity) {
        medium->pending_capacity = medium->pending_capacity ? medium->pending_capacity * 2 : 16;
        medium->pending = reallocarray(medium->pending, medium->pending_capacity, sizeof(*medium->pending));
        if (!medium->pending)
            abort();
    }
    medium->pending[medium->pending_count++] = *operation;
}

static void forget_pending(struct medium *medium)
{
    for (size_t i = 0; i < medium->pending_count; i++)
        free(medium->pending[i].data);
    medium->pending_count = 0;
}

struct medium *medium_create(uint64_t seed)
{
    struct medium *medium = calloc(1, sizeof(*medium));

    if (!medium)
        abort();
    medium->random = seed;
    return medium;
}

void medium_destroy(struct medium *medium)
{
    forget_pending(medium);
    free(medium->pending);
    free(medium->durable.bytes);
    free(medium->current.bytes);
    free(medium);
}

void medium_fail(struct medium *medium, const struct medium_fault *fault)
{
    medium->fault = *fault;
    medium->calls = 0;
}

uint64_t medium_calls(const struct medium *medium)
{
    return medium->calls;
}

void medium_forbid_punching(struct medium *medium)
{
    medium->cannot_punch = true;
}

void medium_damage(struct medium *medium, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < size && offset + i < medium->current.size; i++)
        medium->current.bytes[offset + i] ^= (uint8_t)(1 + random_below(&medium->random, 255));
}

uint64_t medium_size(const struct medium *medium)
{
    return medium->current.size;
}

unsigned medium_frames(const struct medium *medium)
{
    const struct image *image = &medium->current;
    struct format_header header;
    unsigned count = 0;

    for (size_t at = 0; at + FORMAT_HEADER_BYTES <= image->size; count++) {
        if (format_header_decode(image->bytes + at, &header) < 0)
            break;
        at += format_frame_bytes(header.stored_length);
    }
    return count;
}

/* A write of which some sectors arrived, or arrived as something else. */
static void apply_torn(struct medium *medium, const struct operation *operation, bool garble)
{
    for (size_t done = 0; done < operation->size;) {
        uint64_t at = operation->offset + done;
        size_t length = SECTOR - (size_t)(at % SECTOR);

        length = length < operation->size - done ? length : operation->size - done;
        if (random_below(&medium->random, 2)) {
            image_write(&medium->durable, at, operation->data ? operation->data + done : NULL, length);
        } else if (garble) {
            image_write(&medium->durable, at, NULL, length);
            for (size_t i = 0; i < length; i++)
                medium->durable.bytes[at + i] = (uint8_t)random_next(&medium->random);
        }
        done += length;
    }
}

static void apply(struct medium *medium, const struct operation *operation)
{
    if (operation->truncates)
        image_resize(&medium->durable, (size_t)operation->offset);
    else
        image_write(&medium->durable, operation->offset, operation->data, operation->size);
}

void medium_cut_power(struct medium *medium)
{
    for (size_t i = 0; i < medium->pending_count; i++) {
        const struct operation *operation = &medium->pending[i];
        uint64_t fate = random_below(&medium->random, 6);

        if (operation->truncates && fate < 2)
            break;
        if (operation->truncates || fate < 3)
            apply(medium, operation);
        else if (fate > 3)
            apply_torn(medium, operation, fate == 5 && operation->data);
    }
    forget_pending(medium);
    image_copy(&medium->current, &medium->durable);
    medium_thaw(medium);
}

void medium_thaw(struct medium *medium)
{
    medium->fault = (struct medium_fault){0};
    medium->freeze_at = 0;
    medium->frozen = false;
}

void medium_freeze_after(struct medium *medium, unsigned count)
{
    medium->freeze_at = medium->changes + count + 1;
}

bool medium_is_frozen(const struct medium *medium)
{
    return medium->frozen;
}

/* Counts a call; 0 or the error that it is to give. */
static int begin_call(struct medium *medium, enum medium_call call)
{
    const struct medium_fault *fault = &medium->fault;

    if (!(fault->calls & call))
        return 0;
    medium->calls++;
    if (medium->calls <= fault->after || (!fault->lasting && medium->calls > fault->after + 1))
        return 0;
    return -fault->error;
}

/* Counts a change; false when the power has failed and it must not happen. */
static bool begin_change(struct medium *medium)
{
    if (++medium->changes == medium->freeze_at)
        medium->frozen = true;
    return !medium->frozen;
}

static ssize_t fault_pread(struct backend *backend, struct split *split, void *data, size_t size, off_t offset)
{
    struct medium *medium = medium_of(backend);
    const struct image *image = &medium->current;
    int r = begin_call(medium, MEDIUM_READ);

    (void)split;
    if (r < 0)
        return r;
    if ((uint64_t)offset >= image->size)
        return 0;
    size = size < image->size - (size_t)offset ? size : image->size - (size_t)offset;
    memcpy(data, image->bytes + offset, size);
    return (ssize_t)size;
}

static void record_write(struct medium *medium, const uint8_t *data, size_t size, uint64_t offset)
{
    struct operation operation = {.offset = offset, .size = size};

    if (size == 0)
        return;
    if (data) {
        operation.data = malloc(size);
        if (!operation.data)
            abort();
        memcpy(operation.data, data, size);
    }
    remember(medium, &operation);
    image_write(&medium->current, offset, data, size);
}

static ssize_t fault_pwrite(struct backend *backend, struct split *split, const void *data, size_t size, off_t offset,
                            bool append)
{
    struct medium *medium = medium_of(backend);
    uint64_t calls = medium->calls;
    int r = begin_call(medium, MEDIUM_WRITE);

    (void)split;
    (void)append;
    if (r < 0 && medium->fault.is_short && calls == medium->fault.after && size > 1)
        size = size / 2 + 3 < size ? size / 2 + 3 : size / 2; /* the next one fails wholly, if it lasts */
    else if (r < 0)
        return r;
    if (begin_change(medium))
        record_write(medium, data, size, (uint64_t)offset);
    return (ssize_t)size;
}

static int fault_size(struct backend *backend, struct split *split, off_t *ret_size)
{
    struct medium *medium = medium_of(backend);
    int r = begin_call(medium, MEDIUM_READ);

    (void)split;
    if (r == 0)
        *ret_size = (off_t)medium->current.size;
    return r;
}

static int fault_truncate(struct backend *backend, struct split *split, off_t size)
{
    struct medium *medium = medium_of(backend);
    int r = begin_call(medium, MEDIUM_TRUNCATE);

    (void)split;
    if (r < 0)
        return r;
    if (!begin_change(medium))
        return 0;
    remember(medium, &(struct operation){.truncates = true, .offset = (uint64_t)size});
    image_resize(&medium->current, (size_t)size);
    return 0;
}

static int fault_flush(struct backend *backend, struct split *split)
{
    (void)split;
    return begin_call(medium_of(backend), MEDIUM_FLUSH);
}

/* A sync that fails has lost what it was to write, and says so only once; reading still gives it, as pages do. */
static int fault_sync(struct backend *backend, struct split *split, bool data_only)
{
    struct medium *medium = medium_of(backend);
    int r = begin_call(medium, MEDIUM_SYNC);

    (void)split;
    (void)data_only;
    if (r < 0)
        return r;
    if (!begin_change(medium))
        return 0;
    for (size_t i = 0; i < medium->pending_count; i++)
        apply(medium, &medium->pending[i]);
    forget_pending(medium);
    return 0;
}

static int fault_allocate(struct backend *backend, struct split *split, int mode, off_t offset, off_t length)
{
    struct medium *medium = medium_of(backend);
    size_t size = medium->current.size;
    int r = begin_call(medium, MEDIUM_PUNCH);

    (void)split;
    if (r < 0)
        return r;
    if (mode != (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE) || medium->cannot_punch)
        return -EOPNOTSUPP;
    if ((size_t)offset < size && begin_change(medium))
        record_write(medium, NULL, (size_t)length < size - (size_t)offset ? (size_t)length : size - (size_t)offset,
                     (uint64_t)offset);
    return 0;
}

static bool block_is_zero(const struct image *image, size_t offset)
{
    size_t size = image->size - offset < BLOCK ? image->size - offset : BLOCK;

    return image->bytes[offset] == 0 && memcmp(image->bytes + offset, image->bytes + offset + 1, size - 1) == 0;
}

/* Blocks of zeros are holes. */
static off_t fault_seek(struct backend *backend, struct split *split, off_t offset, int whence)
{
    struct medium *medium = medium_of(backend);
    const struct image *image = &medium->current;
    int r = begin_call(medium, MEDIUM_READ);
    size_t at = (size_t)offset;

    (void)split;
    if (r < 0)
        return r;
    if (at >= image->size)
        return -ENXIO;
    while (at < image->size && block_is_zero(image, at / BLOCK * BLOCK) == (whence == SEEK_DATA))
        at = (at / BLOCK + 1) * BLOCK;
    if (at >= image->size)
        return whence == SEEK_DATA ? -ENXIO : (off_t)image->size;
    return (off_t)at;
}

static int fault_stat(struct backend *backend, struct split *split, struct stat *ret_attributes)
{
    struct medium *medium = medium_of(backend);
    const struct image *image = &medium->current;
    struct stat attributes = {.st_mode = S_IFREG | 0644, .st_size = (off_t)image->size, .st_blksize = BLOCK};
    int r = begin_call(medium, MEDIUM_READ);

    (void)split;
    if (r < 0)
        return r;
    for (size_t at = 0; at < image->size; at += BLOCK)
        attributes.st_blocks += block_is_zero(image, at) ? 0 : BLOCK / 512;
    *ret_attributes = attributes;
    return 0;
}

static int fault_descriptor(struct backend *backend)
{
    (void)backend;
    return -EBADF;
}

static int fault_close(struct backend *backend, struct split *split)
{
    int r = begin_call(medium_of(backend), MEDIUM_CLOSE);

    (void)split;
    free(backend);
    return r;
}

static const struct backend_operations fault_operations = {
    .pread = fault_pread,
    .pwrite = fault_pwrite,
    .size = fault_size,
    .truncate = fault_truncate,
    .flush = fault_flush,
    .sync = fault_sync,
    .allocate = fault_allocate,
    .seek = fault_seek,
    .stat = fault_stat,
    .descriptor = fault_descriptor,
    .close = fault_close,
};

struct backend *medium_open(struct medium *medium)
{
    struct fault_backend *fault = malloc(sizeof(*fault));

    if (!fault)
        abort();
    *fault = (struct fault_backend){.backend.operations = &fault_operations, .medium = medium};
    return &fault->backend;
}
