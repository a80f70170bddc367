#include "report_layout.h"

#define NOTHING LAYOUT_NOTHING

static const struct layout write_layout = {
    "WRITE ",
    NOTHING,
    true,
    {{"wall s", FIGURE_MEAN, METRIC_WRITE_WALL, METRIC_READ_WALL},
     {"sd", FIGURE_SD, METRIC_WRITE_WALL, METRIC_READ_WALL},
     {"system s", FIGURE_MEAN, METRIC_WRITE_SYSTEM, METRIC_READ_SYSTEM},
     {"sync s", FIGURE_MEAN, METRIC_WRITE_SYNC, NOTHING},
     {"MB/s", FIGURE_RATE, METRIC_WRITE_TOTAL, METRIC_READ_WALL},
     {"× best", FIGURE_RATIO, METRIC_WRITE_TOTAL, NOTHING},
     {"±", FIGURE_HALF_WIDTH, METRIC_WRITE_TOTAL, NOTHING}},
};

static const struct layout read_layout = {
    "READ ",
    NOTHING,
    true,
    {{"real s", FIGURE_MEAN, METRIC_READ_WALL, METRIC_READ_WALL},
     {"sd", FIGURE_SD, METRIC_READ_WALL, METRIC_READ_WALL},
     {"user s", FIGURE_MEAN, METRIC_READ_USER, METRIC_READ_USER},
     {"system s", FIGURE_MEAN, METRIC_READ_SYSTEM, METRIC_READ_SYSTEM},
     {"MB/s", FIGURE_RATE, METRIC_READ_WALL, METRIC_READ_WALL},
     {"× best", FIGURE_RATIO, METRIC_READ_WALL, NOTHING},
     {"±", FIGURE_HALF_WIDTH, METRIC_READ_WALL, NOTHING}},
};

static const struct layout delete_layout = {
    "DELETE ",
    NOTHING,
    false,
    {{"wall s", FIGURE_MEAN, METRIC_DELETE_WALL, NOTHING},
     {"sd", FIGURE_SD, METRIC_DELETE_WALL, NOTHING},
     {"system s", FIGURE_MEAN, METRIC_DELETE_SYSTEM, NOTHING},
     {"sync s", FIGURE_MEAN, METRIC_DELETE_SYNC, NOTHING},
     {"free after s", FIGURE_MEAN, METRIC_UNTIL_FREE, NOTHING},
     {"× best", FIGURE_RATIO, METRIC_DELETE_TOTAL, NOTHING},
     {"±", FIGURE_HALF_WIDTH, METRIC_DELETE_TOTAL, NOTHING}},
};

static const struct layout cpu_layout = {
    "CPU s",
    NOTHING,
    false,
    {{"write: jobs", FIGURE_MEAN, METRIC_WRITE_CPU, NOTHING},
     {"tallyfs", FIGURE_MEAN, METRIC_WRITE_DAEMON, NOTHING},
     {"machine", FIGURE_MEAN, METRIC_WRITE_MACHINE, NOTHING},
     {"read: jobs", FIGURE_MEAN, METRIC_READ_CPU, NOTHING},
     {"tallyfs", FIGURE_MEAN, METRIC_READ_DAEMON, NOTHING},
     {"machine", FIGURE_MEAN, METRIC_READ_MACHINE, NOTHING}},
};

static const struct layout counters_write_layout = {
    "IN TALLYFS, writing",
    METRIC_WRITE_CALLS,
    false,
    {{"calls", FIGURE_COUNT, METRIC_WRITE_CALLS, NOTHING},
     {"lower s", FIGURE_MEAN, METRIC_WRITE_LOWER, NOTHING},
     {"codec s", FIGURE_MEAN, METRIC_WRITE_CODEC, NOTHING},
     {"wait s", FIGURE_MEAN, METRIC_WRITE_WAIT, NOTHING},
     {"own s", FIGURE_MEAN, METRIC_WRITE_OWN, NOTHING}},
};

static const struct layout counters_read_layout = {
    "IN TALLYFS, reading",
    METRIC_READ_CALLS,
    false,
    {{"calls", FIGURE_COUNT, METRIC_READ_CALLS, NOTHING},
     {"lower s", FIGURE_MEAN, METRIC_READ_LOWER, NOTHING},
     {"codec s", FIGURE_MEAN, METRIC_READ_CODEC, NOTHING},
     {"wait s", FIGURE_MEAN, METRIC_READ_WAIT, NOTHING},
     {"own s", FIGURE_MEAN, METRIC_READ_OWN, NOTHING}},
};

int sections_write(const struct section *section, struct strbuf *to)
{
    const struct workload *workload = section->workload;
    int r = layout_write(&write_layout, workload->write_name, section, to);

    if (r == 0)
        r = section_space(section, to);
    if (r == 0)
        r = section_relative(section, to);
    if (r == 0)
        r = layout_write(&read_layout, workload->read_name, section, to);
    if (r == 0)
        r = layout_write(&delete_layout, workload->delete_name, section, to);
    if (r == 0)
        r = layout_write(&cpu_layout, "", section, to);
    if (r == 0)
        r = layout_write(&counters_write_layout, "", section, to);
    return r < 0 ? r : layout_write(&counters_read_layout, "", section, to);
}
