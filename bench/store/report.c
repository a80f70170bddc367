#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "speed.h"
#include "statistics/statistics.h"
#include "table.h"
#include "util/strbuf.h"

static const struct {
    const char *name, *unit;
} measures[MEASURE_COUNT] = {
    [MEASURE_COMPRESS_ONE] = {"compress_one_thread", "MiB/s"},
    [MEASURE_COMPRESS_ALL] = {"compress_all_workers", "MiB/s"},
    [MEASURE_DECOMPRESS_ONE] = {"decompress_one_thread", "MiB/s"},
    [MEASURE_DECOMPRESS_ALL] = {"decompress_all_workers", "MiB/s"},
    [MEASURE_WRITE] = {"write", "MiB/s"},
    [MEASURE_READ_COLD] = {"read_cold", "MiB/s"},
    [MEASURE_READ_WARM] = {"read_warm", "MiB/s"},
    [MEASURE_RANDOM_READ] = {"random_read_4k", "1/s"},
    [MEASURE_OVERWRITE] = {"overwrite_4k", "1/s"},
    [MEASURE_APPEND] = {"append_100_fsync", "1/s"},
    [MEASURE_REOPEN] = {"close_and_open", "us"},
    [MEASURE_STORED] = {"stored", "bytes"},
    [MEASURE_COMPRESS_CPU] = {"compress_cpu", "ms/MiB"},
    [MEASURE_DECOMPRESS_CPU] = {"decompress_cpu", "ms/MiB"},
    [MEASURE_WRITE_CPU] = {"write_cpu", "ms/MiB"},
    [MEASURE_READ_COLD_CPU] = {"read_cold_cpu", "ms/MiB"},
    [MEASURE_READ_WARM_CPU] = {"read_warm_cpu", "ms/MiB"},
};

const char *measure_name(enum measure measure)
{
    return measures[measure].name;
}

const char *measure_unit(enum measure measure)
{
    return measures[measure].unit;
}

void subject_name(const struct subject *subject, char name[static SUBJECT_NAME_BYTES])
{
    char codec[TALLY_CODEC_TEXT_BYTES];

    tally_codec_format(&subject->choice, codec);
    if (subject->kind == SUBJECT_RAW)
        snprintf(name, SUBJECT_NAME_BYTES, "plain file");
    else if (subject->kind == SUBJECT_BTRFS)
        snprintf(name, SUBJECT_NAME_BYTES, "btrfs %s", codec);
    else
        snprintf(name, SUBJECT_NAME_BYTES, "%s %uK", codec, subject->chunk_bytes / 1024);
}

static double value(const struct results *results, size_t subject, unsigned round,
                    enum measure measure)
{
    return results->samples[subject * results->settings->rounds + round].values[measure];
}

/* The subject of this kind and codec; SIZE_MAX when it was not measured. */
static size_t find_subject(const struct results *results, enum subject_kind kind,
                           const struct tally_codec_choice *choice)
{
    for (size_t i = 0; i < results->subject_count; i++) {
        const struct subject *subject = &results->subjects[i];

        if (subject->kind == kind && (!choice || (subject->choice.codec == choice->codec &&
                                                  subject->choice.level == choice->level)))
            return i;
    }
    return SIZE_MAX;
}

/* What a figure is divided by, in one round; NaN where there is nothing. */
typedef double reference(const struct results *results, size_t subject, unsigned round,
                         enum measure measure);

static double one(const struct results *results, size_t subject, unsigned round,
                  enum measure measure)
{
    (void)results;
    (void)subject;
    (void)round;
    (void)measure;
    return 1;
}

static double compress_all(const struct results *results, size_t subject, unsigned round,
                           enum measure measure)
{
    (void)measure;
    return value(results, subject, round, MEASURE_COMPRESS_ALL);
}

static double decompress_one(const struct results *results, size_t subject, unsigned round,
                             enum measure measure)
{
    (void)measure;
    return value(results, subject, round, MEASURE_DECOMPRESS_ONE);
}

static double compress_cpu(const struct results *results, size_t subject, unsigned round,
                           enum measure measure)
{
    (void)measure;
    return value(results, subject, round, MEASURE_COMPRESS_CPU);
}

static double decompress_cpu(const struct results *results, size_t subject, unsigned round,
                             enum measure measure)
{
    (void)measure;
    return value(results, subject, round, MEASURE_DECOMPRESS_CPU);
}

