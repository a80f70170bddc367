#include <string.h>

#include "report.h"

static void put_field(struct strbuf *to, const char *text)
{
    if (!text[strcspn(text, ",\"\r\n")]) {
        strbuf_puts(to, text);
        return;
    }
    strbuf_puts(to, "\"");
    for (; *text; text++) {
        if (*text == '"')
            strbuf_puts(to, "\"");
        strbuf_add(to, text, 1);
    }
    strbuf_puts(to, "\"");
}

static void put_text(struct strbuf *to, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    strbuf_puts(to, ",");
    put_field(to, text ? text : "");
}

static void put_trial(const struct report_input *input, const json_t *trial, struct strbuf *to)
{
    static const char *const own[] = {"status", "reason", "temperature"};
    const json_t *configuration =
        json_array_get(json_object_get(input->result, "configurations"),
                       (size_t)json_integer_value(json_object_get(trial, "configuration")));

    put_field(to, input->file);
    put_text(to, configuration, "workload");
    put_text(to, configuration, "target");
    put_text(to, configuration, "codec");
    put_text(to, configuration, "path");
    strbuf_printf(to, ",%lld", (long long)json_integer_value(json_object_get(trial, "block")));
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        put_text(to, trial, own[i]);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        double value;

        strbuf_puts(to, ",");
        if (metric_value(trial, (enum metric)i, &value))
            strbuf_printf(to, "%.15g", value);
    }
    strbuf_puts(to, "\r\n");
}

int report_csv(const struct report_input *inputs, size_t count, struct strbuf *to)
{
    const json_t *trial;
    size_t t;

    strbuf_puts(to, "file,workload,target,codec,path,block,status,reason,temperature");
    for (size_t i = 0; i < METRIC_COUNT; i++)
        strbuf_printf(to, ",%s", metric_key((enum metric)i));
    strbuf_puts(to, "\r\n");
    for (size_t i = 0; i < count; i++) {
        json_array_foreach(json_object_get(inputs[i].result, "trials"), t, trial)
            put_trial(&inputs[i], trial, to);
    }
    return 0;
}
