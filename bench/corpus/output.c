#include "corpus/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "corpus/catalog.h"
#include "corpus/sampler.h"
#include "util/cleanup.h"

/* Whole blocks, so that the sampler sees each block of a file at once. */
#define BUFFER_BYTES (8 * CORPUS_BLOCK_BYTES)

struct corpus_output {
    const struct corpus_config *config;
    int root;          /* the directory */
    bool made_root;    /* it was absent */
    char *failed_path; /* what the last error was about, with the directory */
    struct catalog files;
    struct catalog directories;
    struct corpus_result result;
    struct sampler samplers[CORPUS_MAX_SETS];
    int fd; /* the open file, which is the last of `files`; -1 when there is none */
    XXH3_state_t *hash;
    size_t used;
    uint8_t *buffer;
};

/* Notes which path an error is about and hands the error on. A lost path only makes the message
 * poorer. */
static int fail(struct corpus_output *output, const char *path, int error)
{
    free(output->failed_path);
    if (asprintf(&output->failed_path, "%s%s%s", output->config->directory, *path ? "/" : "",
                 path) < 0)
        output->failed_path = NULL;
    return error;
}

static int check_empty(int directory)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct dirent *entry;
    int r = 0;
    DIR *dir;

    if (fd < 0)
        return -errno;
    dir = fdopendir(fd);
    if (!dir) {
        r = -errno;
        close(fd);
        return r;
    }
    errno = 0;
    while (r == 0 && (entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = -ENOTEMPTY;
    if (r == 0 && errno)
        r = -errno;
    closedir(dir);
    return r;
}

/* The directory itself, empty and marked; fails with the path noted. */
static int open_root(struct corpus_output *output)
{
    const char *directory = output->config->directory;
    int fd;
    int r;

    if (mkdir(directory, 0777) == 0)
        output->made_root = true;
    else if (errno != EEXIST)
        return fail(output, "", -errno);
    output->root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->root < 0)
        return fail(output, "", -errno);
    r = check_empty(output->root);
    if (r < 0)
        return fail(output, "", r);
    fd =
        openat(output->root, CORPUS_INCOMPLETE_MARK, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(output, CORPUS_INCOMPLETE_MARK, -errno);
    close(fd);
    return 0;
}

int output_open(const struct corpus_config *config, struct corpus_output **ret_output,
                char **ret_failed_path)
{
    struct corpus_output *output = calloc(1, sizeof(*output));
    int r = -ENOMEM;

    if (!output)
        return -ENOMEM;
    output->config = config;
    output->root = -1;
    output->fd = -1;
    output->hash = XXH3_createState();
    output->buffer = malloc(BUFFER_BYTES);
    if (output->hash && output->buffer)
        r = open_root(output);
    if (r < 0) {
        *ret_failed_path = TAKE_POINTER(output->failed_path);
        if (output->made_root)
            rmdir(config->directory);
        output_free(output);
        return r;
    }
    *ret_output = output;
    return 0;
}

int output_begin_set(struct corpus_output *output, const char *name, uint64_t expected_bytes)
{
    unsigned int index = output->result.set_count;
    int r = sampler_init(&output->samplers[index], expected_bytes);

    if (r < 0)
        return r;
    output->result.sets[index] = (struct corpus_set){.name = name};
    output->result.set_count++;
    return 0;
}

int output_make_directory(struct corpus_output *output, const char *path)
{
    int r;

    if (mkdirat(output->root, path, 0777) < 0)
        return fail(output, path, -errno);
    r = catalog_add(&output->directories, path);
    if (r < 0)
        unlinkat(output->root, path, AT_REMOVEDIR);
    return r;
}

int output_begin_file(struct corpus_output *output, const char *path)
{
    int fd = openat(output->root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int r;

    if (fd < 0)
        return fail(output, path, -errno);
    r = catalog_add(&output->files, path);
    if (r < 0) {
        unlinkat(output->root, path, 0);
        close(fd);
        return r;
    }
    output->fd = fd;
    output->used = 0;
    XXH3_64bits_reset(output->hash);
    return 0;
}

static struct catalog_file *current_file(struct corpus_output *output)
{
    return &output->files.files[output->files.count - 1];
}

static int write_all(int fd, const uint8_t *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(fd, bytes, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        bytes += written;
        length -= (size_t)written;
    }
    return 0;
}

static int flush(struct corpus_output *output)
{
    const struct corpus_config *config = output->config;
    unsigned int set = output->result.set_count - 1;
    int r;

    if (output->used == 0)
        return 0;
    if (config->cancel && *config->cancel)
        return -ECANCELED;
    r = write_all(output->fd, output->buffer, output->used);
    if (r < 0)
        return fail(output, current_file(output)->path, r);
    XXH3_64bits_update(output->hash, output->buffer, output->used);
    r = sampler_add(&output->samplers[set], output->buffer, output->used);
    if (r < 0)
        return r;
    current_file(output)->bytes += output->used;
    output->result.sets[set].bytes += output->used;
    output->result.bytes += output->used;
    output->used = 0;
    if (config->progress)
        config->progress(config->progress_context, output->result.bytes, config->total_bytes);
    return 0;
}

int output_write(struct corpus_output *output, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;

    while (length) {
        size_t room = BUFFER_BYTES - output->used;
        size_t part = length < room ? length : room;

        memcpy(output->buffer + output->used, from, part);
        output->used += part;
        from += part;
        length -= part;
        if (output->used == BUFFER_BYTES) {
            int r = flush(output);

            if (r < 0)
                return r;
        }
    }
    return 0;
}

int output_end_file(struct corpus_output *output)
{
    int r = flush(output);

    if (r < 0)
        return r;
    if (close(take_fd(&output->fd)) < 0)
        return fail(output, current_file(output)->path, -errno);
    current_file(output)->hash = XXH3_64bits_digest(output->hash);
    output->result.sets[output->result.set_count - 1].files++;
    output->result.files++;
    return 0;
}

int output_finish(struct corpus_output *output, struct corpus_result *ret_result)
{
    int r;

    /* A file system that allocates late tells only now that it is full. */
    if (syncfs(output->root) < 0)
        return fail(output, "", -errno);
    for (unsigned int i = 0; i < output->result.set_count; i++)
        output->result.sets[i].ratios = sampler_ratios(&output->samplers[i]);
    r = catalog_digest(&output->files, &output->result.hash);
    if (r < 0)
        return r;
    if (unlinkat(output->root, CORPUS_INCOMPLETE_MARK, 0) < 0)
        return fail(output, CORPUS_INCOMPLETE_MARK, -errno);
    *ret_result = output->result;
    return 0;
}

void output_undo(struct corpus_output *output, char **ret_failed_path)
{
    for (size_t i = 0; i < output->files.count; i++)
        unlinkat(output->root, output->files.files[i].path, 0);
    for (size_t i = output->directories.count; i > 0; i--)
        unlinkat(output->root, output->directories.files[i - 1].path, AT_REMOVEDIR);
    unlinkat(output->root, CORPUS_INCOMPLETE_MARK, 0);
    if (output->made_root)
        rmdir(output->config->directory);
    *ret_failed_path = TAKE_POINTER(output->failed_path);
}

void output_free(struct corpus_output *output)
{
    cleanup_close(&output->fd);
    cleanup_close(&output->root);
    for (unsigned int i = 0; i < output->result.set_count; i++)
        sampler_free(&output->samplers[i]);
    catalog_free(&output->files);
    catalog_free(&output->directories);
    XXH3_freeState(output->hash);
    free(output->buffer);
    free(output->failed_path);
    free(output);
}