static double plain(const struct results *results, size_t subject, unsigned round,
                    enum measure measure)
{
    (void)subject;
    return value(results, find_subject(results, SUBJECT_RAW, NULL), round, measure);
}

static double limit(const struct results *results, size_t subject, unsigned round,
                    enum measure measure)
{
    double codec = value(results, subject, round, MEASURE_COMPRESS_ALL);

    return 1 / (1 / codec + 1 / plain(results, subject, round, measure));
}

static double btrfs(const struct results *results, size_t subject, unsigned round,
                    enum measure measure)
{
    size_t other = find_subject(results, SUBJECT_BTRFS, &results->subjects[subject].choice);

    if (other == SIZE_MAX || results->subjects[subject].kind != SUBJECT_STORE)
        return NAN;
    return value(results, other, round, measure);
}

/* False where no round has a figure. */
static bool summarize(const struct results *results, size_t subject, enum measure measure,
                      reference *divide_by, double factor, struct stats_summary *ret_summary)
{
    double *values = calloc(results->settings->rounds, sizeof(*values));
    size_t count = 0;
    bool any;

    if (!values)
        return false;
    for (unsigned round = 0; round < results->settings->rounds; round++) {
        double each = factor * value(results, subject, round, measure) /
                      divide_by(results, subject, round, measure);

        if (isfinite(each))
            values[count++] = each;
    }
    any = stats_summarize(values, count, ret_summary) == 0;
    free(values);
    return any;
}

static void add_cell(struct table *table, const struct results *results, size_t subject,
                     enum measure measure, reference *divide_by, double factor, const char *format)
{
    struct stats_summary summary;
    char median[TABLE_CELL_BYTES / 2];

    if (!summarize(results, subject, measure, divide_by, factor, &summary)) {
        table_text(table, "–");
        return;
    }
    snprintf(median, sizeof(median), format, summary.median);
    if (divide_by == one && measure != MEASURE_STORED && summary.median > 0)
        table_text(table, "%s ±%2.0f%%", median,
                   100 * (summary.max - summary.min) / 2 / summary.median);
    else
        table_text(table, "%s", median);
}

struct column {
    const char *heading;
    enum measure measure;
    reference *divide_by;
    double factor;
    const char *format;
};

#define COLUMNS_MAX (TABLE_MAX_COLUMNS - 1)

static const struct section {
    const char *title;
    struct column columns[COLUMNS_MAX];
} sections[] = {
    {"streaming write and fsync, MiB/s",
     {{"codec ×1", MEASURE_COMPRESS_ONE, one, 1, "%.0f"},
      {"codec ×all", MEASURE_COMPRESS_ALL, one, 1, "%.0f"},
      {"write", MEASURE_WRITE, one, 1, "%.0f"},
      {"of codec ×all", MEASURE_WRITE, compress_all, 1, "%.2f"},
      {"of limit", MEASURE_WRITE, limit, 1, "%.2f"},
      {"of plain", MEASURE_WRITE, plain, 1, "%.2f"},
      {"of btrfs", MEASURE_WRITE, btrfs, 1, "%.2f"}}},
    {"streaming read, MiB/s",
     {{"codec ×1", MEASURE_DECOMPRESS_ONE, one, 1, "%.0f"},
      {"codec ×all", MEASURE_DECOMPRESS_ALL, one, 1, "%.0f"},
      {"cold", MEASURE_READ_COLD, one, 1, "%.0f"},
      {"of codec ×1", MEASURE_READ_COLD, decompress_one, 1, "%.2f"},
      {"of plain", MEASURE_READ_COLD, plain, 1, "%.2f"},
      {"of btrfs", MEASURE_READ_COLD, btrfs, 1, "%.2f"},
      {"warm", MEASURE_READ_WARM, one, 1, "%.0f"},
      {"of codec ×1", MEASURE_READ_WARM, decompress_one, 1, "%.2f"}}},
    {"small operations, 1/s; close and open, µs",
     {{"read 4K", MEASURE_RANDOM_READ, one, 1, "%.0f"},
      {"of plain", MEASURE_RANDOM_READ, plain, 1, "%.2f"},
      {"overwrite 4K", MEASURE_OVERWRITE, one, 1, "%.0f"},
      {"of plain", MEASURE_OVERWRITE, plain, 1, "%.2f"},
      {"append 100+fsync", MEASURE_APPEND, one, 1, "%.0f"},
      {"of plain", MEASURE_APPEND, plain, 1, "%.2f"},
      {"close+open", MEASURE_REOPEN, one, 1, "%.0f"}}},
    {"CPU time of all threads, ms/MiB",
     {{"compress", MEASURE_COMPRESS_CPU, one, 1, "%.2f"},
      {"write", MEASURE_WRITE_CPU, one, 1, "%.2f"},
      {"of compress", MEASURE_WRITE_CPU, compress_cpu, 1, "%.2f"},
      {"decompress", MEASURE_DECOMPRESS_CPU, one, 1, "%.2f"},
      {"cold", MEASURE_READ_COLD_CPU, one, 1, "%.2f"},
      {"of decompress", MEASURE_READ_COLD_CPU, decompress_cpu, 1, "%.2f"},
      {"warm", MEASURE_READ_WARM_CPU, one, 1, "%.2f"},
      {"of decompress", MEASURE_READ_WARM_CPU, decompress_cpu, 1, "%.2f"}}},
    {"stored, MiB",
     {{"stored", MEASURE_STORED, one, 1 / MIB, "%.2f"},
      {"of plain", MEASURE_STORED, plain, 1, "%.3f"},
      {"of btrfs", MEASURE_STORED, btrfs, 1, "%.3f"}}},
};

