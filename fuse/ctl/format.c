#include "ctl/format.h"

#include <inttypes.h>
#include <stdio.h>

struct unit {
    double size;
    const char *name;
};

/* In the largest unit that leaves at least 1 after rounding to three digits. `units` rise, the last is a sentinel. */
static void format_in(double value, const struct unit *units, char ret_text[static FORMAT_BYTES])
{
    double scaled;
    int decimals;

    while (units[1].name && value / units[0].size >= units[1].size / units[0].size * 0.9995)
        units++;
    scaled = value / units[0].size;
    decimals = scaled >= 99.95 ? 0 : scaled >= 9.995 ? 1 : 2;
    if (scaled == (double)(uint64_t)scaled && units[0].size <= 1)
        decimals = 0;
    snprintf(ret_text, FORMAT_BYTES, "%.*f%s", decimals, scaled, units[0].name);
}

static const struct unit decimal_units[] = {
    {1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"}, {0, NULL},
};

void format_count(uint64_t count, int width, char ret_text[static FORMAT_BYTES])
{
    if (snprintf(ret_text, FORMAT_BYTES, "%" PRIu64, count) > width)
        format_in((double)count, decimal_units, ret_text);
}

void format_rate(double per_second, char ret_text[static FORMAT_BYTES])
{
    format_in(per_second, decimal_units, ret_text);
}

void format_bytes(uint64_t bytes, char ret_text[static FORMAT_BYTES])
{
    static const struct unit units[] = {
        {1, ""},
        {1024.0, "Ki"},
        {1048576.0, "Mi"},
        {1073741824.0, "Gi"},
        {1099511627776.0, "Ti"},
        {1125899906842624.0, "Pi"},
        {1152921504606846976.0, "Ei"},
        {0, NULL},
    };

    format_in((double)bytes, units, ret_text);
}

void format_ns(double ns, char ret_text[static FORMAT_BYTES])
{
    static const struct unit units[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {0, NULL}};

    if (ns > 0)
        format_in(ns, units, ret_text);
    else
        snprintf(ret_text, FORMAT_BYTES, "0");
}

void format_share(double share, char ret_text[static FORMAT_BYTES])
{
    if (share > 0 && share < 0.01)
        snprintf(ret_text, FORMAT_BYTES, "<1%%");
    else
        snprintf(ret_text, FORMAT_BYTES, "%.0f%%", share * 100);
}
