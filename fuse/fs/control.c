#include "fs/control.h"

#include <inttypes.h>
#include <string.h>

#include "fs/gauges.h"
#include "fs/handlers.h"
#include "fs/policy.h"
#include "fs/report.h"
#include "fs/slow.h"
#include "stats/stats.h"
#include "store/store.h"
#include "util/parse.h"

void control_attributes(const struct fs *fs, struct stat *ret_attributes)
{
    *ret_attributes = (struct stat){
        .st_ino = CONTROL_INO,
        .st_mode = S_IFREG | 0644,
        .st_nlink = 1,
        .st_uid = fs->owner,
        .st_gid = fs->group,
        .st_blksize = 4096,
        .st_atim = fs->began,
        .st_mtim = fs->began,
        .st_ctim = fs->began,
    };
}

void control_entry(const struct fs *fs, struct fuse_entry_param *ret_entry)
{
    *ret_entry = (struct fuse_entry_param){
        .ino = CONTROL_INO,
        .attr_timeout = fs->attr_timeout_s,
        .entry_timeout = fs->entry_timeout_s,
    };
    control_attributes(fs, &ret_entry->attr);
}

bool control_owns(const char *name)
{
    return strncmp(name, TALLY_XATTR_PREFIX, strlen(TALLY_XATTR_PREFIX)) == 0;
}

/* The part after the prefix. */
static const char *short_name(const char *name)
{
    return name + strlen(TALLY_XATTR_PREFIX);
}

static bool is_of_mount(fuse_ino_t ino)
{
    return ino == CONTROL_INO || ino == FUSE_ROOT_ID;
}

/* What is said of the mount, apart from counters. */
struct mount_attribute {
    const char *name;
    void (*put)(const struct fs *fs, struct strbuf *value);
};

static void put_version(const struct fs *fs, struct strbuf *value)
{
    (void)fs;
    strbuf_puts(value, TALLY_VERSION);
}

static void put_options(const struct fs *fs, struct strbuf *value)
{
    strbuf_puts(value, fs->options);
}

static void put_lower(const struct fs *fs, struct strbuf *value)
{
    strbuf_puts(value, fs->lower);
}

static void put_compress(const struct fs *fs, struct strbuf *value)
{
    char text[TALLY_CODEC_TEXT_BYTES];

    tally_codec_format(&fs->compress, text);
    strbuf_puts(value, text);
}

static void put_slow_ms(const struct fs *fs, struct strbuf *value)
{
    strbuf_printf(value, "%" PRIu64, fs->slow_ns / NS_PER_MS);
}

static const struct mount_attribute mount_attributes[] = {
    {"version", put_version},
    {"options", put_options},
    {"lower", put_lower},
    {"compress", put_compress},
    {"slow_ms", put_slow_ms},
};

#define MOUNT_ATTRIBUTE_COUNT (sizeof(mount_attributes) / sizeof(mount_attributes[0]))

static int get_of_mount(struct call *call, const char *name, struct strbuf *value)
{
    const struct fs *fs = call->fs;
    const struct stats_head head = {
        .version = TALLY_VERSION,
        .lower = fs->lower,
        .options = fs->options,
        .read_gauges = gauges_read,
        .user = call->fs,
    };
    int r;

    for (size_t i = 0; i < MOUNT_ATTRIBUTE_COUNT; i++) {
        if (strcmp(name, mount_attributes[i].name) == 0) {
            mount_attributes[i].put(fs, value);
            return 0;
        }
    }
    r = report_get(call, name, value);
    if (r == -ENODATA && fs->stats)
        r = stats_render(fs->stats, &head, name, value);
    return r;
}

/* What is said of a regular file. A plain one is its own container. */
struct file_attribute {
    const char *name;
    void (*put)(const struct store_file_info *info, const char *codec, struct strbuf *value);
};

static void put_logical_bytes(const struct store_file_info *info, const char *codec, struct strbuf *value)
{
    (void)codec;
    strbuf_printf(value, "%" PRIu64, info->logical_bytes);
}

