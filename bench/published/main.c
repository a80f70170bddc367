/*
 * published_report TABLES markdown|html RESULT.json...
 *
 * Prints the published tables with the figures measured here beside the published ones, and which of the published
 * conclusions hold here. TABLES, contrib/published.tables, says what belongs to what. Nothing is decided by hand: a
 * difference is one when Welch's test says so after Holm's correction over all conclusions, and it is beyond what two
 * measurements of the same row differed by.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claims.h"
#include "util/cleanup.h"

#define EXIT_WRONG_USAGE 2

static json_t *load_results(char **files, int count)
{
    json_t *results = json_array();

    for (int i = 0; i < count; i++) {
        json_error_t error;
        json_t *result = json_load_file(files[i], JSON_REJECT_DUPLICATES, &error);

        if (!result || !json_is_array(json_object_get(result, "trials")) ||
            json_integer_value(json_object_get(result, "schema")) != 1) {
            fprintf(stderr, "published_report: %s: %s\n", files[i],
                    result ? "not a result of tallybench" : error.text);
            json_decref(result);
            json_decref(results);
            return NULL;
        }
        json_array_append_new(results, result);
    }
    return results;
}

int main(int argc, char **argv)
{
    struct strbuf text AUTO_STRBUF = STRBUF_INIT;
    json_t *results;
    bool html;
    int r;

    if (argc < 4 || (strcmp(argv[2], "markdown") != 0 && strcmp(argv[2], "html") != 0)) {
        fputs("published_report: usage: published_report TABLES markdown|html RESULT.json...\n",
              stderr);
        return EXIT_WRONG_USAGE;
    }
    html = strcmp(argv[2], "html") == 0;
    results = load_results(argv + 3, argc - 3);
    if (!results)
        return EXIT_FAILURE;
    r = claims_write(argv[1], results, html, &text);
    json_decref(results);
    if (r == 0 && text.failed)
        r = -ENOMEM;
    if (r < 0) {
        fprintf(stderr, "published_report: %s: %s\n", argv[1], strerror(-r));
        return EXIT_FAILURE;
    }
    fwrite(text.data, 1, text.length, stdout);
    return fflush(stdout) != 0 || ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