#define SECTION_COUNT (sizeof(sections) / sizeof(sections[0]))

static int add_section(const struct results *results, const struct section *section,
                       struct strbuf *to)
{
    const char *headings[TABLE_MAX_COLUMNS + 1] = {""};
    struct table table;

    for (size_t i = 0; i < COLUMNS_MAX; i++)
        headings[i + 1] = section->columns[i].heading;
    headings[TABLE_MAX_COLUMNS] = NULL;
    table_begin(&table, headings);
    for (size_t subject = 0; subject < results->subject_count; subject++) {
        char name[SUBJECT_NAME_BYTES];

        subject_name(&results->subjects[subject], name);
        table_row(&table, name);
        for (size_t i = 0; i < COLUMNS_MAX && section->columns[i].heading; i++) {
            const struct column *column = &section->columns[i];

            add_cell(&table, results, subject, column->measure, column->divide_by, column->factor,
                     column->format);
        }
    }
    strbuf_printf(to, "\n%s: %s", results->contents->name, section->title); /* the table ends the line */
    return table_finish(&table, TABLE_TEXT, to);
}

int report_tables(const struct results *results)
{
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    int r = 0;

    for (size_t i = 0; i < SECTION_COUNT && r == 0; i++)
        r = add_section(results, &sections[i], &text);
    if (r == 0 && text.failed)
        r = -ENOMEM;
    if (r == 0 && fputs(text.data, stdout) == EOF)
        r = -EIO;
    return r;
}

static json_t *samples_json(const struct results *results, size_t subject, enum measure measure)
{
    json_t *samples = json_array();

    for (unsigned round = 0; round < results->settings->rounds; round++) {
        double each = value(results, subject, round, measure);

        if (isfinite(each))
            json_array_append_new(samples, json_real(each));
    }
    return samples;
}

static json_t *subject_json(const struct results *results, size_t subject)
{
    static const char *const kinds[] = {"plain", "store", "btrfs"};
    const struct subject *of = &results->subjects[subject];
    char codec[TALLY_CODEC_TEXT_BYTES];
    json_t *object, *all = json_object();

    tally_codec_format(&of->choice, codec);
    for (enum measure measure = 0; measure < MEASURE_COUNT; measure++) {
        struct stats_summary summary;

        if (!summarize(results, subject, measure, one, 1, &summary))
            continue;
        json_object_set_new(all, measure_name(measure),
                            json_pack("{s:s, s:f, s:f, s:f, s:o}", "unit", measure_unit(measure),
                                      "median", summary.median, "min", summary.min, "max",
                                      summary.max, "samples",
                                      samples_json(results, subject, measure)));
    }
    object = json_pack("{s:s, s:s, s:o}", "kind", kinds[of->kind], "codec", codec, "measures", all);
    if (of->chunk_bytes)
        json_object_set_new(object, "chunk_bytes", json_integer(of->chunk_bytes));
    return object;
}

json_t *report_json(const struct results *results)
{
    json_t *subjects = json_array();

    for (size_t i = 0; i < results->subject_count; i++)
        json_array_append_new(subjects, subject_json(results, i));
    return json_pack("{s:s, s:I, s:o}", "contents", results->contents->name, "bytes",
                     (json_int_t)results->contents->size, "subjects", subjects);
}