static void put_stored_bytes(const struct store_file_info *info, const char *codec, struct strbuf *value)
{
    (void)codec;
    strbuf_printf(value, "%" PRIu64, info->stored_bytes);
}

static void put_codec(const struct store_file_info *info, const char *codec, struct strbuf *value)
{
    (void)info;
    strbuf_puts(value, codec);
}

/* How many times the data would fill the space it takes; holes take none, so that they count on neither side. */
static void put_ratio(const struct store_file_info *info, const char *codec, struct strbuf *value)
{
    (void)codec;
    strbuf_printf(value, "%.3f", info->live_bytes ? (double)info->data_bytes / (double)info->live_bytes : 1.0);
}

static void put_chunks(const struct store_file_info *info, const char *codec, struct strbuf *value)
{
    (void)codec;
    strbuf_printf(value, "%" PRIu64, info->chunks);
}

static const struct file_attribute file_attributes[] = {
    {"file.logical_bytes", put_logical_bytes},
    {"file.stored_bytes", put_stored_bytes},
    {"file.codec", put_codec},
    {"file.ratio", put_ratio},
    {"file.chunks", put_chunks},
};

static const struct file_attribute *find_file_attribute(const char *name)
{
    for (size_t i = 0; i < sizeof(file_attributes) / sizeof(file_attributes[0]); i++) {
        if (strcmp(name, file_attributes[i].name) == 0)
            return &file_attributes[i];
    }
    return NULL;
}

static int describe_plain(struct call *call, const struct pin *pin, struct store_file_info *ret_info)
{
    struct stat attributes;
    int r = attributes_get(call, pin->node, pin->fd, &attributes);

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

static int get_of_file(struct call *call, fuse_ino_t ino, const struct file_attribute *attribute, struct strbuf *value)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct store_file_info info;
    const char *codec_name = "none";
    int r = fs_pin(call, ino, &pin);

    if (r < 0)
        return r;
    if (!S_ISREG(pin.node->type))
        return -ENODATA;
    r = content_info(call, &pin, &info);
    if (r == 0) {
        const struct tally_codec *codec = tally_codec_by_id(info.codec);

        codec_name = codec ? codec->name : "raw";
    } else if (r == -ENODATA) {
        r = describe_plain(call, &pin, &info);
    }
    if (r == 0)
        attribute->put(&info, codec_name, value);
    return r;
}

/* What was done with an inode since it came into memory; as for counters, there is nothing with stats=off. */
static int get_file_ops(struct call *call, fuse_ino_t ino, struct strbuf *value)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    struct node_ops ops;
    int r = fs_pin(call, ino, &pin);

    if (r < 0 || !call->fs->stats)
        return r < 0 ? r : -ENODATA;
    opened_ops(&call->fs->opened, ino, &pin.node->ops, &ops);
    strbuf_printf(value,
                  "{\"count\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"total_ns\":%" PRIu64
                  ",\"lower_ns\":%" PRIu64 ",\"codec_ns\":%" PRIu64 ",\"wait_ns\":%" PRIu64 "}\n",
                  ops.count, ops.errors, ops.bytes, ops.total_ns, ops.lower_ns, ops.codec_ns, ops.wait_ns);
    return 0;
}

/* A directory's or file's own codec is writable; the mount's, on the control file, is not. */
static bool is_policy(fuse_ino_t ino, const char *name)
{
    return ino != CONTROL_INO && strcmp(short_name(name), POLICY_NAME) == 0;
}

static int get_policy(struct call *call, fuse_ino_t ino, struct strbuf *value)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    char text[TALLY_CODEC_TEXT_BYTES];
    struct tally_codec_choice choice;
    int r = fs_pin(call, ino, &pin);

    if (r < 0)
        return r;
    if (policy_own(call, pin.node, pin.fd, &choice)) {
        tally_codec_format(&choice, text);
        strbuf_puts(value, text);
    } else if (ino == FUSE_ROOT_ID) {
        put_compress(call->fs, value);
    } else {
        r = -ENODATA;
    }
    return r;
}

