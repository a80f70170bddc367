/* Whole corpora: sizes, ratios, names, sameness, the mdbox layout, and what is left after a
 * failure. */
#include "harness.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "corpus/corpus.h"
#include "util/endian.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB (UINT64_C(1) << 20)

static char scratch[] = "/tmp/tally-corpus-XXXXXX";
static char directory[sizeof(scratch) + 8];

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_corpus(void)
{
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static struct corpus_result make(enum corpus_kind kind, uint64_t bytes, uint64_t seed)
{
    struct corpus_config config = {
        .kind = kind,
        .total_bytes = bytes,
        .seed = seed,
        .directory = directory,
    };
    struct corpus_result result = {0};
    char *failed = NULL;
    int r;

    remove_corpus();
    r = corpus_generate(&config, &result, &failed);
    if (r < 0)
        FAIL("%s: %s", failed ? failed : "-", strerror(-r));
    CHECK(!failed);
    return result;
}

/* A whole file with a NUL behind it. */
static uint8_t *read_file(const char *path, size_t *ret_length)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    uint8_t *data;

    if (!file)
        FAIL("%s: %s", path, strerror(errno));
    CHECK_EQ(fstat(fileno(file), &st), 0);
    data = malloc((size_t)st.st_size + 1);
    CHECK(data);
    CHECK_EQ(fread(data, 1, (size_t)st.st_size, file), st.st_size);
    data[st.st_size] = '\0';
    fclose(file);
    *ret_length = (size_t)st.st_size;
    return data;
}

static void has_the_size_asked_for(void)
{
    static const uint64_t sizes[] = {8192, 8193, 10007, 65536, 100003, MIB, 5 * MIB + 1};

    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int kind = CORPUS_TRIGGER; kind <= CORPUS_MAILBOX; kind++) {
            struct corpus_result result = make((enum corpus_kind)kind, sizes[i], 3);
            uint64_t files = 0;
            uint64_t bytes = 0;

            for (unsigned int set = 0; set < result.set_count; set++) {
                files += result.sets[set].files;
                bytes += result.sets[set].bytes;
                CHECK(result.sets[set].ratios.sampled_blocks > 0);
            }
            CHECK_EQ(result.files, files);
            CHECK_EQ(result.bytes, bytes);
            if (result.bytes + 1024 * files < sizes[i] || result.bytes > sizes[i] + 1024 * files)
                FAIL("%s of %" PRIu64 " has %" PRIu64 " in %" PRIu64 " files",
                     corpus_kind_name((enum corpus_kind)kind), sizes[i], result.bytes, files);
            CHECK(access(directory, F_OK) == 0);
        }
}

/* Every block of these sizes is measured, so that the figures do not depend on the sample. */
static void trigger_has_the_published_ratios(void)
{
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct corpus_result result = make(CORPUS_TRIGGER, 20 * MIB, seed);
        const struct corpus_set *raw = &result.sets[0];
        const struct corpus_set *gz = &result.sets[1];

        CHECK_EQ(result.set_count, 2);
        CHECK_STR(raw->name, "raw");
        CHECK_STR(gz->name, "gz");
        CHECK_EQ(raw->files, 8);
        CHECK_EQ(gz->files, 8);
        CHECK(raw->ratios.lz4 >= 0.40 && raw->ratios.lz4 <= 0.42);
        CHECK(raw->ratios.zlib6 >= 0.41 && raw->ratios.zlib6 <= 0.43);
        CHECK(gz->ratios.lz4 >= 0.99 && gz->ratios.lz4 <= 1.01);
        CHECK(gz->ratios.zlib6 >= 0.99 && gz->ratios.zlib6 <= 1.01);
        CHECK(gz->ratios.zstd3 >= 0.99 && gz->ratios.zstd3 <= 1.01);
        /* 41 to 17, as published. */
        CHECK(gz->bytes * 1000 / result.bytes >= 280 && gz->bytes * 1000 / result.bytes <= 295);
    }
}

