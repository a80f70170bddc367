/* tallyctl file */
#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "ctl/command.h"
#include "ctl/lower.h"
#include "ctl/mount.h"
#include "util/cleanup.h"

/* What a file is stored as, as text: a mount answers in text, too. */
struct description {
    uint64_t logical_bytes;
    uint64_t stored_bytes;
    uint64_t chunks;
    double ratio;
    char codec[24];
};

static int get_number(const char *path, const char *name, uint64_t *ret_number)
{
    AUTO_FREE char *text = NULL;
    int r = mount_get(path, name, &text);

    if (r == 0)
        *ret_number = strtoull(text, NULL, 10);
    return r;
}

/* Asks the mount. -ENODATA: the file is on none. */
static int describe_mounted(const char *path, struct description *ret_description)
{
    struct description description = {0};
    AUTO_FREE char *codec = NULL, *ratio = NULL;
    struct statfs space;
    int r;

    /* Elsewhere such attributes are just what somebody wrote there. */
    if (statfs(path, &space) < 0)
        return -errno;
    if (space.f_type != FUSE_SUPER_MAGIC)
        return -ENODATA;
    r = get_number(path, "file.logical_bytes", &description.logical_bytes);
    if (r == 0)
        r = get_number(path, "file.stored_bytes", &description.stored_bytes);
    if (r == 0)
        r = get_number(path, "file.chunks", &description.chunks);
    if (r == 0)
        r = mount_get(path, "file.codec", &codec);
    if (r == 0)
        r = mount_get(path, "file.ratio", &ratio);
    if (r < 0)
        return r == -EOPNOTSUPP ? -ENODATA : r;
    snprintf(description.codec, sizeof(description.codec), "%s", codec);
    description.ratio = strtod(ratio, NULL);
    *ret_description = description;
    return 0;
}

static int describe_lower(const char *path, struct description *ret_description)
{
    AUTO_LOWER_FILE struct lower_file lower = LOWER_FILE_NONE;
    const struct tally_codec *codec;
    struct store_file_info info;
    int r = lower_file_open(path, false, &lower);

    if (r == 0)
        r = lower_file_info(&lower, &info);
    if (r < 0)
        return r;
    codec = lower.is_stored ? tally_codec_by_id(info.codec) : NULL;
    *ret_description = (struct description){
        .logical_bytes = info.logical_bytes,
        .stored_bytes = info.stored_bytes,
        .chunks = info.chunks,
        .ratio = info.live_bytes ? (double)info.data_bytes / (double)info.live_bytes : 1.0,
    };
    snprintf(ret_description->codec, sizeof(ret_description->codec), "%s",
             codec             ? codec->name
             : lower.is_stored ? "raw"
                               : "none");
    return 0;
}

static void print_row(const struct description *description, const char *path, bool first)
{
    if (first)
        printf("%15s %15s %7s %-6s %8s  %s\n", "logical bytes", "stored bytes", "ratio", "codec",
               "chunks", "file");
    printf("%15" PRIu64 " %15" PRIu64 " %7.3f %-6s %8" PRIu64 "  %s\n", description->logical_bytes,
           description->stored_bytes, description->ratio, description->codec, description->chunks,
           path);
}

int command_file(const struct options *options, const struct log *log)
{
    int status = EXIT_DONE;
    bool first = true;

    for (int i = 0; i < options->operand_count; i++) {
        const char *path = options->operands[i];
        struct description description;
        int r = describe_mounted(path, &description);

        if (r == -ENODATA)
            r = describe_lower(path, &description);
        if (r < 0) {
            fflush(stdout);
            log_error(log, "%s: %s", path,
                      r == -EINVAL ? "not a regular file" : strerrordesc_np(-r));
            status = EXIT_FAILED;
            continue;
        }
        print_row(&description, path, first);
        first = false;
    }
    return status;
}
