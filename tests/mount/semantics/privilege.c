/*
 * Set-id bits, capabilities, groups and what a user may do: C26, C28. Needs root to become others, and allow_other;
 * without them there is little to ask.
 */
#include <linux/capability.h>
#include <sys/xattr.h>

#include "common.h"

static const gid_t other_groups[] = {65000, 65001};

static void write_it(void *name)
{
    int fd = open_as(name, O_RDWR);

    write_at(fd, "x", 1, 1);
    CHECK_OK(close(fd));
}

static void append_it(void *name)
{
    int fd = open_as(name, O_WRONLY | O_APPEND);

    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_OK(close(fd));
}

static void truncate_it(void *name)
{
    CHECK_OK(truncate(name, 2));
}

static void ftruncate_it(void *name)
{
    int fd = open_as(name, O_WRONLY);

    CHECK_OK(ftruncate(fd, 100));
    CHECK_OK(close(fd));
}

static void empty_it(void *name)
{
    close(open_as(name, O_WRONLY | O_TRUNC));
}

static void allocate_it(void *name)
{
    int fd = open_as(name, O_WRONLY);

    CHECK_OK(fallocate(fd, 0, 0, 5000));
    CHECK_OK(close(fd));
}

static void punch_it(void *name)
{
    int fd = open_as(name, O_WRONLY);

    CHECK_OK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 2));
    CHECK_OK(close(fd));
}

static void copy_to_it(void *name)
{
    int in = open_as("copy-source", O_RDONLY), fd = open_as(name, O_WRONLY);

    CHECK_EQ(copy_file_range(in, NULL, fd, NULL, 4, 0), 4);
    CHECK_OK(close(fd));
    close(in);
}

static void write_much_of_it(void *name)
{
    unsigned char *data = allocate(2 * CHUNK);
    int fd = open_as(name, O_WRONLY);

    write_at(fd, data, 2 * CHUNK, 0);
    CHECK_OK(close(fd));
    free(data);
}

static const struct {
    const char *name;
    void (*change)(void *name);
} changes[] = {
    {"written", write_it},     {"appended", append_it}, {"truncated", truncate_it}, {"ftruncated", ftruncate_it},
    {"emptied", empty_it},     {"allocated", allocate_it}, {"punched", punch_it},   {"copied", copy_to_it},
    {"much", write_much_of_it},
};

static void set_capability(const char *name)
{
    const struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
                                      .data[0].permitted = 1 << CAP_NET_RAW};

    CHECK_OK(setxattr(name, "security.capability", &data, sizeof(data), 0));
}

static const char *named(const char *kind, unsigned i)
{
    static char name[64];

    snprintf(name, sizeof(name), "%s-%s", kind, changes[i].name);
    return name;
}

/* The bits that writing took are gone, seen by path and after a remount. */
static void check_modes(const char *kind, mode_t expected)
{
    for (unsigned i = 0; i < COUNT_OF(changes); i++) {
        mode_t mode = status_of(named(kind, i)).st_mode & 07777;

        if (mode != expected)
            FAIL("%s: mode is %o, not %o", named(kind, i), mode, expected);
    }
}

static void check_capabilities_are_gone(void)
{
    for (unsigned i = 0; i < COUNT_OF(changes); i++) {
        if (getxattr(named("capable", i), "security.capability", NULL, 0) >= 0)
            FAIL("%s has its capability still", named("capable", i));
        CHECK_EQ(errno, ENODATA);
    }
}

static void c26_takes_set_id_bits_when_a_user_writes(void)
{
    if (!may_switch_user())
        return;
    put("copy-source", "text");
    for (unsigned i = 0; i < COUNT_OF(changes); i++) {
        const char *name = named("setid", i);

        /* The user's own file, of the user's group, as it must be to be written with mode 6755. */
        put_filled(name, 300, i);
        CHECK_OK(chown(name, USER, USER));
        CHECK_OK(chmod(name, 06755));
        CHECK_EQ(status_of(name).st_mode & 07777, 06755);
        in_user_child(changes[i].change, (void *)(uintptr_t)name);
        if ((status_of(name).st_mode & 07777) != 0755)
            FAIL("%s: mode is %o at once", name, status_of(name).st_mode & 07777);
    }
}

