/* Mappings, and reading and writing past the kernel's cache, together with ordinary calls: C05. */
#include "common.h"

#define SIZE (2 * CHUNK + 4096)

static unsigned char *map(int fd, size_t size, int protection, int flags)
{
    unsigned char *memory = mmap(NULL, size, protection, flags, fd, 0);

    if (memory == MAP_FAILED)
        FAIL("mmap: %s", strerror(errno));
    return memory;
}

static const size_t places[] = {0, 4090, CHUNK - 6, CHUNK + 4090, SIZE - 12};

static void read_stores(void *name)
{
    int fd = open_as(name, O_RDONLY);
    char found[12];

    for (unsigned i = 0; i < COUNT_OF(places); i++) {
        CHECK_EQ(pread(fd, found, sizeof(found), (off_t)places[i]), 12);
        CHECK_EQ(memcmp(found, "across pages", 12), 0);
    }
    close(fd);
}

static void c05_shows_mapped_stores_when_read_by_another(void)
{
    for (int round = 0; round < 4; round++) {
        int fd = open_new("mapped");
        unsigned char *memory;

        CHECK_OK(ftruncate(fd, SIZE));
        memory = map(fd, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED);
        for (unsigned i = 0; i < COUNT_OF(places); i++)
            memcpy(memory + places[i], "across pages", 12);
        /* Synced, as they are, with the descriptor closed before, or unmapped. */
        if (round == 0)
            CHECK_OK(msync(memory, SIZE, MS_SYNC));
        if (round == 2)
            close(fd);
        if (round == 3)
            munmap(memory, SIZE);
        in_child(read_stores, (char[]){"mapped"});
        if (round != 3)
            munmap(memory, SIZE);
        if (round != 2)
            close(fd);
    }
}

static void c05_keeps_mapped_stores_after_remount(void)
{
    read_stores((char[]){"mapped"});
}

static void write_below_mapping(void *name)
{
    int fd = open_as(name, O_WRONLY);

    write_at(fd, "written", 7, CHUNK - 3);
    close(fd);
}

