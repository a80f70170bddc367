#include "argument.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "data.h"

#define A16 "aaaaaaaaaaaaaaaa"
#define A240 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16 A16
#define GIB (1024LL * 1024 * 1024)

/* Few names, so that calls meet each other's files. */
static const struct {
    const char *label, *path;
    unsigned weight;
} paths[] = {
    {"a", "a", 12},
    {"b", "b", 12},
    {"c", "c", 8},
    {"d", "d", 8},
    {"e", "e", 5},
    {"f", "f", 5},
    {"g", "g", 3},
    {"d/a", "d/a", 6},
    {"d/b", "d/b", 5},
    {"d/e", "d/e", 4},
    {"d/e/a", "d/e/a", 3},
    {"e/a", "e/a", 3},
    {"../o/a", "../o/a", 3},
    {"../o/b", "../o/b", 3},
    {"shared/a", "shared/a", 5},
    {"shared/b", "shared/b", 3},
    {"shared", "shared/", 0},
    {"d/..", "d/..", 1},
    {"d/../a", "d/../a", 1},
    {"..", "..", 1},
    {".", ".", 1},
    {"a/", "a/", 1},
    {"d/", "d/", 1},
    {"a/x", "a/x", 1},
    {"missing/x", "missing/x", 1},
    {"EMPTY", "", 1},
    {"NAME255", A240 "aaaaaaaaaaaaaaa", 1},
    {"NAME256", A240 A16, 1},
    {"CONTROL", ".tallyfs", 1},
    {"BYTES", "d/\xff\x01\xc3\xa4", 1},
};

static const char *const xattrs[] = {
    "user.a",
    "user.b",
    "user." A16 A16 A16,
    "user." A240 "aaaaaaaaaa", /* 255 bytes */
    "user." A240 "aaaaaaaaaaa",
    "user.",
    "trusted.a",
    "security.a",
    "security.capability",
    "system.posix_acl_access",
    "system.posix_acl_default",
    "system.a",
    "nothing",
};

