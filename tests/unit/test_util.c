#include "harness.h"

#include <errno.h>

#include "util/endian.h"
#include "util/parse.h"
#include "util/strbuf.h"

static void parses_sizes_when_written_as_people_do(void)
{
    static const struct {
        const char *text;
        int r;
        uint64_t bytes;
    } rows[] = {
        {"0", 0, 0},
        {"16K", 0, 16384},
        {"1m", 0, 1048576},
        {"1GiB", 0, UINT64_C(1) << 30},
        {"7B", 0, 7},
        {"3KB", 0, 3072},
        {"2T", 0, UINT64_C(1) << 41},
        {"", -EINVAL, 0},
        {"K", -EINVAL, 0},
        {"-1", -EINVAL, 0},
        {"1X", -EINVAL, 0},
        {"1Ki", -EINVAL, 0},
        {"1i", -EINVAL, 0},
        {"1KBB", -EINVAL, 0},
        {"1 K", -EINVAL, 0},
        {"99999999999999999999", -ERANGE, 0},
        {"99999999999T", -ERANGE, 0},
        {"3T", -ERANGE, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t bytes = 0;
        int r = parse_size(rows[i].text, 0, UINT64_C(1) << 41, &bytes);

        if (r != rows[i].r || bytes != rows[i].bytes)
            FAIL("\"%s\" gave %d, %" PRIu64, rows[i].text, r, bytes);
    }
}

static void parses_numbers_when_whole_and_in_range(void)
{
    int64_t value = 0;
    double seconds = 0;
    int on = -1;

    CHECK_EQ(parse_integer("-50", -50, 19, &value), 0);
    CHECK_EQ(value, -50);
    CHECK_EQ(parse_integer("20", -50, 19, &value), -ERANGE);
    CHECK_EQ(parse_integer("3x", -50, 19, &value), -EINVAL);
    CHECK_EQ(parse_integer("", -50, 19, &value), -EINVAL);
    CHECK_EQ(parse_integer(" 3", -50, 19, &value), -EINVAL);
    CHECK_EQ(parse_seconds("1.5", 10, &seconds), 0);
    CHECK(seconds == 1.5);
    CHECK_EQ(parse_seconds("nan", 10, &seconds), -EINVAL);
    CHECK_EQ(parse_seconds("1e3", 10, &seconds), -EINVAL);
    CHECK_EQ(parse_seconds(".", 10, &seconds), -EINVAL);
    CHECK_EQ(parse_seconds("11", 10, &seconds), -ERANGE);
    CHECK_EQ(parse_switch("on", &on), 0);
    CHECK_EQ(on, 1);
    CHECK_EQ(parse_switch("maybe", &on), -EINVAL);
}

static void escapes_strings_when_they_are_not_json(void)
{
    static const struct {
        const char *text;
        const char *json;
    } rows[] = {
        {"plain", "\"plain\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"tab\t", "\"tab\\u0009\""},
        {"\xc3\xa9", "\"\xc3\xa9\""},
        {"\xff", "\"\\u00ff\""},
        {"\xc3", "\"\\u00c3\""},
        {"\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\""},
        {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\""},
        {"\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct strbuf buf = STRBUF_INIT;

        strbuf_json_string(&buf, rows[i].text);
        CHECK_STR(buf.data, rows[i].json);
        strbuf_free(&buf);
    }
}

static void grows_when_much_is_added(void)
{
    struct strbuf buf = STRBUF_INIT;
    char *text;

    for (int i = 0; i < 10000; i++)
        strbuf_printf(&buf, "%d,", i % 10);
    CHECK_EQ(buf.length, 20000);
    text = strbuf_take(&buf);
    CHECK_EQ(strlen(text), 20000);
    CHECK(buf.data == NULL);
    free(text);
}

static void keeps_byte_order_when_stored(void)
{
    unsigned char bytes[8];

    store_le32(bytes, 0x01020304);
    CHECK_EQ(bytes[0], 4);
    CHECK_EQ(bytes[3], 1);
    store_le64(bytes, UINT64_C(0x0102030405060708));
    CHECK_EQ(bytes[0], 8);
    CHECK(load_le64(bytes) == UINT64_C(0x0102030405060708));
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(parses_sizes_when_written_as_people_do), CASE(parses_numbers_when_whole_and_in_range),
        CASE(escapes_strings_when_they_are_not_json), CASE(grows_when_much_is_added),
        CASE(keeps_byte_order_when_stored),
    };

    return RUN_CASES(cases);
}