static void mailbox_has_the_published_ratios(void)
{
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct corpus_result result = make(CORPUS_MAILBOX, 16 * MIB, seed);
        struct corpus_ratios ratios = result.sets[0].ratios;

        CHECK_EQ(result.set_count, 1);
        CHECK_STR(result.sets[0].name, "mailbox");
        CHECK(ratios.lz4 >= 0.86 && ratios.lz4 <= 0.88);
        CHECK(ratios.zstd3 >= 0.67 && ratios.zstd3 <= 0.69);
        CHECK(ratios.zlib6 >= ratios.zstd3 - 0.01 && ratios.zlib6 <= ratios.zstd3 + 0.01);
    }
}

/* These change only together with the generators: a result file's corpus hash must mean the same
 * everywhere. */
static void is_the_same_for_the_same_seed_everywhere(void)
{
    static const struct {
        enum corpus_kind kind;
        uint64_t bytes, seed, hash;
    } rows[] = {
        {CORPUS_TRIGGER, 3 * MIB, 1, UINT64_C(0x9527c108c9d2f3ea)},
        {CORPUS_TRIGGER, 3 * MIB, 2, UINT64_C(0x32b33d8f9fde16fc)},
        {CORPUS_MAILBOX, 3 * MIB, 1, UINT64_C(0x1a55cd5c7a11f5a2)},
        {CORPUS_MAILBOX, 3 * MIB, UINT64_MAX, UINT64_C(0x464bae2d9961a4f6)},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct corpus_result result = make(rows[i].kind, rows[i].bytes, rows[i].seed);

        if (result.hash != rows[i].hash)
            FAIL("row %zu has hash %016" PRIx64, i, result.hash);
    }
}

static void survey_tells_the_same_as_the_generator(void)
{
    struct corpus_result made = make(CORPUS_MAILBOX, 2 * MIB, 5);
    struct corpus_result seen = {0};
    char with_slash[sizeof(directory) + 2];
    char *failed = NULL;

    snprintf(with_slash, sizeof(with_slash), "%s//", directory);
    CHECK_EQ(corpus_survey(with_slash, NULL, &seen, &failed), 0);
    CHECK(!failed);
    CHECK_STR(seen.sets[0].name, "source");
    CHECK(seen.hash == made.hash);
    CHECK_EQ(seen.bytes, made.bytes);
    CHECK_EQ(seen.files, made.files);
    /* All blocks in both. */
    CHECK_EQ(seen.sets[0].ratios.sampled_blocks, made.sets[0].ratios.sampled_blocks);
    CHECK(seen.sets[0].ratios.lz4 == made.sets[0].ratios.lz4);

    remove_corpus();
    CHECK_EQ(corpus_survey(directory, NULL, &seen, &failed), -ENOENT);
    CHECK_STR(failed, directory);
    free(failed);
    CHECK_EQ(corpus_survey("/dev/null", NULL, &seen, &failed), -ENOTDIR);
    free(failed);
}

/* Inflates a gz file, checking its checksum and size on the way. */
static void check_gunzips(const char *path, uint64_t *ret_raw_bytes)
{
    static uint8_t buffer[1 << 16];
    gzFile file = gzopen(path, "rb");
    int got;

    CHECK(file);
    *ret_raw_bytes = 0;
    while ((got = gzread(file, buffer, sizeof(buffer))) > 0)
        *ret_raw_bytes += (uint64_t)got;
    CHECK_EQ(got, 0);
    CHECK_EQ(gzdirect(file), 0);
    CHECK_EQ(gzclose(file), Z_OK);
}

static void trigger_files_have_the_published_names(void)
{
    unsigned int found = 0;

    make(CORPUS_TRIGGER, 4 * MIB, 7);
    for (unsigned int i = 0; i < 8; i++) {
        char path[sizeof(directory) + 64];
        size_t length;
        uint64_t raw_bytes;
        uint8_t *raw;

        snprintf(path, sizeof(path), "%s/raw/run10070000.2.%u.dat", directory, i);
        raw = read_file(path, &length);
        CHECK(memcmp(raw, "TRG1", 4) == 0);
        CHECK(length > 200000 && length < 600000);
        free(raw);
        snprintf(path, sizeof(path), "%s/gz/run10070000.2.%u.dat.gz", directory, i);
        check_gunzips(path, &raw_bytes);
        CHECK(raw_bytes > 200000);
        found++;
    }
    CHECK_EQ(found, 8);
}

