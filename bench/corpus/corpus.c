#include "corpus/corpus.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "corpus/generators.h"

static const struct {
    const char *name;
    int (*generate)(const struct corpus_config *config, struct corpus_output *output);
} kinds[] = {
    [CORPUS_TRIGGER] = {"trigger", generate_trigger},
    [CORPUS_MAILBOX] = {"mailbox", generate_mailbox},
};

#define KIND_COUNT (sizeof(kinds) / sizeof(kinds[0]))

const char *corpus_kind_name(enum corpus_kind kind)
{
    return kinds[kind].name;
}

int corpus_kind_parse(const char *name, enum corpus_kind *ret_kind)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(name, kinds[i].name) == 0) {
            *ret_kind = (enum corpus_kind)i;
            return 0;
        }
    return -EINVAL;
}

int corpus_generate(const struct corpus_config *config, struct corpus_result *ret_result,
                    char **ret_failed_path)
{
    struct corpus_output *output;
    int r;

    *ret_failed_path = NULL;
    if (config->total_bytes < CORPUS_MIN_BYTES || config->total_bytes > CORPUS_MAX_BYTES)
        return -EINVAL;
    r = output_open(config, &output, ret_failed_path);
    if (r < 0)
        return r;
    r = kinds[config->kind].generate(config, output);
    if (r == 0)
        r = output_finish(output, ret_result);
    if (r < 0)
        output_undo(output, ret_failed_path);
    output_free(output);
    return r;
}
