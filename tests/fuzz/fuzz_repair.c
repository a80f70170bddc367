/*
 * Any bytes as a damaged container: a repair ends, loses nothing that could be read and was not reported, and leaves
 * nothing for a second one.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "store/check.h"
#include "store_model.h"

#define PLACES 24u
#define PIECE_BYTES 4096u

struct place {
    off_t offset;
    ssize_t got;
    uint8_t bytes[PIECE_BYTES];
};

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* Where there are data, and at the end. */
static unsigned find_places(struct store *store, int fd, struct place places[static PLACES])
{
    struct backend *file;
    unsigned count = 0;
    off_t at = 0, size;

    if (open_container(store, fd, "none", true, &file) < 0)
        return 0;
    while (count + 1 < PLACES && (at = backend_seek(file, NULL, at, SEEK_DATA)) >= 0) {
        places[count++].offset = at;
        if (at > INT64_MAX - 5000)
            break;
        at += 5000;
    }
    if (backend_size(file, NULL, &size) == 0 && size > 100)
        places[count++].offset = size - 100;
    backend_close(file, NULL);
    return count;
}

static void read_places(struct store *store, int fd, struct place *places, unsigned count)
{
    struct backend *file;
    int r = open_container(store, fd, "none", true, &file);

    for (unsigned i = 0; i < count; i++)
        places[i].got = r < 0 ? r : backend_pread(file, NULL, places[i].bytes, PIECE_BYTES, places[i].offset);
    if (r == 0)
        backend_close(file, NULL);
}

static int check(struct store *store, int fd, bool repair, struct store_report *ret_report)
{
    struct backend *raw;
    int r;

    require(raw_backend_create(dup(fd), NULL, &raw) == 0, "memory");
    if (repair)
        return store_repair(store, raw, ret_report);
    r = store_check(store, raw, ret_report);
    backend_close(raw, NULL);
    return r;
}

static bool is_reported(const struct store_report *report, off_t offset, size_t size)
{
    for (size_t i = 0; i < report->damage_count; i++) {
        const struct store_damage *damage = &report->damage[i];

        if (damage->logical_length && damage->logical_offset < (uint64_t)offset + size &&
            (uint64_t)offset < damage->logical_offset + damage->logical_length)
            return true;
    }
    return false;
}

static uint64_t hash_file(int fd)
{
    struct stat attributes;
    uint64_t hash;
    uint8_t *bytes;

    require(fstat(fd, &attributes) == 0, "fstat");
    bytes = malloc((size_t)attributes.st_size + 1);
    require(bytes && pread(fd, bytes, (size_t)attributes.st_size, 0) == attributes.st_size, "pread");
    hash = format_checksum(bytes, (size_t)attributes.st_size);
    free(bytes);
    return hash ^ (uint64_t)attributes.st_size;
}

static void check_second(struct store *store, int fd, bool was_repaired)
{
    struct store_report report;
    uint64_t hash = hash_file(fd);

    require(check(store, fd, true, &report) == 0, "the second repair failed");
    require(!report.is_repaired && hash_file(fd) == hash, "the second repair changed something");
    for (size_t i = 0; i < report.damage_count && was_repaired; i++)
        require(report.damage[i].kind == STORE_DAMAGE_MARKED || report.damage[i].kind == STORE_DAMAGE_BEGINNING,
                store_damage_text(report.damage[i].kind));
    store_report_free(&report);
}

static void check_repair(struct store *store, int fd, size_t size)
{
    static struct place before[PLACES], after[PLACES];
    unsigned count = find_places(store, fd, before);
    struct store_report report;
    struct stat attributes;
    uint64_t hash;
    bool repaired;
    int r, s;

    read_places(store, fd, before, count);
    hash = hash_file(fd);
    r = check(store, fd, false, &report);
    if (r == 0)
        store_report_free(&report);
    require(hash_file(fd) == hash, "the check changed something");
    s = check(store, fd, true, &report);
    require(r == s, "check and repair ended differently");
    if (r < 0) {
        require(hash_file(fd) == hash, "a repair that failed changed something");
        return;
    }
    memcpy(after, before, sizeof(after));
    read_places(store, fd, after, count);
    for (unsigned i = 0; i < count; i++) {
        bool same = before[i].got == after[i].got &&
                    (before[i].got < 0 || memcmp(before[i].bytes, after[i].bytes, (size_t)before[i].got) == 0);

        require(same || is_reported(&report, before[i].offset & ~(off_t)(FORMAT_CHUNK_MAX - 1), FORMAT_CHUNK_MAX),
                "what reads changed, and was not reported");
        require(before[i].got < 0 || before[i].got == after[i].got || after[i].got == -EIO, "the size changed");
    }
    require(fstat(fd, &attributes) == 0 && (size_t)attributes.st_size < 4 * size + 65536, "the repair bloats");
    repaired = report.is_repaired;
    store_report_free(&report);
    check_second(store, fd, repaired);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct store *store = fuzz_store();
    int fd = memory_file();

    require(pwrite(fd, data, size, 0) == (ssize_t)size, "pwrite");
    if (size > 0)
        check_repair(store, fd, size);
    close(fd);
    return 0;
}
