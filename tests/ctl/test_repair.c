/*
 * Damages containers in every way at every kind of place. What was readable stays so, byte by byte; no byte ever reads
 * wrong; a second repair finds nothing to do.
 */
#include "sample.h"

static bool has_kind(const struct store_report *report, enum store_damage_kind kind)
{
    for (size_t i = 0; i < report->damage_count; i++)
        if (report->damage[i].kind == kind)
            return true;
    return false;
}

/* Repairs and looks at everything that a repair promises. The damaged chunks after it. */
static unsigned check_repair(struct store *store, int fd, const uint8_t *model, const char *what, size_t at)
{
    static struct contents before, after, again;
    struct store_report checked, repaired, second;
    unsigned errors, wrong, errors_before, wrong_before;
    struct image first, last;
    int r;

    read_contents(store, fd, &before);
    compare(&before, model, &errors_before, &wrong_before);
    r = check(store, fd, &checked);
    if (r == -EIO) {
        CHECK_EQ(repair(store, fd, &repaired), -EIO);
        return CHUNKS;
    }
    CHECK_EQ(r, 0);
    CHECK_EQ(repair(store, fd, &repaired), 0);
    CHECK_EQ(repaired.damage_count, checked.damage_count);
    CHECK_EQ(repaired.lost_bytes, checked.lost_bytes);
    read_contents(store, fd, &after);
    compare(&after, model, &errors, &wrong);
    if (!after.opens)
        FAIL("%s at %zu: does not open after the repair", what, at);
    for (size_t i = 0; i < CHUNKS; i++) {
        /* Readable and right before: so after it. Never an error that was not reported. */
        if (after.got[i] < 0 && !loses(&repaired, i * CHUNK, CHUNK))
            FAIL("%s at %zu: chunk %zu reads as an error, but was not reported", what, at, i);
        if (before.got[i] > 0 && before.got[i] == after.got[i] &&
            memcmp(before.bytes[i], after.bytes[i], (size_t)before.got[i]) != 0)
            FAIL("%s at %zu: chunk %zu changed", what, at, i);
        if (is_wrong(&after, model, i) && !is_wrong(&before, model, i) && !loses(&repaired, i * CHUNK, CHUNK))
            FAIL("%s at %zu: chunk %zu reads wrong, and was not reported", what, at, i);
    }
    if (wrong > wrong_before && !repaired.damage_count)
        FAIL("%s at %zu: %u chunks read wrong after the repair, %u before", what, at, wrong, wrong_before);
    if (errors_before && !checked.damage_count)
        FAIL("%s at %zu: %u chunks cannot be read, and no damage was found", what, at, errors_before);

    first = take_image(fd);
    CHECK_EQ(repair(store, fd, &second), 0);
    last = take_image(fd);
    if (second.is_repaired || first.size != last.size || memcmp(first.bytes, last.bytes, last.size) != 0)
        FAIL("%s at %zu: the second repair changed something: %zu bytes, then %zu, %zu kinds of damage", what, at,
             first.size, last.size, second.damage_count);
    for (size_t i = 0; i < second.damage_count; i++)
        if (second.damage[i].kind != STORE_DAMAGE_MARKED)
            FAIL("%s at %zu: after the repair: %s", what, at, store_damage_text(second.damage[i].kind));
    read_contents(store, fd, &again);
    CHECK(memcmp(&after, &again, sizeof(after)) == 0);
    free(first.bytes);
    free(last.bytes);
    store_report_free(&checked);
    store_report_free(&repaired);
    store_report_free(&second);
    return errors;
}

static const char *const codecs[] = {"none", "lz4", "zstd:3", "gzip:6"};

#define CODEC_COUNT (sizeof(codecs) / sizeof(codecs[0]))

static void finds_nothing_when_nothing_is_damaged(void)
{
    static uint8_t model[CHUNKS * CHUNK];

    for (size_t c = 0; c < 2 * CODEC_COUNT; c++) {
        struct store *store = make_store(CHUNK, 0);
        struct image image = make_sample(store, codecs[c / 2], c % 2, model);
        int fd = file_of(image.bytes, image.size);
        struct store_report report;
        struct image after;

        CHECK_EQ(check(store, fd, &report), 0);
        CHECK_EQ(report.damage_count, 0);
        CHECK_EQ(report.logical_bytes, SIZE);
        CHECK_EQ(report.is_open_ended, c % 2 == 0);
        CHECK_EQ(report.torn_bytes, 0);
        store_report_free(&report);
        after = take_image(fd);
        CHECK(after.size == image.size && memcmp(after.bytes, image.bytes, image.size) == 0);
        CHECK_EQ(check_repair(store, fd, model, "nothing", 0), 0);
        free(image.bytes);
        free(after.bytes);
        close(fd);
        store_destroy(store);
    }
}