static void c26_takes_capabilities_when_a_user_writes(void)
{
    if (!may_switch_user())
        return;
    for (unsigned i = 0; i < COUNT_OF(changes); i++) {
        const char *name = named("capable", i);

        put_filled(name, 300, i);
        CHECK_OK(chmod(name, 0777));
        set_capability(name);
        CHECK(getxattr(name, "security.capability", NULL, 0) > 0);
        in_user_child(changes[i].change, (void *)(uintptr_t)name);
    }
    check_capabilities_are_gone();
}

static void c26_keeps_set_id_bits_when_root_writes(void)
{
    if (!may_switch_user())
        return;
    for (unsigned i = 0; i < COUNT_OF(changes); i++) {
        const char *name = named("root", i);

        put_filled(name, 300, i);
        CHECK_OK(chown(name, USER, USER));
        CHECK_OK(chmod(name, 06755));
        changes[i].change((void *)(uintptr_t)name);
    }
    check_modes("root", 06755);
    /*
     * Capabilities go also when root writes. Not in the same files: of a file with both, the kernel tells a FUSE file
     * system of this in the very words of chown(-1, -1), which takes the bits too.
     */
    for (unsigned i = 0; i < COUNT_OF(changes); i++) {
        const char *name = named("capable-root", i);

        put_filled(name, 300, i);
        set_capability(name);
        changes[i].change((void *)(uintptr_t)name);
        CHECK_ERROR(getxattr(name, "security.capability", NULL, 0), ENODATA);
    }
}

static void c26_leaves_bits_alone_when_nothing_is_written(void)
{
    int fd;
    char byte;

    if (!may_switch_user())
        return;
    put("untouched", "text");
    CHECK_OK(chmod("untouched", 06777));
    set_capability("untouched");
    fd = open_as("untouched", O_RDWR);
    CHECK_EQ(read(fd, &byte, 1), 1);
    CHECK_OK(fsync(fd));
    close(fd);
    CHECK_EQ(status_of("untouched").st_mode & 07777, 06777);
    CHECK(getxattr("untouched", "security.capability", NULL, 0) > 0);
    /* A change of owner takes both, also by root. */
    CHECK_OK(chown("untouched", USER, USER));
    CHECK_EQ(status_of("untouched").st_mode & 07777, 0777);
    CHECK_EQ(getxattr("untouched", "security.capability", NULL, 0), -1);
}

static void c26_after_remount(void)
{
    if (!may_switch_user())
        return;
    check_modes("setid", 0755);
    check_modes("capable", 0777);
    check_modes("root", 06755);
    check_capabilities_are_gone();
}

static void check_inherited(const char *path, uid_t uid, mode_t mode)
{
    struct stat attributes = status_of(path);

    if (attributes.st_uid != uid || attributes.st_gid != other_groups[0] || (attributes.st_mode & 07777) != mode)
        FAIL("%s: %u:%u %o", path, attributes.st_uid, attributes.st_gid, attributes.st_mode & 07777);
}

static void make_in_set_gid_directory(void *directory)
{
    umask(022);
    CHECK_OK(chdir(directory));
    put("file", "x");
    CHECK_OK(mkdir("directory", 0777));
    CHECK_OK(mkdir("directory/below", 0700));
    CHECK_OK(mknod("node", S_IFREG | 0666, 0));
    CHECK_OK(mkfifo("fifo", 0666));
    CHECK_OK(symlink("file", "symlink"));
    check_inherited("file", geteuid(), 0644);
    check_inherited("directory", geteuid(), 02755);
    check_inherited("directory/below", geteuid(), 02700);
    check_inherited("node", geteuid(), 0644);
    check_inherited("fifo", geteuid(), 0644);
    check_inherited("symlink", geteuid(), 0777);
}

