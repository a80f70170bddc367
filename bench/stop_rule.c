#include "stop_rule.h"

#include <math.h>

#include "summary.h"

static const enum metric watched[] = {METRIC_WRITE_TOTAL, METRIC_READ_WALL};

static void find_widest(const struct summary *summary, struct stop *stop)
{
    for (size_t i = 0; i < summary->count; i++) {
        const struct row *row = &summary->rows[i];

        for (size_t m = 0; row->target && m < sizeof(watched) / sizeof(watched[0]); m++) {
            const struct sample *sample = &row->metrics[watched[m]];

            if (sample->n == 0 || sample->summary.relative_half_width <= stop->widest)
                continue;
            stop->widest = sample->summary.relative_half_width;
            stop->configuration = i;
            stop->metric = metric_key(watched[m]);
            /* Nothing is wider than what is not known. */
            if (isnan(stop->widest)) {
                stop->metric = NULL;
                return;
            }
        }
    }
}

int stop_rule(const struct options *options, const json_t *result, size_t blocks, double elapsed_s,
              struct stop *ret_stop)
{
    struct stop stop = {.widest = 0};
    struct summary summary;
    int r = summary_make(result, &summary);

    if (r < 0)
        return r;
    find_widest(&summary, &stop);
    summary_free(&summary);
    if (!(options->time_limit_s > 0))
        stop.why = blocks >= options->trials ? STOP_TRIALS : STOP_NOT;
    else if (blocks >= options->trials && stop.widest <= options->precision)
        stop.why = stop.metric ? STOP_PRECISION : STOP_TRIALS; /* every trial failed */
    else
        stop.why = elapsed_s >= options->time_limit_s ? STOP_TIME : STOP_NOT;
    *ret_stop = stop;
    return 0;
}

json_t *stop_json(const struct stop *stop, size_t blocks, double elapsed_s)
{
    static const char *const names[] = {"", "trials", "precision", "time"};
    bool known = stop->metric != NULL;

    return json_pack("{s:s, s:I, s:f, s:o, s:o, s:s?}", "why", names[stop->why], "blocks",
                     (json_int_t)blocks, "elapsed_s", elapsed_s, "widest_relative_half_width",
                     known ? json_real(stop->widest) : json_null(), "widest_configuration",
                     known ? json_integer((json_int_t)stop->configuration) : json_null(),
                     "widest_metric", stop->metric);
}