static const struct {
    const char *label;
    struct timespec time;
} times[] = {
    {"NOW", {0, UTIME_NOW}},
    {"OMIT", {0, UTIME_OMIT}},
    {"0", {0, 0}},
    {"0.000000001", {0, 1}},
    {"1000000000.123456789", {1000000000, 123456789}},
    {"1577880000.5", {1577880000, 500000000}},
    {"2147483647.999999999", {2147483647, 999999999}},
    {"2147483648", {2147483648, 0}},
    {"4294967296.1", {4294967296, 100000000}},
    {"-1", {-1, 0}},
    {"INVALID", {1000000000, 1000000000}},
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* Names of values. A row that shares bits with an earlier one stands before it. */
struct name {
    const char *name;
    int64_t value;
    unsigned weight; /* a percentage in a set, relative in a choice */
};

#define NAME(value, weight)                                                                        \
    {                                                                                              \
#value, value, weight                                                                      \
    }

static const struct name open_flags[] = {
    NAME(O_TMPFILE, 0),  NAME(O_SYNC, 2),    NAME(O_CREAT, 70),    NAME(O_EXCL, 5),
    NAME(O_TRUNC, 15),   NAME(O_APPEND, 15), NAME(O_DIRECTORY, 4), NAME(O_NOFOLLOW, 6),
    NAME(O_PATH, 3),     NAME(O_DIRECT, 6),  NAME(O_NOATIME, 2),   NAME(O_DSYNC, 2),
    NAME(O_NONBLOCK, 1), NAME(O_RDWR, 0),    NAME(O_WRONLY, 0),
};
static const struct name status_flags[] = {NAME(O_APPEND, 40), NAME(O_DIRECT, 20),
                                           NAME(O_NOATIME, 5)};
static const struct name rwf[] = {NAME(RWF_APPEND, 60), NAME(RWF_DSYNC, 15), NAME(RWF_SYNC, 10)};
static const struct name whences[] = {
    NAME(SEEK_SET, 4),  NAME(SEEK_CUR, 1),  NAME(SEEK_END, 1),
    NAME(SEEK_DATA, 5), NAME(SEEK_HOLE, 5), {"INVALID", 77, 1},
};
static const struct name fallocate_modes[] = {
    {"ALLOCATE", 0, 5},
    {"KEEP_SIZE", FALLOC_FL_KEEP_SIZE, 4},
    {"PUNCH", FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 12},
    {"ZERO", FALLOC_FL_ZERO_RANGE, 5},
    {"ZERO_KEEP_SIZE", FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 5},
    {"COLLAPSE", FALLOC_FL_COLLAPSE_RANGE, 3},
    {"INSERT", FALLOC_FL_INSERT_RANGE, 3},
    {"UNSHARE", FALLOC_FL_UNSHARE_RANGE, 1},
    {"PUNCH_ALONE", FALLOC_FL_PUNCH_HOLE, 1},
    {"INVALID", 0x4000, 1},
};
static const struct name protections[] = {
    {"READ", PROT_READ, 2},
    {"READ_WRITE", PROT_READ | PROT_WRITE, 6},
    {"PRIVATE", PROT_READ | PROT_WRITE | PROTECTION_PRIVATE, 1}};
static const struct name msync_flags[] = {NAME(MS_SYNC, 5), NAME(MS_ASYNC, 1),
                                          NAME(MS_INVALIDATE, 1)};
static const struct name rename_flags[] = {
    {"0", 0, 1},
    {"NOREPLACE", RENAME_NOREPLACE, 4},
    {"EXCHANGE", RENAME_EXCHANGE, 5},
    {"WHITEOUT", RENAME_WHITEOUT, 2},
    {"NOREPLACE_WHITEOUT", RENAME_NOREPLACE | RENAME_WHITEOUT, 1},
    {"INVALID", RENAME_NOREPLACE | RENAME_EXCHANGE, 1},
};
static const struct name follows[] = {{"yes", 1, 2}, {"no", 0, 1}};
static const struct name node_types[] = {
    {"fifo", S_IFIFO, 4}, {"socket", S_IFSOCK, 2}, {"whiteout", S_IFCHR, 2},
    {"file", S_IFREG, 3}, {"none", 0, 1},          {"directory", S_IFDIR, 1},
};
static const struct name accesses[] = {{"EXISTS", F_OK, 1},
                                       {"READ", R_OK, 2},
                                       {"WRITE", W_OK, 2},
                                       {"EXECUTE", X_OK, 2},
                                       {"ALL", R_OK | W_OK | X_OK, 1}};
static const struct name owners[] = {
    {"keep", -1, 3}, {"0", 0, 2}, {"1000", 1000, 3}, {"1001", 1001, 2}, {"65534", 65534, 1}};
static const struct name users[] = {{"0", 0, 12}, {"1000", 1000, 3}, {"1001", 1001, 1}};
static const struct name xattr_flags[] = {
    {"0", 0, 6}, {"CREATE", XATTR_CREATE, 1}, {"REPLACE", XATTR_REPLACE, 1}, {"INVALID", 0x40, 1}};
static const struct name inode_flags[] = {NAME(FS_NODUMP_FL, 40), NAME(FS_NOATIME_FL, 20),
                                          NAME(FS_SYNC_FL, 5), NAME(FS_APPEND_FL, 0),
                                          NAME(FS_IMMUTABLE_FL, 0)};
static const struct name flocks[] = {
    NAME(LOCK_SH, 3), NAME(LOCK_EX, 3), NAME(LOCK_UN, 2), {"INVALID", 0x33, 1}};
static const struct name lock_commands[] = {NAME(F_SETLK, 3), NAME(F_GETLK, 2),
                                            NAME(F_OFD_SETLK, 5), NAME(F_OFD_GETLK, 3)};
static const struct name lock_types[] = {NAME(F_RDLCK, 3), NAME(F_WRLCK, 4), NAME(F_UNLCK, 2)};

/* Kinds that are a table of names. */
static const struct table {
    enum argument_kind kind;
    bool is_set; /* else one of the rows */
    const struct name *names;
    size_t count;
} tables[] = {
#define SET(kind, names)                                                                           \
    {                                                                                              \
        ARGUMENT_##kind, true, names, ROWS(names)                                                  \
    }
#define CHOICE(kind, names)                                                                        \
    {                                                                                              \
        ARGUMENT_##kind, false, names, ROWS(names)                                                 \
    }
    SET(OPEN_FLAGS, open_flags),
    SET(TMPFILE_FLAGS, open_flags),
    SET(STATUS_FLAGS, status_flags),
    SET(RWF, rwf),
    SET(INODE_FLAGS, inode_flags),
    CHOICE(WHENCE, whences),
    CHOICE(FALLOCATE_MODE, fallocate_modes),
    CHOICE(PROTECTION, protections),
    CHOICE(MSYNC_FLAGS, msync_flags),
    CHOICE(RENAME_FLAGS, rename_flags),
    CHOICE(FOLLOW, follows),
    CHOICE(NODE_TYPE, node_types),
    CHOICE(ACCESS, accesses),
    CHOICE(OWNER, owners),
    CHOICE(USER, users),
    CHOICE(XATTR_FLAGS, xattr_flags),
    CHOICE(FLOCK, flocks),
    CHOICE(LOCK_COMMAND, lock_commands),
    CHOICE(LOCK_TYPE, lock_types),
};

static const struct table *table_of(enum argument_kind kind)
{
    for (size_t i = 0; i < ROWS(tables); i++) {
        if (tables[i].kind == kind)
            return &tables[i];
    }
    return NULL;
}

const char *argument_path(int64_t index)
{
    return paths[index].path;
}

const char *argument_xattr(int64_t index)
{
    return xattrs[index];
}

struct timespec argument_time(int64_t index)
{
    return times[index].time;
}

static int64_t draw_from(const struct table *table, struct random *random)
{
    unsigned sum = 0, drawn;
    int64_t set = 0;

    if (table->is_set) {
        for (size_t i = 0; i < table->count; i++) {
            if (random_chance(random, table->names[i].weight))
                set |= table->names[i].value;
        }
        return set;
    }
    for (size_t i = 0; i < table->count; i++)
        sum += table->names[i].weight;
    drawn = random_below(random, sum);
    for (size_t i = 0;; i++) {
        if (drawn < table->names[i].weight)
            return table->names[i].value;
        drawn -= table->names[i].weight;
    }
}

static int64_t draw_path(struct random *random)
{
    unsigned sum = 0, drawn;

    for (size_t i = 0; i < ROWS(paths); i++)
        sum += paths[i].weight;
    drawn = random_below(random, sum);
    for (int64_t i = 0;; i++) {
        if (drawn < paths[i].weight)
            return i;
        drawn -= paths[i].weight;
    }
}

static int64_t draw_access_mode(struct random *random)
{
    static const int modes[] = {O_RDONLY, O_RDONLY, O_RDONLY, O_WRONLY, O_WRONLY,
                                O_RDWR,   O_RDWR,   O_RDWR,   O_RDWR};

    return random_chance(random, 1) ? O_ACCMODE : modes[random_below(random, ROWS(modes))];
}

static int64_t draw_slot(struct random *random, unsigned used, unsigned count)
{
    unsigned slot = random_below(random, count);

    for (unsigned i = 0; i < count && used && !(used & 1u << slot) && !random_chance(random, 2);
         i++)
        slot = (slot + 1) % count;
    return slot;
}

/* Boundaries at which sectors, pages, and chunks of every size begin. */
static int64_t draw_boundary(struct random *random)
{
    static const int64_t boundaries[] = {0,     0,     0,     16,     512,    4096,  8192,
                                         16384, 32768, 65536, 131072, 196608, 262144};

    return boundaries[random_below(random, ROWS(boundaries))] + (int64_t)random_below(random, 3) -
           1;
}

static int64_t draw_offset(struct random *random)
{
    /*
     * Nothing beyond what every file system can hold: ext4 has EFBIG from 16 TiB on, but FUSE tells the kernel no such
     * limit, and a compressed file has none of its own.
     */
    static const int64_t far[] = {4 * GIB - 1, 4 * GIB,   5 * GIB + 12345, 2 * GIB - 1,
                                  -1,          INT64_MIN, 15 * 1024 * GIB};
    unsigned kind = random_below(random, 100);
    int64_t boundary;

    if (kind < 3)
        return far[random_below(random, random_chance(random, 60) ? 4 : ROWS(far))];
    if (kind < 35)
        return random_below(random, kind < 20 ? 20000 : 300000);
    boundary = draw_boundary(random);
    return boundary < 0 ? 0 : boundary;
}

static int64_t draw_length(struct random *random)
{
    int64_t boundary;

    if (random_chance(random, 30))
        return random_below(random, random_chance(random, 70) ? 10000 : LENGTH_MAX);
    boundary = draw_boundary(random);
    return boundary < 0 ? 0 : boundary;
}

static int64_t draw_value_length(struct random *random)
{
    static const int64_t lengths[] = {0, 1, 16, 64, 300, 1000, 3000};

    return random_chance(random, 15) ? draw_length(random)
                                     : lengths[random_below(random, ROWS(lengths))];
}

static int64_t draw_mode(struct random *random)
{
    static const unsigned modes[] = {0644,  0666,  0666, 0666, 0777,  0777,   0777,  0755,
                                     0755,  0600,  0700, 0400, 0000,  06755,  06777, 04755,
                                     02775, 02664, 0200, 0111, 01777, 0170777};

    return modes[random_below(random, ROWS(modes))];
}

static int64_t draw_data(struct random *random)
{
    static const unsigned char kinds[] = {DATA_ZERO,   DATA_BYTE,   DATA_TEXT, DATA_TEXT,
                                          DATA_RANDOM, DATA_RANDOM, DATA_MIXED};

    return data_make(kinds[random_below(random, ROWS(kinds))], random_below(random, 1000));
}

int64_t argument_draw(enum argument_kind kind, struct drawing *drawing)
{
    struct random *random = &drawing->random;
    const struct table *table;
    int64_t drawn;

    switch (kind) {
    case ARGUMENT_SLOT:
        return draw_slot(random, drawing->slots, SLOTS);
    case ARGUMENT_MAP:
        return draw_slot(random, drawing->maps, MAPS);
    case ARGUMENT_NEW_SLOT:
        drawn = random_below(random, SLOTS);
        drawing->slots |= 1u << drawn;
        return drawn;
    case ARGUMENT_NEW_MAP:
        drawn = random_below(random, MAPS);
        drawing->maps |= 1u << drawn;
        return drawn;
    case ARGUMENT_OFFSET:
        return draw_offset(random);
    case ARGUMENT_LENGTH:
        return draw_length(random);
    case ARGUMENT_VALUE_LENGTH:
        return draw_value_length(random);
    case ARGUMENT_COUNT:
        return random_below(random, 12);
    case ARGUMENT_MODE:
        return draw_mode(random);
    case ARGUMENT_UMASK:
        return random_chance(random, 50) ? 022 : random_below(random, 0100);
    case ARGUMENT_PATH:
    case ARGUMENT_TARGET:
        return draw_path(random);
    case ARGUMENT_LISTED:
        if (random_chance(random, 20) && argument_parse(ARGUMENT_LISTED, "shared", &drawn) == 0)
            return drawn;
        return draw_path(random);
    case ARGUMENT_XATTR:
        return random_below(random, random_chance(random, 60) ? 3 : ROWS(xattrs));
    case ARGUMENT_TIME:
        return random_below(random, ROWS(times));
    case ARGUMENT_DATA:
        return draw_data(random);
    case ARGUMENT_OPEN_FLAGS:
        return draw_access_mode(random) | draw_from(table_of(kind), random);
    case ARGUMENT_TMPFILE_FLAGS:
        return O_TMPFILE | O_RDWR |
               (draw_from(table_of(kind), random) & (O_EXCL | O_APPEND | O_DIRECT));
    default:
        table = table_of(kind);
        return table ? draw_from(table, random) : 0;
    }
}

static void print_from(const struct table *table, int64_t value, struct strbuf *to)
{
    const char *separator = "";
    int64_t rest = value;

    for (size_t i = 0; i < table->count; i++) {
        const struct name *name = &table->names[i];

        if (table->is_set ? (rest & name->value) == name->value : value == name->value) {
            strbuf_printf(to, "%s%s", separator, name->name);
            separator = "|";
            rest &= table->is_set ? ~name->value : 0;
            if (!table->is_set)
                return;
        }
    }
    if (rest || separator[0] == '\0')
        strbuf_printf(to, "%s%#llx", separator, (unsigned long long)rest);
}

void argument_print(enum argument_kind kind, int64_t value, struct strbuf *to)
{
    switch (kind) {
    case ARGUMENT_MODE:
    case ARGUMENT_UMASK:
        strbuf_printf(to, "%#llo", (unsigned long long)value);
        break;
    case ARGUMENT_PATH:
    case ARGUMENT_LISTED:
    case ARGUMENT_TARGET:
        strbuf_puts(to, paths[value].label);
        break;
    case ARGUMENT_XATTR:
        strbuf_puts(to, xattrs[value]);
        break;
    case ARGUMENT_TIME:
        strbuf_puts(to, times[value].label);
        break;
    case ARGUMENT_DATA:
        data_print(value, to);
        break;
    default:
        if (table_of(kind))
            print_from(table_of(kind), value, to);
        else
            strbuf_printf(to, "%lld", (long long)value);
    }
}

static int parse_number(const char *text, int64_t *ret_value)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 0);
    if (errno || end == text || *end)
        return -EINVAL;
    *ret_value = value;
    return 0;
}

