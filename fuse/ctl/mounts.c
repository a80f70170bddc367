#include "ctl/mounts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "ctl/options.h"
#include "util/cleanup.h"

#define MOUNT_TYPE "fuse.tallyfs"

/* mountinfo writes blanks and backslashes as \ooo. */
static void unescape(char *text)
{
    char *out = text;

    for (const char *at = text; *at; out++) {
        if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
            at[3] >= '0' && at[3] <= '7') {
            *out = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
            at += 4;
        } else {
            *out = *at++;
        }
    }
    *out = '\0';
}

/* Whether `inner` is `outer` or lies below it. Both absolute, without "." and "..". */
static bool is_within(const char *inner, const char *outer)
{
    size_t length = strcmp(outer, "/") == 0 ? 0 : strlen(outer);

    return strncmp(inner, outer, length) == 0 && (inner[length] == '/' || inner[length] == '\0');
}

struct entry {
    unsigned major, minor;
    char *mountpoint, *source;
};

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - TYPE SOURCE super_options"; see proc_pid_mountinfo(5). */
static bool parse_line(char *line, struct entry *ret_entry)
{
    char *dash = strstr(line, " - "), *fields[5], *rest = line, *type, *source;

    if (!dash)
        return false;
    *dash = '\0';
    for (size_t i = 0; i < 5; i++)
        fields[i] = strsep(&rest, " ");
    dash += 3;
    type = strsep(&dash, " ");
    source = strsep(&dash, " ");
    if (!fields[4] || !source || strcmp(type, MOUNT_TYPE) != 0 ||
        sscanf(fields[2], "%u:%u", &ret_entry->major, &ret_entry->minor) != 2)
        return false;
    unescape(fields[4]);
    unescape(source);
    ret_entry->mountpoint = fields[4];
    ret_entry->source = source;
    return true;
}

int mounts_find(const char *path, char **ret_mountpoint)
{
    AUTO_FREE char *real = realpath(path, NULL), *line = NULL;
    AUTO_FCLOSE FILE *file = fopen("/proc/self/mountinfo", "re");
    struct stat attributes;
    size_t capacity = 0;

    if (!real || stat(real, &attributes) < 0)
        return -errno;
    if (!file)
        return 0;
    while (getline(&line, &capacity, file) > 0) {
        bool is_on_it;
        struct entry entry;

        if (!parse_line(line, &entry))
            continue;
        is_on_it = attributes.st_dev == makedev(entry.major, entry.minor);
        if (!is_on_it && !is_within(real, entry.source) && !is_within(entry.source, real))
            continue;
        *ret_mountpoint = strdup(entry.mountpoint);
        return !*ret_mountpoint ? -ENOMEM : is_on_it ? 2 : 1;
    }
    return 0;
}

int mounts_allow(const struct options *options, const struct log *log, bool writes)
{
    for (int i = 0; i < options->operand_count; i++) {
        const char *path = options->operands[i];
        AUTO_FREE char *mountpoint = NULL;
        int found = mounts_find(path, &mountpoint);

        if (found == 2) {
            log_error(log, "%s: on the tallyfs mount %s; name a place in its lower directory", path,
                      mountpoint);
            return -EBUSY;
        }
        if (found == 1 && writes) {
            log_error(log, "%s: mounted on %s; unmount that first", path, mountpoint);
            return -EBUSY;
        }
        if (found == 1)
            log_warning(log, "%s: mounted on %s; files in use there cannot be checked", path,
                        mountpoint);
    }
    return 0;
}
