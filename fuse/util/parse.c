#include "util/parse.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int parse_integer(const char *text, int64_t min, int64_t max, int64_t *ret_value)
{
    long long value;
    char *end;

    if (!isdigit((unsigned char)text[text[0] == '-' || text[0] == '+']))
        return -EINVAL;
    errno = 0;
    value = strtoll(text, &end, 10);
    if (*end)
        return -EINVAL;
    if (errno || value < min || value > max)
        return -ERANGE;
    *ret_value = value;
    return 0;
}

int parse_size(const char *text, uint64_t min_bytes, uint64_t max_bytes, uint64_t *ret_bytes)
{
    static const char units[] = "KMGT";
    unsigned long long value;
    const char *unit;
    unsigned shift = 0;
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return -EINVAL;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno)
        return -ERANGE;
    if (*end) {
        unit = strchr(units, toupper((unsigned char)*end));
        if (unit) {
            shift = 10 * (unsigned)(unit - units + 1);
            end++;
            if (*end == 'i')
                end++;
            else if (*end == 'B' && end[1])
                return -EINVAL;
        }
        if (*end == 'B')
            end++;
        if (*end || end[-1] == 'i')
            return -EINVAL;
    }
    if (value > UINT64_MAX >> shift)
        return -ERANGE;
    value <<= shift;
    if (value < min_bytes || value > max_bytes)
        return -ERANGE;
    *ret_bytes = value;
    return 0;
}

int parse_seconds(const char *text, double max_seconds, double *ret_seconds)
{
    double value;
    char *end;

    /* strtod also takes "nan", "inf", hexadecimal and signs, none of which is a time-out. */
    if (!*text || strspn(text, "0123456789.") != strlen(text))
        return -EINVAL;
    value = strtod(text, &end);
    if (*end || end == text)
        return -EINVAL;
    if (!isfinite(value) || value > max_seconds)
        return -ERANGE;
    *ret_seconds = value;
    return 0;
}

int parse_switch(const char *text, int *ret_value)
{
    static const char *const words[][4] = {{"off", "no", "false", "0"}, {"on", "yes", "true", "1"}};

    for (int value = 0; value < 2; value++) {
        for (size_t i = 0; i < 4; i++) {
            if (strcmp(text, words[value][i]) == 0) {
                *ret_value = value;
                return 0;
            }
        }
    }
    return -EINVAL;
}