/* A flip anywhere costs one chunk at most, and none where nothing that is needed lies. */
static void loses_one_chunk_at_most_when_a_byte_is_flipped(void)
{
    static uint8_t model[CHUNKS * CHUNK];
    struct store *store = make_store(CHUNK, 0);
    unsigned lost = 0;

    for (size_t c = 0; c < CODEC_COUNT; c++) {
        struct image image = make_sample(store, codecs[c], true, model);
        size_t step = image.size / 150;

        for (size_t at = 0; at < image.size; at += at < 64 || at + 400 > image.size ? 3 : step) {
            int fd = file_of(image.bytes, image.size);
            uint8_t flipped = image.bytes[at] ^ (uint8_t)(1u << at % 8);
            unsigned errors;

            CHECK_EQ(pwrite(fd, &flipped, 1, (off_t)at), 1);
            errors = check_repair(store, fd, model, codecs[c], at);
            if (errors > 1)
                FAIL("%s: a flip at %zu costs %u chunks", codecs[c], at, errors);
            lost += errors;
            close(fd);
        }
        free(image.bytes);
    }
    CHECK(lost > 0);
    store_destroy(store);
}

static void reads_nothing_wrong_when_a_block_is_noise_or_zero(void)
{
    static const size_t lengths[] = {16, 64, 512, 4096, 16384};
    static uint8_t model[CHUNKS * CHUNK], noise[16384];
    struct store *store = make_store(CHUNK, 0);
    uint64_t random = 3;

    for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
        struct image image = make_sample(store, codecs[1 + l % 3], true, model);

        for (size_t at = 0; at < image.size; at += image.size / 40 / 16 * 16) {
            size_t length = lengths[l] < image.size - at ? lengths[l] : image.size - at;
            int fd = file_of(image.bytes, image.size);

            for (size_t i = 0; i < length; i++)
                noise[i] = at / 512 % 4 ? (uint8_t)random_next(&random) : 0;
            CHECK_EQ(pwrite(fd, noise, length, (off_t)at), length);
            (void)check_repair(store, fd, model, "a block", at);
            close(fd);
        }
        free(image.bytes);
    }
    store_destroy(store);
}

/* Without an index the frames tell what they can; whatever they tell, a repair keeps. */
static void keeps_what_reads_when_the_end_is_cut(void)
{
    static uint8_t model[CHUNKS * CHUNK];
    struct store *store = make_store(CHUNK, 0);

    for (size_t c = 0; c < CODEC_COUNT; c++) {
        struct image image = make_sample(store, codecs[c], c % 2, model);

        for (size_t cut = 0; cut < image.size; cut += cut < 200 ? 1 : image.size / 60) {
            int fd = file_of(image.bytes, image.size - cut);

            (void)check_repair(store, fd, model, "a cut", image.size - cut);
            close(fd);
        }
        free(image.bytes);
    }
    store_destroy(store);
}

static void keeps_what_reads_when_index_and_frames_are_damaged(void)
{
    static uint8_t model[CHUNKS * CHUNK];
    struct store *store = make_store(CHUNK, 0);
    uint64_t random = 11;

    for (unsigned round = 0; round < 400; round++) {
        struct image image = make_sample(store, codecs[round % CODEC_COUNT], round % 8 != 0, model);
        int fd;

        for (unsigned n = 1 + round % 3; n; n--)
            image.bytes[random_below(&random, image.size)] ^= (uint8_t)(1 + random_below(&random, 255));
        if (round % 2)
            image.bytes[image.size - 1 - random_below(&random, 32)] ^= 0x40;
        fd = file_of(image.bytes, image.size);
        (void)check_repair(store, fd, model, "some flips", round);
        close(fd);
        free(image.bytes);
    }
    store_destroy(store);
}

