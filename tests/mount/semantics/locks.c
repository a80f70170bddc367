/* POSIX, open-file and BSD locks between processes: C32. */
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>

#include "common.h"

static struct flock range(short type, off_t start, off_t length)
{
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
}

static bool can_lock(int fd, int command, short type, off_t start, off_t length)
{
    struct flock lock = range(type, start, length);

    if (fcntl(fd, command, &lock) == 0)
        return true;
    CHECK(errno == EAGAIN || errno == EACCES);
    return false;
}

struct expectation {
    const char *name;
    short type;
    off_t start, length;
    bool granted;
};

static void check_lock(void *argument)
{
    const struct expectation *expected = argument;
    int fd = open_as(expected->name, O_RDWR);

    CHECK_EQ(can_lock(fd, F_SETLK, expected->type, expected->start, expected->length), expected->granted);
    close(fd);
}

static void expect(const char *name, short type, off_t start, off_t length, bool granted)
{
    struct expectation expected = {name, type, start, length, granted};

    in_child(check_lock, &expected);
}

static void c32_excludes_another_process_by_ranges(void)
{
    struct flock lock;
    int fd = open_new("ranges"), again;

    CHECK_OK(link("ranges", "ranges-link"));
    CHECK(can_lock(fd, F_SETLK, F_WRLCK, 100, 100));
    expect("ranges", F_WRLCK, 0, 0, false);
    expect("ranges-link", F_WRLCK, 199, 1, false);
    expect("ranges", F_RDLCK, 150, 10, false);
    expect("ranges", F_WRLCK, 0, 100, true);
    expect("ranges", F_WRLCK, 200, 0, true);
    /* The middle becomes a reading lock, the rest stays. */
    CHECK(can_lock(fd, F_SETLK, F_RDLCK, 140, 20));
    expect("ranges", F_RDLCK, 140, 20, true);
    expect("ranges", F_WRLCK, 140, 20, false);
    expect("ranges", F_RDLCK, 139, 1, false);
    CHECK(can_lock(fd, F_SETLK, F_UNLCK, 100, 40));
    expect("ranges", F_WRLCK, 100, 40, true);
    expect("ranges", F_WRLCK, 160, 40, false);
    /* Its own locks never conflict, whichever descriptor asks. */
    again = open_as("ranges-link", O_RDWR);
    CHECK(can_lock(again, F_SETLK, F_WRLCK, 0, 0));
    lock = range(F_WRLCK, 0, 0);
    CHECK_OK(fcntl(again, F_GETLK, &lock));
    CHECK_EQ(lock.l_type, F_UNLCK);
    expect("ranges", F_RDLCK, 5000, 1, false);
    /* Closing any descriptor of the file drops all of the process' locks. */
    close(again);
    expect("ranges", F_WRLCK, 0, 0, true);
    close(fd);
    CHECK_OK(unlink("ranges-link"));
}

static void ask_who_locks(void *parent)
{
    int fd = open_as("asked", O_RDWR);
    struct flock lock = range(F_WRLCK, 0, 0);

    CHECK_OK(fcntl(fd, F_GETLK, &lock));
    CHECK_EQ(lock.l_type, F_RDLCK);
    CHECK_EQ(lock.l_start, 10);
    CHECK_EQ(lock.l_len, 20);
    CHECK_EQ(lock.l_pid, *(pid_t *)parent);
    lock = range(F_RDLCK, 0, 0);
    CHECK_OK(fcntl(fd, F_GETLK, &lock));
    CHECK_EQ(lock.l_type, F_UNLCK);
    close(fd);
}

static void c32_tells_who_holds_a_lock(void)
{
    pid_t own = getpid();
    int fd = open_new("asked");

    CHECK(can_lock(fd, F_SETLK, F_RDLCK, 10, 20));
    in_child(ask_who_locks, &own);
    close(fd);
}