static void c05_shows_writes_of_another_in_a_mapping(void)
{
    int fd;
    unsigned char *shared, *private;

    put_filled("written-below", SIZE, 3);
    fd = open_as("written-below", O_RDWR);
    shared = map(fd, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED);
    private = map(fd, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    CHECK(shared[CHUNK] == private[CHUNK]);
    private[10]++;
    in_child(write_below_mapping, (char[]){"written-below"});
    CHECK_EQ(memcmp(shared + CHUNK - 3, "written", 7), 0);
    CHECK(private[10] != shared[10]);
    /* Both ways at once: neither loses what the other put there. */
    for (int i = 0; i < 50; i++) {
        unsigned char byte = (unsigned char)i;

        shared[i * 2] = byte;
        write_at(fd, &byte, 1, i * 2 + 1);
    }
    for (int i = 0; i < 50; i++)
        CHECK(shared[i * 2] == i && shared[i * 2 + 1] == i);
    munmap(private, SIZE);
    munmap(shared, SIZE);
    close(fd);
    fd = open_as("written-below", O_RDONLY);
    for (int i = 0; i < 100; i++) {
        unsigned char byte = 255;

        CHECK_EQ(pread(fd, &byte, 1, i), 1);
        CHECK_EQ(byte, i / 2);
    }
    close(fd);
}

static void touch_last_page(void *memory)
{
    volatile unsigned char *last = (unsigned char *)memory + SIZE - 1;

    signal(SIGBUS, SIG_DFL); /* sanitizers have a handler of their own */
    *last = 1;
}

static void c05_faults_beyond_the_end_when_cut(void)
{
    unsigned char *memory;
    int fd, status;
    pid_t child;

    put_filled("cut-mapped", SIZE, 3);
    fd = open_as("cut-mapped", O_RDWR);
    memory = map(fd, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED);
    memory[SIZE - 1] = 7;
    CHECK_OK(truncate("cut-mapped", 100));
    CHECK_EQ(memory[100], 0);
    child = child_start(touch_last_page, memory);
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    CHECK_OK(ftruncate(fd, SIZE));
    CHECK_EQ(memory[SIZE - 1], 0);
    CHECK_EQ(memory[200], 0);
    munmap(memory, SIZE);
    close(fd);
}

/* Stores beyond the end but within the last page are lost, not written. */
static void c05_forgets_stores_beyond_the_end(void)
{
    unsigned char *memory;
    int fd;

    put("tail", "ten bytes.");
    fd = open_as("tail", O_RDWR);
    memory = map(fd, 4096, PROT_READ | PROT_WRITE, MAP_SHARED);
    memory[10] = 'x';
    memory[9] = '!';
    CHECK_OK(msync(memory, 4096, MS_SYNC));
    munmap(memory, 4096);
    CHECK_EQ(status_of("tail").st_size, 10);
    check_text("tail", "ten bytes!");
    CHECK_OK(ftruncate(fd, 20));
    check_text("tail", "ten bytes!");
    close(fd);
}

static void appends_and_stores_go_where_they_belong(void)
{
    char expected[4200];
    unsigned char *memory;
    int fd;

    memset(expected, 'a', sizeof(expected));
    put_bytes("append-mapped", (unsigned char *)expected, 4096);
    fd = open_as("append-mapped", O_RDWR | O_APPEND);
    memory = map(fd, 4096, PROT_READ | PROT_WRITE, MAP_SHARED);
    memory[5] = 'm';
    CHECK_EQ(write(fd, "end", 3), 3);
    memory[6] = 'n';
    expected[5] = 'm';
    expected[6] = 'n';
    memcpy(expected + 4096, "end", 3);
    CHECK_OK(msync(memory, 4096, MS_SYNC));
    munmap(memory, 4096);
    CHECK_OK(close(fd));
    check_bytes("append-mapped", (unsigned char *)expected, 4099);
}

static void direct_and_cached_calls_see_each_other(void)
{
    unsigned char *block = aligned_alloc(4096, 8192);
    int direct, cached;

    CHECK(block != NULL);
    put_filled("direct", SIZE, 4);
    cached = open_as("direct", O_RDWR);
    direct = open("direct", O_RDWR | O_DIRECT);
    if (direct < 0 && errno == EINVAL) {
        free(block);
        close(cached);
        return; /* nor does the lower file system have it */
    }
    CHECK(direct >= 0);
    CHECK_EQ(pread(cached, block, 4096, 4096), 4096);
    for (int i = 0; i < 20; i++) {
        unsigned char byte = (unsigned char)i;

        write_at(cached, &byte, 1, 4096 + i);
        CHECK_EQ(pread(direct, block, 4096, 4096), 4096);
        CHECK_EQ(block[i], i);
        memset(block, i + 100, 4096);
        CHECK_EQ(pwrite(direct, block, 4096, CHUNK), 4096);
        CHECK_EQ(pread(cached, &byte, 1, CHUNK + 77), 1);
        CHECK_EQ(byte, i + 100);
    }
    CHECK_EQ(pwrite(direct, block, 4096, SIZE), 4096);
    CHECK_EQ(status_of_open(cached).st_size, SIZE + 4096);
    close(direct);
    close(cached);
    free(block);
}

static void runs_a_program(void)
{
    shell("cp /bin/true program && chmod 755 program && ./program");
    CHECK_OK(rename("program", "renamed-program"));
    shell("./renamed-program && cp /bin/false program && ! ./program");
}

static void runs_a_program_after_remount(void)
{
    shell("./renamed-program && ! ./program");
}

static void c05_sqlite_is_whole_with_a_write_ahead_log(void)
{
    if (system("command -v sqlite3 >/dev/null") != 0)
        return;
    shell("rm -f db db-*; sqlite3 db 'PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);' | grep -qx wal");
    shell("for i in 1 2 3; do (for j in 1 2 3 4 5 6 7 8 9 10; do echo 'PRAGMA busy_timeout=60000; BEGIN IMMEDIATE;"
          " INSERT INTO t(b) VALUES (hex(randomblob(500))); COMMIT;'; done | sqlite3 db >/dev/null) & done; wait");
    shell("test \"$(sqlite3 db 'SELECT count(*) FROM t')\" = 30");
    shell("test \"$(sqlite3 db 'PRAGMA integrity_check')\" = ok");
}

static void c05_sqlite_is_whole_after_remount(void)
{
    if (access("db", F_OK) < 0)
        return;
    shell("test \"$(sqlite3 db 'PRAGMA integrity_check; SELECT count(*) FROM t' | tr '\\n' ' ')\" = 'ok 30 '");
}

int main(int argc, char *argv[])
{
    static const struct test_case write_cases[] = {
        CASE(c05_shows_mapped_stores_when_read_by_another),
        CASE(c05_shows_writes_of_another_in_a_mapping),
        CASE(c05_faults_beyond_the_end_when_cut),
        CASE(c05_forgets_stores_beyond_the_end),
        CASE(appends_and_stores_go_where_they_belong),
        CASE(direct_and_cached_calls_see_each_other),
        CASE(runs_a_program),
        CASE(c05_sqlite_is_whole_with_a_write_ahead_log),
    };
    static const struct test_case check_cases[] = {
        CASE(c05_keeps_mapped_stores_after_remount),
        CASE(runs_a_program_after_remount),
        CASE(c05_sqlite_is_whole_after_remount),
    };

    return RUN_PHASE(argc, argv, write_cases, check_cases);
}