static void set_bit_outside_the_group(void *directory)
{
    int fd;

    make_in_set_gid_directory(directory);
    /* Neither chmod nor making it with the bit gives it to someone outside the group. */
    CHECK_OK(chmod("file", 02755));
    CHECK_EQ(status_of("file").st_mode & 07777, 0755);
    umask(0);
    fd = open("bit", O_CREAT | O_EXCL | O_RDWR, 02775);
    CHECK_OK(fd);
    CHECK_EQ(status_of_open(fd).st_mode & 07777, 0775);
    close(fd);
    CHECK_OK(mknod("bit-node", S_IFREG | 02775, 0));
    CHECK_EQ(status_of("bit-node").st_mode & 07777, 0775);
}

static void set_bit_inside_the_group(void *directory)
{
    int fd;

    make_in_set_gid_directory(directory);
    CHECK_OK(chmod("file", 02755));
    CHECK_EQ(status_of("file").st_mode & 07777, 02755);
    umask(0);
    fd = open("bit", O_CREAT | O_EXCL | O_RDWR, 02775);
    CHECK_OK(fd);
    CHECK_EQ(status_of_open(fd).st_mode & 07777, 02775);
    close(fd);
    CHECK_OK(chown("file", (uid_t)-1, other_groups[1]));
    CHECK_EQ(status_of("file").st_gid, other_groups[1]);
    CHECK_ERROR(chown("file", 0, (gid_t)-1), EPERM);
    CHECK_ERROR(chown("file", (uid_t)-1, 0), EPERM);
}

static void set_gid_directory(const char *name)
{
    CHECK_OK(mkdir(name, 0755));
    CHECK_OK(chown(name, 0, other_groups[0]));
    CHECK_OK(chmod(name, 02777));
}

static void c28_inherits_group_and_bit_in_a_set_gid_directory(void)
{
    struct as_user member = {USER, USER, other_groups, COUNT_OF(other_groups), set_bit_inside_the_group,
                             (char[]){"of-member"}};

    if (!may_switch_user())
        return;
    set_gid_directory("of-root");
    set_gid_directory("of-member");
    set_gid_directory("of-stranger");
    in_child(make_in_set_gid_directory, (char[]){"of-root"});
    in_user_child(set_bit_outside_the_group, (char[]){"of-stranger"});
    in_child(run_as_user, &member);
}

static void c28_keeps_groups_after_remount(void)
{
    if (!may_switch_user())
        return;
    check_inherited("of-root/file", 0, 0644);
    check_inherited("of-member/directory/below", USER, 02700);
    check_inherited("of-stranger/file", USER, 0755);
}

static void make_by_group(void *name)
{
    (void)name;
    CHECK_OK(chdir("by-group"));
    put("file", "text");
    CHECK_EQ(status_of("file").st_gid, USER);
    CHECK_OK(mkdir("directory", 0700));
    CHECK_OK(rename("file", "directory/file"));
    CHECK_OK(unlink("directory/file"));
    CHECK_OK(rmdir("directory"));
    CHECK_OK(unlink("readable"));
}

/* A directory that only a supplementary group may write. */
static void works_by_a_supplementary_group(void)
{
    struct as_user member = {USER, USER, other_groups, COUNT_OF(other_groups), make_by_group, NULL};

    if (!may_switch_user())
        return;
    CHECK_OK(mkdir("by-group", 0770));
    CHECK_OK(chown("by-group", 0, other_groups[1]));
    CHECK_OK(chmod("by-group", 0770));
    put("by-group/readable", "text");
    in_child(run_as_user, &member);
}