/* The mark says lost until the bytes are written again, or cut off. */
static void reads_again_when_a_lost_chunk_is_written_anew(void)
{
    static uint8_t model[CHUNKS * CHUNK];
    static struct contents contents;
    struct store *store = make_store(CHUNK, 0);
    struct image image = make_sample(store, "lz4", true, model);
    struct store_report report;
    struct backend *file;
    unsigned errors, wrong;
    int fd = file_of(image.bytes, image.size);
    uint8_t flipped = image.bytes[64 + 700] ^ 4;

    CHECK_EQ(pwrite(fd, &flipped, 1, 64 + 700), 1);
    CHECK_EQ(check_repair(store, fd, model, "a flip", 764), 1);
    CHECK_EQ(open_container(store, fd, "lz4", false, &file), 0);
    CHECK_EQ(backend_pread(file, NULL, &flipped, 1, 5), -EIO);
    CHECK_EQ(backend_pwrite(file, NULL, model, CHUNK, 0, false), CHUNK);
    CHECK_EQ(backend_close(file, NULL), 0);
    read_contents(store, fd, &contents);
    compare(&contents, model, &errors, &wrong);
    CHECK_EQ(errors + wrong, 0);
    CHECK_EQ(check(store, fd, &report), 0);
    CHECK_EQ(report.damage_count, 0);
    store_report_free(&report);
    free(image.bytes);
    close(fd);
    store_destroy(store);
}

/* Without the mark, a walk would show what was there before, or zeros. */
static void stays_lost_when_the_index_is_lost_after_the_repair(void)
{
    static uint8_t model[CHUNKS * CHUNK];
    static struct contents contents;
    struct store *store = make_store(CHUNK, 0);
    struct image image = make_sample(store, "zstd:3", true, model);
    unsigned errors, wrong;
    struct stat attributes;
    int fd = file_of(image.bytes, image.size);
    uint8_t flipped = image.bytes[64 + 700] ^ 4;

    CHECK_EQ(pwrite(fd, &flipped, 1, 64 + 700), 1);
    CHECK_EQ(check_repair(store, fd, model, "a flip", 764), 1);
    CHECK_EQ(fstat(fd, &attributes), 0);
    CHECK_EQ(pwrite(fd, "????????", 8, attributes.st_size - 16), 8);
    read_contents(store, fd, &contents);
    compare(&contents, model, &errors, &wrong);
    CHECK_EQ(errors, 1);
    CHECK_EQ(wrong, 0);
    free(image.bytes);
    close(fd);
    store_destroy(store);
}

static void is_recognised_when_its_beginning_is_noise_or_its_end_is_cut_odd(void)
{
    static uint8_t model[CHUNKS * CHUNK];
    struct store *store = make_store(CHUNK, 0);
    struct image image = make_sample(store, "none", true, model);
    struct store_report report;
    struct stat attributes;
    int fd;

    CHECK_EQ(fstat(fd = file_of(image.bytes, image.size - 5), &attributes), 0);
    CHECK_EQ(store_check_is_disguised(fd, &attributes), 1);
    CHECK_EQ(check(store, fd, &report), 0);
    CHECK(has_kind(&report, STORE_DAMAGE_CUT));
    store_report_free(&report);
    (void)check_repair(store, fd, model, "a cut", image.size - 5);
    close(fd);
    memset(image.bytes, 0x77, 200);
    CHECK_EQ(fstat(fd = file_of(image.bytes, image.size), &attributes), 0);
    CHECK_EQ(store_check_is_disguised(fd, &attributes), 1);
    CHECK_EQ(check(store, fd, &report), 0);
    CHECK(has_kind(&report, STORE_DAMAGE_BEGINNING));
    store_report_free(&report);
    CHECK_EQ(check_repair(store, fd, model, "noise", 0), 1);
    CHECK_EQ(fstat(fd, &attributes), 0);
    CHECK_EQ(store_check_is_disguised(fd, &attributes), 1); /* by its end; now its beginning, too, is a container's */
    CHECK_EQ(pread(fd, image.bytes, FORMAT_HEADER_BYTES, 0), FORMAT_HEADER_BYTES);
    CHECK(format_looks_like_container(image.bytes));
    close(fd);
    CHECK_EQ(fstat(fd = file_of(model, SIZE), &attributes), 0);
    CHECK_EQ(store_check_is_disguised(fd, &attributes), 0);
    close(fd);
    free(image.bytes);
    store_destroy(store);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(finds_nothing_when_nothing_is_damaged),
        CASE(loses_one_chunk_at_most_when_a_byte_is_flipped),
        CASE(reads_nothing_wrong_when_a_block_is_noise_or_zero),
        CASE(keeps_what_reads_when_the_end_is_cut),
        CASE(keeps_what_reads_when_index_and_frames_are_damaged),
        CASE(reads_again_when_a_lost_chunk_is_written_anew),
        CASE(stays_lost_when_the_index_is_lost_after_the_repair),
        CASE(is_recognised_when_its_beginning_is_noise_or_its_end_is_cut_odd),
    };

    return RUN_CASES(cases);
}