/* Reads a hexadecimal number that is followed by `end`; moves *at behind that. */
static uint64_t read_hex(const uint8_t **at, const uint8_t *limit, uint8_t end)
{
    static const char digits[] = "0123456789ABCDEF0123456789abcdef";
    uint64_t value = 0;
    const char *digit;

    for (; *at < limit && **at && (digit = strchr(digits, **at)); (*at)++)
        value = value << 4 | (uint64_t)((digit - digits) % 16);
    CHECK(*at < limit && **at == end);
    (*at)++;
    return value;
}

/* One m.N, read as Dovecot does; each mail must be where the map says. `map` points at the first
 * record not yet met. */
static void check_mdbox_file(const char *path, uint32_t number, const uint8_t **map,
                             const uint8_t *map_end)
{
    size_t length;
    uint8_t *data = read_file(path, &length);
    const uint8_t *end = data + length;
    const uint8_t *at = data;

    CHECK(length <= 10 * MIB);
    CHECK(memcmp(at, "2 M1e C", 7) == 0);
    at += 7;
    read_hex(&at, end, '\n');
    while (at < end) {
        const uint8_t *header = at;
        uint64_t size;
        uint64_t lines = 0;

        CHECK(memcmp(at, "\001\002N          ", 13) == 0);
        at += 13;
        size = read_hex(&at, end, '\n');
        CHECK_EQ(at - header, 30);
        CHECK(size < (uint64_t)(end - at));
        for (uint64_t i = 0; i < size; i++) {
            lines += at[i] == '\n';
            CHECK(at[i] != '\r');
        }
        at += size;
        CHECK(memcmp(at, "\n\001\003\nR", 5) == 0);
        at += 5;
        CHECK(read_hex(&at, end, '\n') >= 1546300800);
        CHECK_EQ(*at++, 'V');
        CHECK_EQ(read_hex(&at, end, '\n'), size + lines);
        CHECK_EQ(*at++, 'G');
        CHECK_EQ(strspn((const char *)at, "0123456789abcdef"), 32);
        at += 32;
        CHECK(memcmp(at, "\nB", 2) == 0);
        at = memchr(at + 2, '\n', (size_t)(end - at - 2));
        CHECK(at && at + 1 < end && at[1] == '\n');
        at += 2;

        CHECK(*map < map_end);
        CHECK_EQ(load_le32(*map + 4), number);
        CHECK_EQ(load_le32(*map + 8), header - data);
        CHECK_EQ(load_le32(*map + 12), at - header);
        *map += 16;
    }
    free(data);
}

/* The data of the n-th record of a type in a transaction log, counted from 0. */
static const uint8_t *find_record(const uint8_t *log, size_t length, uint32_t type, unsigned int n,
                                  size_t *ret_length)
{
    size_t at = 40;

    CHECK(length >= 40 && log[0] == 1 && log[1] == 3 && load_le16(log + 2) == 40);
    while (at < length) {
        size_t size = 0;

        for (int i = 0; i < 4; i++) {
            CHECK(log[at + (size_t)i] & 0x80);
            size = size << 7 | (log[at + (size_t)i] & 0x7f);
        }
        size *= 4;
        CHECK(size >= 8 && at + size <= length);
        if ((load_le32(log + at + 4) & 0xffff) == type && n-- == 0) {
            *ret_length = size - 8;
            return log + at + 8;
        }
        at += size;
    }
    FAIL("no record of type %#x", type);
}