struct waiter {
    const char *name;
    int ends[2];
    int held; /* the parent's descriptor, which would keep a BSD lock when inherited */
    bool is_flock;
};

/* Says that it is about to wait, waits, and says that it has the lock. */
static void wait_for_lock(void *argument)
{
    const struct waiter *waiter = argument;
    int fd = open_as(waiter->name, O_RDWR);
    struct flock lock = range(F_WRLCK, 0, 0);

    close(waiter->held);
    CHECK_EQ(write(waiter->ends[1], "w", 1), 1);
    if (waiter->is_flock)
        CHECK_OK(flock(fd, LOCK_EX));
    else
        CHECK_OK(fcntl(fd, F_SETLKW, &lock));
    CHECK_EQ(write(waiter->ends[1], "g", 1), 1);
    close(fd);
}

static void c32_wakes_those_who_wait(void)
{
    for (int i = 0; i < 6; i++) {
        struct waiter waiter = {.name = "waited", .is_flock = i % 2};
        int fd = open_new("waited");
        char said[2];
        pid_t first, second;

        waiter.held = fd;
        CHECK_OK(pipe(waiter.ends));
        if (waiter.is_flock)
            CHECK_OK(flock(fd, LOCK_EX));
        else
            CHECK(can_lock(fd, F_SETLK, F_WRLCK, 0, 0));
        first = child_start(wait_for_lock, &waiter);
        second = child_start(wait_for_lock, &waiter);
        CHECK_EQ(read(waiter.ends[0], said, 1), 1);
        CHECK_EQ(read(waiter.ends[0], said, 1), 1);
        CHECK_EQ(said[0], 'w');
        usleep(20000);
        /* Nobody has got it yet. It is given up by unlocking, by closing, or by a reading lock and closing. */
        CHECK_OK(fcntl(waiter.ends[0], F_SETFL, O_NONBLOCK));
        CHECK_ERROR(read(waiter.ends[0], said, 1), EAGAIN);
        CHECK_OK(fcntl(waiter.ends[0], F_SETFL, 0));
        if (i / 2 == 0 && waiter.is_flock)
            CHECK_OK(flock(fd, LOCK_UN));
        else if (i / 2 == 0)
            CHECK(can_lock(fd, F_SETLK, F_UNLCK, 0, 0));
        else if (i / 2 == 1 && waiter.is_flock)
            CHECK_OK(flock(fd, LOCK_SH));
        close(fd);
        child_end(first);
        child_end(second);
        CHECK_EQ(read(waiter.ends[0], said, 2), 2);
        CHECK_EQ(memcmp(said, "gg", 2), 0);
        close(waiter.ends[0]);
        close(waiter.ends[1]);
    }
}

static void do_nothing(int number)
{
    (void)number;
}

static void wait_until_interrupted(void *argument)
{
    struct sigaction action = {.sa_handler = do_nothing};
    const struct waiter *waiter = argument;
    struct flock lock = range(F_WRLCK, 0, 0);
    int fd = open_as(waiter->name, O_RDWR);

    close(waiter->held);
    CHECK_OK(sigaction(SIGUSR1, &action, NULL));
    CHECK_EQ(write(waiter->ends[1], "w", 1), 1);
    CHECK_ERROR(waiter->is_flock ? flock(fd, LOCK_EX) : fcntl(fd, F_SETLKW, &lock), EINTR);
    close(fd);
}

