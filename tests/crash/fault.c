#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store_model.h"
#include "tally/format.h"

#define SECTOR 512u

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
    unsigned writes_left;
    int error;
    bool frozen;
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

void medium_fail_after(struct medium *medium, unsigned count, int error)
{
    medium->writes_left = count;
    medium->error = error;
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

void medium_cut_power(struct medium *medium)
{
    for (size_t i = 0; i < medium->pending_count; i++) {
        const struct operation *operation = &medium->pending[i];
        uint64_t fate = random_below(&medium->random, 6);

        if (operation->truncates) {
            if (fate < 2)
                break;
            image_resize(&medium->durable, (size_t)operation->offset);
        } else if (fate < 3) {
            image_write(&medium->durable, operation->offset, operation->data, operation->size);
        } else if (fate > 3) {
            apply_torn(medium, operation, fate == 5);
        }
    }
    forget_pending(medium);
    image_copy(&medium->current, &medium->durable);
    medium->error = 0;
    medium->frozen = false;
}

void medium_freeze(struct medium *medium)
{
    medium->frozen = true;
}

static ssize_t fault_pread(struct backend *backend, struct split *split, void *data, size_t size, off_t offset)
{
    const struct image *image = &medium_of(backend)->current;

    (void)split;
    if ((uint64_t)offset >= image->size)
        return 0;
    size = size < image->size - (size_t)offset ? size : image->size - (size_t)offset;
    memcpy(data, image->bytes + offset, size);
    return (ssize_t)size;
}

static void record_write(struct medium *medium, const uint8_t *data, size_t size, uint64_t offset)
{
    struct operation operation = {.offset = offset, .size = size};

    if (size == 0 || medium->frozen)
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

    (void)split;
    (void)append;
    if (medium->error && medium->writes_left == 0)
        return -medium->error;
    if (medium->error && --medium->writes_left == 0)
        size = size > 1 ? size / 2 + 3 < size ? size / 2 + 3 : size / 2 : size;
    record_write(medium, data, size, (uint64_t)offset);
    return (ssize_t)size;
}

static int fault_size(struct backend *backend, struct split *split, off_t *ret_size)
{
    (void)split;
    *ret_size = (off_t)medium_of(backend)->current.size;
    return 0;
}

static int fault_truncate(struct backend *backend, struct split *split, off_t size)
{
    struct medium *medium = medium_of(backend);

    (void)split;
    if (medium->frozen)
        return 0;
    remember(medium, &(struct operation){.truncates = true, .offset = (uint64_t)size});
    image_resize(&medium->current, (size_t)size);
    return 0;
}

static int fault_flush(struct backend *backend, struct split *split)
{
    (void)backend;
    (void)split;
    return 0;
}

static int fault_sync(struct backend *backend, struct split *split, bool data_only)
{
    struct medium *medium = medium_of(backend);

    (void)split;
    (void)data_only;
    if (medium->frozen)
        return 0;
    image_copy(&medium->durable, &medium->current);
    forget_pending(medium);
    return 0;
}

static int fault_allocate(struct backend *backend, struct split *split, int mode, off_t offset, off_t length)
{
    struct medium *medium = medium_of(backend);
    size_t size = medium->current.size;

    (void)split;
    if (mode != (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE))
        return -EOPNOTSUPP;
    if ((size_t)offset < size)
        record_write(medium, NULL, (size_t)length < size - (size_t)offset ? (size_t)length : size - (size_t)offset,
                     (uint64_t)offset);
    return 0;
}

static off_t fault_seek(struct backend *backend, struct split *split, off_t offset, int whence)
{
    off_t size = (off_t)medium_of(backend)->current.size;

    (void)split;
    if (offset >= size)
        return -ENXIO;
    return whence == SEEK_DATA ? offset : size;
}

static int fault_stat(struct backend *backend, struct split *split, struct stat *ret_attributes)
{
    (void)split;
    *ret_attributes = (struct stat){.st_mode = S_IFREG | 0644, .st_size = (off_t)medium_of(backend)->current.size};
    return 0;
}

static int fault_descriptor(struct backend *backend)
{
    (void)backend;
    return -EBADF;
}

static int fault_close(struct backend *backend, struct split *split)
{
    (void)split;
    free(backend);
    return 0;
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