static void mailbox_is_an_mdbox_store(void)
{
    static const char *const mailboxes[] = {"INBOX", "Archive", "Sent", "Projects"};
    char path[sizeof(directory) + 96];
    uint64_t inside = 0;
    const uint8_t *map;
    size_t map_bytes;
    size_t length;
    uint8_t *log;

    make(CORPUS_MAILBOX, 15 * MIB, 9);
    snprintf(path, sizeof(path), "%s/user01/storage/dovecot.map.index.log", directory);
    log = read_file(path, &length);
    map = find_record(log, length, 0x200, 0, &map_bytes);
    CHECK_EQ(load_le32(map), 1);
    CHECK_EQ(load_le32(map + map_bytes - 16), map_bytes / 16);
    for (uint32_t number = 1; number <= 2; number++) {
        const uint8_t *end = find_record(log, length, 0x200, 0, &map_bytes) + map_bytes;

        snprintf(path, sizeof(path), "%s/user01/storage/m.%u", directory, number);
        check_mdbox_file(path, number, &map, end);
        CHECK(number == 1 || map == end);
    }
    for (size_t i = 0; i < COUNT(mailboxes); i++) {
        size_t record_bytes;
        uint8_t *mailbox;

        snprintf(path, sizeof(path), "%s/user01/mailboxes/%s/dbox-Mails/dovecot.index.log",
                 directory, mailboxes[i]);
        mailbox = read_file(path, &length);
        find_record(mailbox, length, 0x200, 0, &record_bytes);
        inside += record_bytes / 12;
        find_record(mailbox, length, 0x200, 1, &record_bytes);
        CHECK(record_bytes % 20 == 0);
        free(mailbox);
    }
    CHECK_EQ(inside, map_bytes / 16);
    snprintf(path, sizeof(path), "%s/user02", directory);
    CHECK(access(path, F_OK) < 0);
    free(log);
}

static void one_user_more_comes_with_sixteen_mib_more(void)
{
    char path[sizeof(directory) + 32];

    make(CORPUS_MAILBOX, 32 * MIB, 1);
    snprintf(path, sizeof(path), "%s/user02/storage/m.1", directory);
    CHECK(access(path, F_OK) == 0);
    snprintf(path, sizeof(path), "%s/user03", directory);
    CHECK(access(path, F_OK) < 0);
}

struct progress {
    uint64_t last, total;
    unsigned int calls;
    uint64_t cancel_at;
    volatile sig_atomic_t cancel;
};

static void note_progress(void *context, uint64_t done, uint64_t total)
{
    struct progress *progress = context;

    CHECK(done > progress->last || progress->calls == 0);
    progress->last = done;
    progress->total = total;
    progress->calls++;
    progress->cancel = done >= progress->cancel_at;
}

static void reports_progress_up_to_the_end(void)
{
    struct progress progress = {.cancel_at = UINT64_MAX};
    struct corpus_config config = {
        .kind = CORPUS_TRIGGER,
        .total_bytes = 20 * MIB,
        .directory = directory,
        .progress = note_progress,
        .progress_context = &progress,
        .cancel = &progress.cancel,
    };
    struct corpus_result result;
    char *failed;

    remove_corpus();
    CHECK_EQ(corpus_generate(&config, &result, &failed), 0);
    CHECK(progress.calls >= 16);
    CHECK_EQ(progress.last, result.bytes);
    CHECK_EQ(progress.total, 20 * MIB);
}

static void leaves_nothing_when_cancelled(void)
{
    for (int kind = CORPUS_TRIGGER; kind <= CORPUS_MAILBOX; kind++) {
        struct progress progress = {.cancel_at = 8 * MIB};
        struct corpus_config config = {
            .kind = (enum corpus_kind)kind,
            .total_bytes = 20 * MIB,
            .directory = directory,
            .progress = note_progress,
            .progress_context = &progress,
            .cancel = &progress.cancel,
        };
        struct corpus_result result;
        char *failed;

        remove_corpus();
        CHECK_EQ(corpus_generate(&config, &result, &failed), -ECANCELED);
        CHECK(!failed);
        CHECK(progress.last >= 8 * MIB);
        CHECK(access(directory, F_OK) < 0 && errno == ENOENT);
        /* One that was there stays, empty. */
        CHECK_EQ(mkdir(directory, 0777), 0);
        progress.last = 0;
        progress.calls = 0;
        progress.cancel = 0;
        CHECK_EQ(corpus_generate(&config, &result, &failed), -ECANCELED);
        CHECK_EQ(rmdir(directory), 0);
    }
}