static int parse_from(const struct table *table, const char *text, int64_t *ret_value)
{
    int64_t set = 0;

    while (*text) {
        size_t length = strcspn(text, "|"), i = 0;
        char word[64];

        if (length >= sizeof(word))
            return -EINVAL;
        memcpy(word, text, length);
        word[length] = '\0';
        while (i < table->count && strcmp(table->names[i].name, word) != 0)
            i++;
        if (i < table->count) {
            set |= table->names[i].value;
        } else {
            int64_t number;

            if (parse_number(word, &number) < 0)
                return -EINVAL;
            set |= number;
        }
        text += length + (text[length] == '|');
    }
    *ret_value = set;
    return 0;
}

#define PARSE_LABEL(table, field)                                                                  \
    for (size_t i = 0; i < ROWS(table); i++) {                                                     \
        if (strcmp((table)[i] field, text) == 0) {                                                 \
            *ret_value = (int64_t)i;                                                               \
            found = 0;                                                                             \
        }                                                                                          \
    }

int argument_parse(enum argument_kind kind, const char *text, int64_t *ret_value)
{
    int found = -EINVAL;

    switch (kind) {
    case ARGUMENT_PATH:
    case ARGUMENT_LISTED:
    case ARGUMENT_TARGET:
        PARSE_LABEL(paths, .label)
        return found;
    case ARGUMENT_XATTR:
        PARSE_LABEL(xattrs, )
        return found;
    case ARGUMENT_TIME:
        PARSE_LABEL(times, .label)
        return found;
    case ARGUMENT_DATA:
        return data_parse(text, ret_value);
    case ARGUMENT_SLOT:
    case ARGUMENT_NEW_SLOT:
    case ARGUMENT_MAP:
    case ARGUMENT_NEW_MAP:
        found = parse_number(text, ret_value);
        return found < 0 || *ret_value < 0 || *ret_value >= (kind < ARGUMENT_MAP ? SLOTS : MAPS)
                   ? -EINVAL
                   : 0;
    default:
        return table_of(kind) ? parse_from(table_of(kind), text, ret_value)
                              : parse_number(text, ret_value);
    }
}