static void c32_ends_waiting_when_interrupted_or_killed(void)
{
    for (int i = 0; i < 4; i++) {
        struct waiter waiter = {.name = "interrupted", .is_flock = i % 2};
        int fd = open_new("interrupted"), status;
        pid_t child;
        char said;

        waiter.held = fd;
        CHECK_OK(pipe(waiter.ends));
        CHECK_OK(flock(fd, LOCK_EX));
        CHECK(can_lock(fd, F_SETLK, F_WRLCK, 0, 0));
        child = child_start(wait_until_interrupted, &waiter);
        CHECK_EQ(read(waiter.ends[0], &said, 1), 1);
        /* The signal may come before it waits; then another follows. */
        while (waitpid(child, &status, WNOHANG) == 0) {
            CHECK_OK(kill(child, i < 2 ? SIGUSR1 : SIGKILL));
            usleep(10000);
        }
        CHECK(i < 2 ? status == 0 : WIFSIGNALED(status));
        close(waiter.ends[0]);
        close(waiter.ends[1]);
        close(fd);
        /* What waited is not given the lock afterwards. */
        expect("interrupted", F_WRLCK, 0, 0, true);
        fd = open_as("interrupted", O_RDWR);
        CHECK_OK(flock(fd, LOCK_EX | LOCK_NB));
        close(fd);
    }
}

