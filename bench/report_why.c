#include <math.h>
#include <stdio.h>

#include "report_cells.h"
#include "report_facts.h"
#include "util/cleanup.h"

/* Below this a number of calls or their size counts as the same. */
#define SAME_SHARE 0.01

/* Two causes are what a sentence holds. */
#define CAUSES 2

struct explained {
    const char *verb;
    enum metric time;
    enum metric calls, bytes;
    struct cause {
        const char *name;
        enum metric metric;
    } causes[4];
};

static const struct explained explained_times[] = {
    {"write",
     METRIC_WRITE_TOTAL,
     METRIC_WRITE_CALLS,
     METRIC_WRITE_BYTES,
     {{"in the lower file system", METRIC_WRITE_LOWER},
      {"in the codec", METRIC_WRITE_CODEC},
      {"waiting", METRIC_WRITE_WAIT},
      {"in tallyfs itself", METRIC_WRITE_OWN}}},
    {"read",
     METRIC_READ_WALL,
     METRIC_READ_CALLS,
     METRIC_READ_BYTES,
     {{"in the lower file system", METRIC_READ_LOWER},
      {"in the codec", METRIC_READ_CODEC},
      {"waiting", METRIC_READ_WAIT},
      {"in tallyfs itself", METRIC_READ_OWN}}},
};

#define CAUSE_COUNT 4

/* A cause that makes less than this of the difference explains nothing. */
#define TELLING_SHARE 0.05

/* The causes that differ most, largest first. */
static void put_causes(const struct explained *time, const struct row *row, const struct row *base,
                       struct strbuf *to)
{
    double difference = fabs(row_mean(row, time->time) - row_mean(base, time->time));
    bool told[CAUSE_COUNT] = {false};

    for (size_t place = 0; place < CAUSES; place++) {
        size_t largest = 0;
        double most = -1, change;

        for (size_t i = 0; i < CAUSE_COUNT; i++) {
            change = fabs(row_mean(row, time->causes[i].metric) -
                          row_mean(base, time->causes[i].metric));
            if (!told[i] && change > most) {
                most = change;
                largest = i;
            }
        }
        told[largest] = true;
        if (most < TELLING_SHARE * difference) {
            strbuf_puts(to, place ? "" : "no part of tallyfs' time differs as much");
            return;
        }
        change = row_mean(row, time->causes[largest].metric) -
                 row_mean(base, time->causes[largest].metric);
        strbuf_printf(to, "%s%+.3f s %s", place ? ", " : "", change, time->causes[largest].name);
    }
}

static double per_call(const struct row *row, const struct explained *time)
{
    return row_mean(row, time->bytes) / row_mean(row, time->calls);
}

static bool is_same(double a, double b)
{
    return fabs(a - b) <= SAME_SHARE * fabs(b);
}

static void put_calls(const struct explained *time, const struct row *row, const struct row *base,
                      struct strbuf *to)
{
    double calls = row_mean(row, time->calls), base_calls = row_mean(base, time->calls);
    double size = per_call(row, time), base_size = per_call(base, time);

    if (is_same(calls, base_calls))
        strbuf_puts(to, "; as many calls");
    else
        strbuf_printf(to, "; %.0f calls, not %.0f", calls, base_calls);
    if (is_same(size, base_size))
        strbuf_puts(to, ", of the same size");
    else
        strbuf_printf(to, ", of %.1f KiB on average, not %.1f", size / 1024, base_size / 1024);
}

/* Natively nothing is counted; then what tallyfs' own row holds is all there is to say. */
static void put_alone(const struct explained *time, const struct row *row, struct strbuf *to)
{
    for (size_t i = 0; i < CAUSE_COUNT; i++)
        strbuf_printf(to, "%s%.3f s %s", i ? ", " : "of it ", row_mean(row, time->causes[i].metric),
                      time->causes[i].name);
}

static void put_sentence(const struct explained *time, const struct row *row,
                         const struct row *base, double ratio, struct strbuf *to)
{
    bool counted = row->metrics[time->calls].n > 0, base_counted = base->metrics[time->calls].n > 0;
    char label[64], base_label[64];

    row_label(row, label, sizeof(label));
    row_label(base, base_label, sizeof(base_label));
    strbuf_printf(to, "%s takes %.2f x the time of %s to %s: ", label, ratio, base_label,
                  time->verb);
    if (counted && base_counted) {
        put_causes(time, row, base, to);
        put_calls(time, row, base, to);
    } else if (counted) {
        put_alone(time, row, to);
    } else {
        enum metric cpu =
            time->time == METRIC_READ_WALL ? METRIC_READ_MACHINE : METRIC_WRITE_MACHINE;

        strbuf_printf(to, "not counted by tallyfs; the machine was busy for %.3f s, not %.3f",
                      row_mean(row, cpu), row_mean(base, cpu));
    }
    strbuf_puts(to, ".\n");
}

int facts_why(const struct section *section, struct strbuf *to)
{
    const struct summary *summary = section->summary;

    for (size_t t = 0; t < sizeof(explained_times) / sizeof(explained_times[0]); t++) {
        struct race race CLEANUP(race_free) = {0};
        int r = race_against_best(section, explained_times[t].time, &race);

        if (r < 0)
            return r;
        for (size_t i = 0; i < summary->count; i++) {
            if (race.comparisons[i].known && race.comparisons[i].verdict != STATS_SAME)
                put_sentence(&explained_times[t], &summary->rows[i], &summary->rows[race.best],
                             race.comparisons[i].ratio, to);
        }
    }
    return 0;
}
