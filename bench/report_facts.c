#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "report_facts.h"

/* With fewer trials the t-interval is so wide that it shows hardly anything, and so is any rule for outliers. */
#define FEW_TRIALS 5

#define DF_TOLERANCE 0.05
#define PAGE_WIDTH 80

static const char *text_or(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : otherwise;
}

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

void facts_machine(const struct report_input *input, struct strbuf *to)
{
    const json_t *environment = json_object_get(input->result, "environment"), *target;
    char line[1024];
    size_t i;

    strbuf_printf(to, "%s  %s, seed %.0f\n", input->file, text_or(input->result, "started", "?"),
                  number_of(input->result, "seed"));
    strbuf_printf(to, "Linux %s, %.0f x %s, %.1f GiB RAM\n", text_or(environment, "kernel", "?"),
                  number_of(environment, "cpus"), text_or(environment, "cpu", "?"),
                  number_of(environment, "ram_bytes") / (1 << 30));
    json_array_foreach(json_object_get(input->result, "targets"), i, target) {
        const json_t *mount = json_object_get(target, "mount");

        snprintf(line, sizeof(line), "%s: %s on %s, %s", text_or(target, "name", "?"),
                 text_or(mount, "type", "?"), text_or(mount, "device", "?"),
                 text_or(mount, "options", "?"));
        if (text_width(line) > PAGE_WIDTH)
            strbuf_printf(to, "%.*s…\n", PAGE_WIDTH - 1, line);
        else
            strbuf_printf(to, "%s\n", line);
    }
}

const json_t *facts_find_corpus(const struct report_input *input, const char *workload)
{
    const json_t *corpus;
    size_t i;

    json_array_foreach(json_object_get(input->result, "corpora"), i, corpus) {
        if (strcmp(text_or(corpus, "workload", ""), workload) == 0)
            return corpus;
    }
    return NULL;
}

void facts_corpus(const json_t *corpus, struct strbuf *to)
{
    const json_t *set;
    size_t i;

    json_array_foreach(json_object_get(corpus, "sets"), i, set) {
        strbuf_printf(to, "%s: %.1f MB; by lz4 %.1f %%, zlib:6 %.1f %%, zstd:3 %.1f %% remain\n",
                      text_or(set, "name", "?"), number_of(set, "bytes") / 1e6,
                      100 * number_of(set, "lz4_ratio"), 100 * number_of(set, "zlib6_ratio"),
                      100 * number_of(set, "zstd3_ratio"));
    }
}

static void put_failures(const struct report_input *input, size_t index, const char *label,
                         struct strbuf *to)
{
    const struct row *row = &input->summary.rows[index];
    const json_t *trial;
    size_t i;

    if (row->failed)
        strbuf_printf(to, "* %s: %zu of %zu trials failed and are in no figure\n", label,
                      row->failed, row->ok + row->failed);
    json_array_foreach(json_object_get(input->result, "trials"), i, trial) {
        const char *reason = json_string_value(json_object_get(trial, "reason"));

        if (reason && (size_t)number_of(trial, "configuration") == index)
            strbuf_printf(to, "    block %.0f: %s\n", number_of(trial, "block") + 1, reason);
    }
}

static size_t count_outliers(const struct row *row)
{
    static const enum metric shown[] = {METRIC_WRITE_WALL, METRIC_READ_WALL, METRIC_DELETE_WALL};
    size_t outliers = 0;

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        outliers += row->metrics[shown[i]].n < FEW_TRIALS ? 0 : row->metrics[shown[i]].outliers;
    return outliers;
}

/* Seen on busy disks, and on file systems that compress without showing it in st_blocks. */
static bool df_differs(const struct row *row)
{
    const struct sample *df = &row->metrics[METRIC_SPACE_DF];
    const struct sample *du = &row->metrics[METRIC_SPACE_ALLOCATED];

    return df->n && du->n &&
           fabs(df->summary.median - du->summary.median) > DF_TOLERANCE * du->summary.median;
}

static void put_row_notes(const struct report_input *input, size_t index, struct strbuf *to)
{
    const struct row *row = &input->summary.rows[index];
    char label[64];

    row_label(row, label, sizeof(label));
    put_failures(input, index, label, to);
    if (row->cold_unavailable)
        strbuf_printf(to, "* %s: cold-unavailable (needs root): reads may be from memory\n", label);
    if (row->unsettled)
        strbuf_printf(to, "* %s: free space did not stand still, so trust du, not df\n", label);
    if (df_differs(row))
        strbuf_printf(to, "  %s: df and du differ: own compression, or others write\n", label);
    if (row->never_free)
        strbuf_printf(to, "* %s: not all space was free again in time (%zu of %zu trials)\n", label,
                      row->never_free, row->ok);
    if (count_outliers(row))
        strbuf_printf(to, "  %s: outliers among the times (%zu), kept in all figures\n", label,
                      count_outliers(row));
}

