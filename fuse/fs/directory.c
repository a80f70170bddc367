/* Reading directories: the lower one's own records and offsets, handed on. */
#include <dirent.h>
#include <string.h>
#include <sys/syscall.h>

#include "fs/handlers.h"

#define RECORDS_BYTES 32768

/* An open directory. The kernel lets one reader at a time use it, but programs may share it between requests. */
struct directory {
    struct opened opened; /* first */
    pthread_mutex_t lock;
    int fd;
    off_t offset;         /* of the next record */
    size_t begin, filled; /* the part of `records` that is not consumed yet */
    _Alignas(struct dirent64) char records[RECORDS_BYTES];
};

static struct directory *directory_of(const struct fuse_file_info *fi)
{
    return (struct directory *)(uintptr_t)fi->fh;
}

static int directory_close(struct call *call, struct opened *opened)
{
    struct directory *directory = (struct directory *)opened;
    struct node *node = fs_node(call->fs, opened->ino);

    opened_remove(&call->fs->opened, opened, &node->ops);
    node->opens--;
    cleanup_close(&directory->fd);
    pthread_mutex_destroy(&directory->lock);
    free(directory);
    return 0;
}

int handle_opendir(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct directory *directory;
    int fd, r = fs_pin(call, ino, &pin);

    if (r < 0)
        return r;
    fd = inode_openat(call->fs->inodes, call->split, pin.fd, ".", O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return fd;
    directory = malloc(sizeof(*directory));
    if (!directory) {
        close(fd);
        return -ENOMEM;
    }
    directory->fd = fd;
    directory->offset = 0;
    directory->begin = directory->filled = 0;
    pthread_mutex_init(&directory->lock, NULL);
    directory->opened.ino = ino;
    directory->opened.close = directory_close;
    opened_add(&call->fs->opened, call, &directory->opened);
    pin.node->opens++;
    fi->fh = (uint64_t)(uintptr_t)directory;
    if (reply_open(call, fi) < 0)
        directory_close(call, &directory->opened);
    return 0;
}

int handle_releasedir(struct call *call, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct opened *opened = &directory_of(fi)->opened;

    (void)ino;
    call_for_opener(call, opened);
    directory_close(call, opened);
    reply_done(call);
    return 0;
}

int handle_fsyncdir(struct call *call, fuse_ino_t ino, int data_only, struct fuse_file_info *fi)
{
    int fd = directory_of(fi)->fd;
    int r = LOWER(call->split, data_only ? fdatasync(fd) : fsync(fd));

    (void)ino;
    if (r == 0)
        reply_done(call);
    return r;
}

static int directory_seek(struct call *call, struct directory *directory, off_t offset)
{
    off_t r;

    if (offset == directory->offset)
        return 0;
    r = LOWER(call->split, lseek(directory->fd, offset, SEEK_SET));
    if (r < 0)
        return (int)r;
    directory->offset = offset;
    directory->begin = directory->filled = 0;
    return 0;
}

/* The next record without consuming it. 1, 0 at the end, or -errno. */
static int directory_peek(struct call *call, struct directory *directory, const struct dirent64 **ret_record)
{
    if (directory->begin == directory->filled) {
        long filled = LOWER(call->split, syscall(SYS_getdents64, directory->fd, directory->records,
                                                 sizeof(directory->records)));

        if (filled <= 0)
            return (int)filled;
        directory->begin = 0;
        directory->filled = (size_t)filled;
    }
    *ret_record = (const struct dirent64 *)(const void *)&directory->records[directory->begin];
    return 1;
}

static void directory_consume(struct directory *directory, const struct dirent64 *record)
{
    directory->offset = record->d_off;
    directory->begin += record->d_reclen;
}

static bool is_dot_or_dot_dot(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* What is known of a record without looking it up. */
static void describe(const struct pin *pin, const struct dirent64 *record, struct fuse_entry_param *ret_entry)
{
    *ret_entry = (struct fuse_entry_param){
        .attr.st_ino = inode_number(pin->node->device, record->d_ino),
        .attr.st_mode = DTTOIF(record->d_type),
    };
}

struct listing {
    char *data;
    size_t size, used;
    bool plus;
};

/* Bytes that the record takes; it was added where they are no more than what is left. */
static size_t listing_put(struct call *call, struct listing *listing, const struct dirent64 *record,
                          const struct fuse_entry_param *entry)
{
    char *to = listing->data + listing->used;
    size_t left = listing->size - listing->used;

    if (listing->plus)
        return fuse_add_direntry_plus(call->req, to, left, record->d_name, entry, record->d_off);
    return fuse_add_direntry(call->req, to, left, record->d_name, &entry->attr, record->d_off);
}

/* 1 when the record was added, 0 when it does not fit. */
static int listing_add(struct call *call, struct listing *listing, const struct pin *pin,
                       const struct dirent64 *record)
{
    struct fuse_entry_param entry;
    bool looked_up = false;
    size_t needed;

    describe(pin, record, &entry);
    /* The kernel counts a lookup for each entry that it gets, so look up only what is sure to fit. */
    needed = listing->plus ? fuse_add_direntry_plus(call->req, NULL, 0, record->d_name, NULL, 0)
                           : fuse_add_direntry(call->req, NULL, 0, record->d_name, NULL, 0);
    if (needed > listing->size - listing->used)
        return 0;
    if (listing->plus && !is_dot_or_dot_dot(record->d_name)) {
        int r = lookup_child(call, pin, record->d_name, &entry);

        if (r == -ENOENT)
            return 1;
        looked_up = r == 0;
    }
    needed = listing_put(call, listing, record, &entry);
    if (needed > listing->size - listing->used) {
        if (looked_up)
            lookup_undo(call, &entry);
        return 0;
    }
    listing->used += needed;
    return 1;
}

static int list(struct call *call, struct directory *directory, const struct pin *pin, fuse_ino_t ino, off_t offset,
                struct listing *listing)
{
    const struct dirent64 *record;
    int r = directory_seek(call, directory, offset);

    while (r == 0 && (r = directory_peek(call, directory, &record)) > 0) {
        if (!fs_is_control(call->fs, ino, record->d_name) && !listing_add(call, listing, pin, record))
            return 0;
        directory_consume(directory, record);
        r = 0;
    }
    /* What was collected before an error is given first; the error comes again with the next call. */
    return listing->used > 0 ? 0 : r;
}

static int read_directory(struct call *call, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi,
                          bool plus)
{
    struct directory *directory = directory_of(fi);
    AUTO_FREE char *data = malloc(size);
    struct listing listing = {.data = data, .size = size, .plus = plus};
    AUTO_UNPIN struct pin pin = PIN_INIT;
    int r;

    if (!data)
        return -ENOMEM;
    r = fs_pin(call, ino, &pin);
    if (r < 0)
        return r;
    pthread_mutex_lock(&directory->lock);
    r = list(call, directory, &pin, ino, offset, &listing);
    pthread_mutex_unlock(&directory->lock);
    if (r < 0)
        return r;
    reply_data(call, data, listing.used);
    return 0;
}

int handle_readdir(struct call *call, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    return read_directory(call, ino, size, offset, fi, false);
}

int handle_readdirplus(struct call *call, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    return read_directory(call, ino, size, offset, fi, true);
}