/* A limit on the size of a file stands for a disk that refuses to take more. */
static void names_the_file_and_leaves_nothing_when_a_write_fails(void)
{
    static const char *const names[] = {"/raw/run10000000.2.0.dat", "/user01/storage/m.1"};
    struct rlimit old;
    struct rlimit small;

    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){.rlim_cur = 1500000, .rlim_max = old.rlim_max};
    for (int kind = CORPUS_TRIGGER; kind <= CORPUS_MAILBOX; kind++) {
        struct corpus_config config = {
            .kind = (enum corpus_kind)kind,
            .total_bytes = 40 * MIB,
            .directory = directory,
        };
        struct corpus_result result = {.files = 77};
        char *failed = NULL;
        int r;

        remove_corpus();
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
        r = corpus_generate(&config, &result, &failed);
        CHECK_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
        CHECK_EQ(r, -EFBIG);
        CHECK(failed && strncmp(failed, directory, strlen(directory)) == 0);
        CHECK_STR(failed + strlen(directory), names[kind]);
        CHECK_EQ(result.files, 77);
        CHECK(access(directory, F_OK) < 0 && errno == ENOENT);
        free(failed);
    }
}

static void refuses_what_it_cannot_use(void)
{
    struct corpus_config config = {.kind = CORPUS_TRIGGER, .directory = directory};
    char inside[sizeof(directory) + 8];
    struct corpus_result result;
    enum corpus_kind kind;
    char *failed;

    remove_corpus();
    config.total_bytes = CORPUS_MIN_BYTES - 1;
    CHECK_EQ(corpus_generate(&config, &result, &failed), -EINVAL);
    config.total_bytes = CORPUS_MAX_BYTES + 1;
    CHECK_EQ(corpus_generate(&config, &result, &failed), -EINVAL);
    CHECK(access(directory, F_OK) < 0);

    config.total_bytes = CORPUS_MIN_BYTES;
    snprintf(inside, sizeof(inside), "%s/x", directory);
    config.directory = inside;
    CHECK_EQ(corpus_generate(&config, &result, &failed), -ENOENT);
    CHECK_STR(failed, inside);
    free(failed);

    CHECK_EQ(mkdir(directory, 0777), 0);
    CHECK_EQ(mkdir(inside, 0777), 0);
    config.directory = directory;
    CHECK_EQ(corpus_generate(&config, &result, &failed), -ENOTEMPTY);
    CHECK_STR(failed, directory);
    free(failed);
    CHECK_EQ(rmdir(inside), 0);

    CHECK_EQ(corpus_kind_parse("mailbox", &kind), 0);
    CHECK_EQ(kind, CORPUS_MAILBOX);
    CHECK_EQ(corpus_kind_parse("trigger", &kind), 0);
    CHECK_EQ(kind, CORPUS_TRIGGER);
    CHECK_EQ(corpus_kind_parse("Trigger", &kind), -EINVAL);
    CHECK_STR(corpus_kind_name(CORPUS_TRIGGER), "trigger");
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(has_the_size_asked_for),
        CASE(trigger_has_the_published_ratios),
        CASE(mailbox_has_the_published_ratios),
        CASE(is_the_same_for_the_same_seed_everywhere),
        CASE(survey_tells_the_same_as_the_generator),
        CASE(trigger_files_have_the_published_names),
        CASE(mailbox_is_an_mdbox_store),
        CASE(one_user_more_comes_with_sixteen_mib_more),
        CASE(reports_progress_up_to_the_end),
        CASE(leaves_nothing_when_cancelled),
        CASE(names_the_file_and_leaves_nothing_when_a_write_fails),
        CASE(refuses_what_it_cannot_use),
    };
    int status;

    if (!mkdtemp(scratch)) {
        perror(scratch);
        return EXIT_FAILURE;
    }
    snprintf(directory, sizeof(directory), "%s/corpus", scratch);
    status = RUN_CASES(cases);
    remove_corpus();
    rmdir(scratch);
    return status;
}