static void try_what_is_forbidden(void *argument)
{
    char text[16];
    int fd;

    (void)argument;
    CHECK_ERROR(open("closed", O_RDONLY), EACCES);
    CHECK_ERROR(open("readable", O_WRONLY), EACCES);
    CHECK_ERROR(truncate("readable", 0), EACCES);
    CHECK_ERROR(open("new", O_CREAT | O_WRONLY, 0600), EACCES);
    CHECK_ERROR(mkdir("new", 0700), EACCES);
    CHECK_ERROR(unlink("readable"), EACCES);
    CHECK_ERROR(rename("readable", "renamed"), EACCES);
    CHECK_ERROR(link("readable", "linked"), EPERM);
    CHECK_ERROR(chmod("readable", 0777), EPERM);
    CHECK_ERROR(chown("readable", USER, USER), EPERM);
    CHECK_ERROR(utimensat(AT_FDCWD, "readable", (const struct timespec[2]){{1, 0}, {1, 0}}, 0), EPERM);
    CHECK_ERROR(utimensat(AT_FDCWD, "readable", NULL, 0), EACCES);
    CHECK_ERROR(access("readable", W_OK), EACCES);
    CHECK_ERROR(access("closed", R_OK), EACCES);
    CHECK_ERROR(open("private/inside", O_RDONLY), EACCES);
    CHECK_ERROR(open("private", O_RDONLY | O_DIRECTORY), EACCES);
    CHECK_ERROR(setxattr("readable", "user.x", "x", 1, 0), EACCES);
    CHECK_ERROR(setxattr("readable", "trusted.x", "x", 1, 0), EPERM);
    CHECK_ERROR(mknod("open-to-all/device", S_IFCHR | 0666, 0x103), EPERM);
    /* In a sticky directory only owners remove and rename. */
    CHECK_ERROR(unlink("sticky/of-root"), EPERM);
    CHECK_ERROR(rename("sticky/of-root", "sticky/x"), EPERM);
    put("sticky/own", "x");
    CHECK_ERROR(rename("sticky/own", "sticky/of-root"), EPERM);
    CHECK_OK(unlink("sticky/own"));
    fd = open_as("readable", O_RDONLY);
    CHECK_EQ(read(fd, text, sizeof(text)), 4);
    CHECK_ERROR(fchmod(fd, 0777), EPERM);
    close(fd);
}

static void refuses_what_the_user_may_not(void)
{
    if (!may_switch_user())
        return;
    put("readable", "text");
    put("closed", "text");
    CHECK_OK(chmod("closed", 0600));
    CHECK_OK(mkdir("private", 0700));
    put("private/inside", "text");
    CHECK_OK(mkdir("sticky", 0755));
    CHECK_OK(chmod("sticky", 01777));
    put("sticky/of-root", "text");
    CHECK_OK(mkdir("open-to-all", 0755));
    CHECK_OK(chmod("open-to-all", 0777));
    in_user_child(try_what_is_forbidden, NULL);
}

/* As it is made, not by a later chown that others can see in between: watched by another process. */
static void make_owned(void *argument)
{
    char name[64];

    (void)argument;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "open-to-all/owned-%d", i);
        put(name, "x");
    }
}

static void files_belong_to_their_maker_from_the_beginning(void)
{
    struct as_user user = {.uid = USER, .gid = USER, .run = make_owned};
    char name[4096];
    struct stat attributes;
    pid_t child;

    if (!may_switch_user())
        return;
    child = child_start(run_as_user, &user);
    for (int i = 0; i < 100; i++) {
        /* Below the mount, where no cache of the kernel's stands between. */
        snprintf(name, sizeof(name), "%s/privilege/open-to-all/owned-%d", getenv("TALLY_LOWER"), i);
        for (int tries = 0; stat(name, &attributes) < 0 && tries < 100000; tries++)
            ;
        CHECK_OK(stat(name, &attributes));
        CHECK_EQ(attributes.st_uid, USER);
        CHECK_EQ(attributes.st_gid, USER);
    }
    child_end(child);
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c26_takes_set_id_bits_when_a_user_writes),
        CASE(c26_takes_capabilities_when_a_user_writes),
        CASE(c26_keeps_set_id_bits_when_root_writes),
        CASE(c26_leaves_bits_alone_when_nothing_is_written),
        CASE(c28_inherits_group_and_bit_in_a_set_gid_directory),
        CASE(works_by_a_supplementary_group),
        CASE(refuses_what_the_user_may_not),
        CASE(files_belong_to_their_maker_from_the_beginning),
    };
    static const struct test_case check_cases[] = {
        CASE(c26_after_remount),
        CASE(c28_keeps_groups_after_remount),
    };

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
