/* What the kernel says of a thread. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stats/set.h"
#include "util/cleanup.h"
#include "util/parse.h"

/* Enough for the first lines of /proc/ID/status; "Name" and "Tgid" are among them. */
#define STATUS_BYTES 512

/* The value of a line "NAME:\tVALUE", cut off at its end; NULL when there is none. */
static char *find_line(char *status, const char *name)
{
    size_t length = strlen(name);

    for (char *line = status; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':' && line[length + 1] == '\t')
            return line + length + 2;
    }
    return NULL;
}

static bool read_status(uint32_t id, char status[static STATUS_BYTES])
{
    char path[64];
    AUTO_CLOSE int fd = -1;
    ssize_t length;

    snprintf(path, sizeof(path), "/proc/%u/status", id);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    length = fd < 0 ? -1 : read(fd, status, STATUS_BYTES - 1);
    if (length <= 0)
        return false;
    status[length] = '\0';
    return true;
}

bool stats_describe_thread(uint32_t id, uint32_t *ret_process, uint64_t ret_command[static 2])
{
    char status[STATUS_BYTES], command[STATS_COMMAND_BYTES] = "";
    char *name, *process;
    int64_t number;

    if (!read_status(id, status))
        return false;
    name = find_line(status, "Name");
    process = find_line(status, "Tgid");
    if (!name || !process)
        return false;
    name[strcspn(name, "\n")] = '\0';
    process[strcspn(process, "\n")] = '\0';
    if (parse_integer(process, 1, UINT32_MAX, &number) < 0)
        return false;
    memcpy(command, name, strnlen(name, sizeof(command) - 1));
    memcpy(ret_command, command, sizeof(command));
    *ret_process = (uint32_t)number;
    return true;
}
