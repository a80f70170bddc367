/* The attributes of a live mount. */
#ifndef TALLY_CTL_MOUNT_H
#define TALLY_CTL_MOUNT_H

/* What is wrong with `path` as a mount, a static string, or NULL. */
const char *mount_problem(const char *path);

/* The value of user.tallyfs.NAME, NUL-terminated; the caller frees it. 0 or -errno; -ENODATA: there is no such. */
int mount_get(const char *path, const char *name, char **ret_value);

/* Writes user.tallyfs.NAME, a command. 0 or -errno. */
int mount_command(const char *path, const char *name);

#endif