static void check_flock_is_held(void *name)
{
    int fd = open_as(name, O_RDONLY);

    CHECK_ERROR(flock(fd, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    CHECK_ERROR(flock(fd, LOCK_SH | LOCK_NB), EWOULDBLOCK);
    close(fd);
}

static void check_flock_is_shared(void *name)
{
    int fd = open_as(name, O_RDONLY);

    CHECK_ERROR(flock(fd, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    CHECK_OK(flock(fd, LOCK_SH | LOCK_NB));
    close(fd);
}

static void unlock_inherited(void *fd)
{
    CHECK_OK(flock(*(int *)fd, LOCK_UN));
}

static void close_inherited(void *fd)
{
    CHECK_OK(close(*(int *)fd));
}

static void c32_flock_belongs_to_the_open_file(void)
{
    char name[] = "flocked";
    int fd = open_new(name), second = open_as(name, O_RDWR);

    CHECK_OK(flock(fd, LOCK_EX));
    CHECK_ERROR(flock(second, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    in_child(check_flock_is_held, name);
    CHECK_OK(flock(fd, LOCK_SH));
    in_child(check_flock_is_shared, name);
    CHECK_OK(flock(second, LOCK_SH | LOCK_NB));
    CHECK_ERROR(flock(fd, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    CHECK_OK(flock(second, LOCK_UN));
    CHECK_OK(flock(fd, LOCK_EX | LOCK_NB));
    /* A child that inherited the descriptor closes it: the lock stays. It unlocks it: the lock is gone. */
    in_child(close_inherited, &fd);
    in_child(check_flock_is_held, name);
    in_child(unlock_inherited, &fd);
    CHECK_OK(flock(second, LOCK_EX | LOCK_NB));
    CHECK_OK(flock(second, LOCK_UN));
    /* A duplicate is the same open file. */
    CHECK_OK(flock(fd, LOCK_EX));
    close(dup(fd));
    in_child(check_flock_is_held, name);
    close(fd);
    CHECK_OK(flock(second, LOCK_EX | LOCK_NB));
    close(second);
}

static void c32_flock_is_free_when_its_holder_closed(void)
{
    put("closed", "x");
    for (int i = 0; i < 100; i++) {
        int fd = open_as("closed", O_RDWR);

        CHECK_OK(flock(fd, LOCK_EX | LOCK_NB));
        close(fd);
    }
}

/* The lock goes with RELEASE, a moment after close(2). */
static void wait_for_range(void *lock)
{
    int fd = open_as("open-file", O_RDWR);

    CHECK_OK(fcntl(fd, F_SETLKW, (struct flock *)lock));
    close(fd);
}

static void c32_open_file_locks_exclude_each_other(void)
{
    int fd = open_new("open-file"), second = open_as("open-file", O_RDWR);

    CHECK(can_lock(fd, F_OFD_SETLK, F_WRLCK, 0, 10));
    CHECK(!can_lock(second, F_OFD_SETLK, F_WRLCK, 5, 10));
    CHECK(!can_lock(second, F_SETLK, F_WRLCK, 5, 10));
    CHECK(can_lock(second, F_OFD_SETLK, F_WRLCK, 10, 10));
    expect("open-file", F_RDLCK, 0, 1, false);
    expect("open-file", F_RDLCK, 15, 1, false);
    /* Closing another descriptor of the file does not drop it, closing its own does. */
    close(open_as("open-file", O_RDONLY));
    expect("open-file", F_RDLCK, 0, 1, false);
    close(fd);
    in_child(wait_for_range, (struct flock[]){range(F_RDLCK, 0, 10)});
    expect("open-file", F_RDLCK, 15, 1, false);
    close(second);
    in_child(wait_for_range, (struct flock[]){range(F_WRLCK, 0, 0)});
}

static void deadlock(void *ends)
{
    const int *pipe_ends = ends;
    struct flock first = range(F_WRLCK, 0, 1), second = range(F_WRLCK, 1, 1);
    int fd = open_as("deadlock", O_RDWR);

    CHECK_OK(fcntl(fd, F_SETLKW, &second));
    CHECK_EQ(write(pipe_ends[1], "l", 1), 1);
    /* One of the two is told; whoever is told lets the other go on by closing. */
    CHECK(fcntl(fd, F_SETLKW, &first) == 0 || errno == EDEADLK);
    CHECK_EQ(write(pipe_ends[1], errno == EDEADLK ? "d" : "g", 1), 1);
    close(fd);
}

static void c32_tells_of_a_deadlock(void)
{
    struct flock first = range(F_WRLCK, 0, 1), second = range(F_WRLCK, 1, 1);
    int fd = open_new("deadlock"), ends[2], r;
    bool told;
    pid_t child;
    char said;

    CHECK_OK(pipe(ends));
    CHECK_OK(fcntl(fd, F_SETLK, &first));
    errno = 0;
    child = child_start(deadlock, ends);
    CHECK_EQ(read(ends[0], &said, 1), 1);
    r = fcntl(fd, F_SETLKW, &second);
    told = r < 0 && errno == EDEADLK;
    CHECK(r == 0 || told);
    close(fd);
    child_end(child);
    CHECK_EQ(read(ends[0], &said, 1), 1);
    CHECK(told != (said == 'd'));
    close(ends[0]);
    close(ends[1]);
}

static void lock_and_die(void *name)
{
    int fd = open_as(name, O_RDWR);

    CHECK(can_lock(fd, F_SETLK, F_WRLCK, 0, 0));
    CHECK_OK(flock(fd, LOCK_EX));
    kill(getpid(), SIGKILL);
}

static void c32_drops_locks_of_a_process_that_died(void)
{
    int status, fd;
    pid_t child;

    put("died", "x");
    child = child_start(lock_and_die, (char[]){"died"});
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    /* RELEASE follows the death of a process a moment later. */
    fd = open_as("died", O_RDWR);
    CHECK_OK(flock(fd, LOCK_EX));
    close(fd);
    expect("died", F_WRLCK, 0, 0, true);
}

static void c32_stays_with_the_file_when_it_is_renamed_or_removed(void)
{
    int fd = open_new("moving");

    CHECK(can_lock(fd, F_SETLK, F_WRLCK, 0, 0));
    CHECK_OK(rename("moving", "moved"));
    expect("moved", F_WRLCK, 0, 0, false);
    put("moving", "another");
    expect("moving", F_WRLCK, 0, 0, true);
    CHECK_OK(unlink("moved"));
    put("moved", "another");
    expect("moved", F_WRLCK, 0, 0, true);
    close(fd);
}

static void c32_needs_the_right_open_mode(void)
{
    struct flock lock = range(F_WRLCK, 0, 0);
    int fd;

    put("mode", "x");
    fd = open_as("mode", O_RDONLY);
    CHECK_ERROR(fcntl(fd, F_SETLK, &lock), EBADF);
    CHECK(can_lock(fd, F_SETLK, F_RDLCK, 0, 0));
    close(fd);
    fd = open_as("mode", O_WRONLY);
    lock = range(F_RDLCK, 0, 0);
    CHECK_ERROR(fcntl(fd, F_SETLK, &lock), EBADF);
    lock = range(F_WRLCK, -1, 0);
    CHECK_ERROR(fcntl(fd, F_SETLK, &lock), EINVAL);
    close(fd);
}

static void cannot_lock_beginning(void *inherited)
{
    const int fd = *(const int *)inherited;

    CHECK(!can_lock(fd, F_SETLK, F_WRLCK, 5, 10));
    CHECK(can_lock(fd, F_SETLK, F_WRLCK, 10, 10));
}

static void can_lock_all(void *inherited)
{
    CHECK(can_lock(*(const int *)inherited, F_SETLK, F_WRLCK, 0, 0));
}

static void lock_by_what_is_open(int fd, int other)
{
    CHECK(can_lock(fd, F_SETLK, F_WRLCK, 0, 10));
    in_child(cannot_lock_beginning, &other);
    CHECK(can_lock(fd, F_SETLK, F_UNLCK, 0, 0));
    in_child(can_lock_all, &other);
    CHECK(can_lock(fd, F_SETLK, F_WRLCK, 0, 10));
    CHECK_OK(close(dup(fd))); /* the process's locks go with any of its descriptors */
    in_child(can_lock_all, &other);
}

/* By a flag that was set since; the daemon of an ordinary user meets the same after chmod. */
static void c32_locks_what_nobody_can_open_again(void)
{
    /* All that have a container open share one descriptor, which cannot tell their locks apart. */
    const bool shares = has_option("compress=") && !has_option("compress=none");
    int fd = open_new("closed-up"), other = open_as("closed-up", O_RDWR), flags, before;

    if (ioctl(fd, FS_IOC_GETFLAGS, &before) == 0) {
        flags = before | FS_IMMUTABLE_FL;
        if (ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0) {
            CHECK_ERROR(open("closed-up", O_RDWR), EPERM);
            if (!shares)
                lock_by_what_is_open(fd, other);
            CHECK_OK(ioctl(fd, FS_IOC_SETFLAGS, &before));
        }
    }
    close(fd);
    close(other);
}

/* A program on the mount and one below it exclude each other, on files that both see alike. */
static void check_below(void *path)
{
    struct flock lock = range(F_WRLCK, 0, 100);
    int fd = open_as(path, O_RDWR);

    CHECK_ERROR(fcntl(fd, F_SETLK, &lock), EAGAIN);
    CHECK_ERROR(flock(fd, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    close(fd);
}

static void c32_excludes_programs_below_the_mount(void)
{
    char path[4096];
    int fd = open_new("below");

    snprintf(path, sizeof(path), "%s/locks/below", getenv("TALLY_LOWER"));
    CHECK(can_lock(fd, F_SETLK, F_WRLCK, 0, 100));
    CHECK_OK(flock(fd, LOCK_EX));
    in_child(check_below, path);
    close(fd);
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c32_excludes_another_process_by_ranges),
        CASE(c32_tells_who_holds_a_lock),
        CASE(c32_wakes_those_who_wait),
        CASE(c32_ends_waiting_when_interrupted_or_killed),
        CASE(c32_flock_belongs_to_the_open_file),
        CASE(c32_flock_is_free_when_its_holder_closed),
        CASE(c32_open_file_locks_exclude_each_other),
        CASE(c32_tells_of_a_deadlock),
        CASE(c32_drops_locks_of_a_process_that_died),
        CASE(c32_stays_with_the_file_when_it_is_renamed_or_removed),
        CASE(c32_needs_the_right_open_mode),
        CASE(c32_locks_what_nobody_can_open_again),
        CASE(c32_excludes_programs_below_the_mount),
    };
    static const struct test_case check_cases[] = {CASE(c32_excludes_another_process_by_ranges)};

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