static void put_noise(const struct section *section, struct strbuf *to)
{
    static const struct {
        const char *name;
        enum metric metric;
    } shown[] = {
        {"write", METRIC_WRITE_TOTAL}, {"read", METRIC_READ_WALL}, {"delete", METRIC_DELETE_TOTAL}};
    const char *before = "Noise floor, by measuring the same twice:";

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        double floor;

        if (summary_noise(section->summary, section->workload->name, shown[i].metric, &floor) == 0)
            continue;
        strbuf_printf(to, "%s %s %.1f %%", before, shown[i].name, 100 * floor);
        before = ",";
    }
    strbuf_puts(to, *before == ',' ? ".\n"
                                   : "No A/A run: what two equal rows differ by is not known.\n");
}

/* Only with a time limit there is something to say. */
static void put_stop(const struct report_input *input, struct strbuf *to)
{
    const json_t *stopped = json_object_get(input->result, "stopped");
    const json_t *known = json_object_get(stopped, "widest_relative_half_width");
    double widest = json_is_number(known) ? json_number_value(known) : NAN;
    const char *why = text_or(stopped, "why", "");

    if (strcmp(why, "precision") == 0)
        strbuf_printf(to, "Ended after %.0f blocks: every interval is within %.3g %%.\n",
                      number_of(stopped, "blocks"), 100 * number_of(input->result, "precision"));
    else if (strcmp(why, "time") == 0 && isfinite(widest))
        strbuf_printf(
            to, "Ended after %.0f blocks, the time was up: the widest interval is ± %.1f %%.\n",
            number_of(stopped, "blocks"), 100 * widest);
    else if (strcmp(why, "time") == 0)
        strbuf_printf(to, "Ended after %.0f blocks, the time was up.\n",
                      number_of(stopped, "blocks"));
}

void facts_notes(const struct report_input *input, const struct section *section, struct strbuf *to)
{
    const struct summary *summary = section->summary;
    size_t fewest = SIZE_MAX, missing = 0;
    size_t wanted = (size_t)number_of(input->result, "trials_wanted");

    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        if (!section_has(section, row))
            continue;
        put_row_notes(input, i, to);
        if (row->ok && row->ok < fewest)
            fewest = row->ok;
        missing += row->ok + row->failed < wanted ? wanted - row->ok - row->failed : 0;
    }
    put_noise(section, to);
    put_stop(input, to);
    if (json_is_true(json_object_get(input->result, "quick")))
        strbuf_puts(to, "A quick look (low n): not enough to rank by.\n");
    if (missing)
        strbuf_printf(to, "%zu trials are still missing: the run was not finished.\n", missing);
    if (fewest == 1)
        strbuf_puts(to, "One trial: there is no deviation, and no difference can be shown.\n");
    else if (fewest < FEW_TRIALS)
        strbuf_printf(to, "n = %zu: few trials, so intervals are wide.\n", fewest);
    if (strcmp(text_or(json_object_get(input->result, "arguments"), "temperature", ""), "warm") ==
        0)
        strbuf_puts(to, "Warm: what fits into memory is read from there, not from the disk.\n");
}

void facts_legend(struct strbuf *to)
{
    strbuf_puts(to, "MB = 10^6 bytes, KiB = 1024. MB/s of WRITE counts until all is synced.\n"
                    "× best: time (with sync) over the best row's; ± is half its 95 % interval.\n"
                    "~: not told from chance (Welch's t, Holm over the table, p >= 0.05).\n"
                    "+++++: too short to time. –: not to be had.\n"
                    "Seconds in tallyfs are sums over its threads.\n");
}

void facts_title(const struct report_input *input, const json_t *corpus, struct strbuf *to)
{
    strbuf_printf(to, "%s: %.0f files, %.1f MB, %s, trials: %.0f", text_or(corpus, "workload", "?"),
                  number_of(corpus, "files"), number_of(corpus, "bytes") / 1e6,
                  text_or(json_object_get(input->result, "arguments"), "temperature", "?"),
                  number_of(input->result, "trials_wanted"));
}