int control_get(struct call *call, fuse_ino_t ino, const char *name, struct strbuf *value)
{
    const char *rest = short_name(name);
    const struct file_attribute *attribute = find_file_attribute(rest);
    int r = -ENODATA;

    if (is_policy(ino, name))
        r = get_policy(call, ino, value);
    else if (strcmp(rest, "file.ops") == 0 && ino != CONTROL_INO)
        r = get_file_ops(call, ino, value);
    else if (attribute && ino != CONTROL_INO)
        r = get_of_file(call, ino, attribute, value);
    else if (is_of_mount(ino))
        r = get_of_mount(call, rest, value);
    return r == 0 && value->failed ? -ENOMEM : r;
}

static int reset(struct call *call, const char *value, size_t size)
{
    (void)value;
    (void)size;
    if (!call->fs->stats)
        return -ENODATA;
    stats_reset(call->fs->stats);
    slow_log_clear(call->fs->slow);
    gauges_reset(call->fs);
    return 0;
}

static int sync_all(struct call *call, const char *value, size_t size)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    AUTO_CLOSE int fd = -1;
    int r = store_drain(call->fs->store, call->split);

    (void)value;
    (void)size;
    if (r == 0)
        r = fs_pin(call, FUSE_ROOT_ID, &pin);
    if (r < 0)
        return r;
    fd = inode_reopen(call->fs->inodes, call->split, pin.fd, O_RDONLY | O_DIRECTORY);
    return fd < 0 ? fd : LOWER(call->split, syncfs(fd));
}

static int set_slow_ms(struct call *call, const char *value, size_t size)
{
    AUTO_FREE char *text = strndup(value, size);
    int64_t ms;
    int r;

    if (!call->fs->stats)
        return -ENODATA;
    if (!text)
        return -ENOMEM;
    r = parse_integer(text, 0, FS_SLOW_MAX_MS, &ms);
    if (r < 0) {
        log_error(call->fs->log, "user.tallyfs.slow_ms: expected milliseconds from 0, which is none, to %d",
                  FS_SLOW_MAX_MS);
        return -EINVAL;
    }
    call->fs->slow_ns = (uint64_t)ms * NS_PER_MS;
    return 0;
}

/* What the owner and root may write. The value has `size` bytes and no NUL. */
struct command {
    const char *name;
    int (*run)(struct call *call, const char *value, size_t size);
};

static const struct command commands[] = {
    {"cmd.reset", reset},
    {"cmd.sync", sync_all},
    {"slow_ms", set_slow_ms},
};

/* What to say of writing an attribute that is no command. */
static int refuse(struct call *call, fuse_ino_t ino, const char *name)
{
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    int r = control_get(call, ino, name, &value);

    return r == 0 ? -EPERM : r;
}

int control_set(struct call *call, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;

    if (is_policy(ino, name)) {
        int r = fs_pin(call, ino, &pin);

        return r < 0 ? r : policy_set(call, &pin, value, size, flags);
    }
    for (size_t i = 0; is_of_mount(ino) && i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(short_name(name), commands[i].name) == 0)
            return report_for_all(call) ? commands[i].run(call, value, size) : -EPERM;
    }
    return refuse(call, ino, name);
}

int control_remove(struct call *call, fuse_ino_t ino, const char *name)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;

    if (is_policy(ino, name)) {
        int r = fs_pin(call, ino, &pin);

        return r < 0 ? r : policy_remove(call, &pin);
    }
    return refuse(call, ino, name);
}

static void add_name(void *user, const char *name)
{
    struct strbuf *names = user;

    strbuf_puts(names, TALLY_XATTR_PREFIX);
    strbuf_add(names, name, strlen(name) + 1);
}

void control_list(const struct call *call, struct strbuf *names)
{
    for (size_t i = 0; i < MOUNT_ATTRIBUTE_COUNT; i++)
        add_name(names, mount_attributes[i].name);
    report_names(call, add_name, names);
    if (call->fs->stats)
        stats_names(add_name, names);
}
