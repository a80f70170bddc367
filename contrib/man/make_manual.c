/* make_manual TEMPLATE PAGE: copies a manual page and fills in the version and, at ".\" OPERATIONS", the operations. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally/stats.h"
#include "util/cleanup.h"

#define OPERATIONS_MARK ".\\\" OPERATIONS\n"
#define VERSION_MARK "@VERSION@"

static const char *const since[] = {
#define BASE ""
#define V318 " (libfuse 3.18 and later)"
#define TALLY_OP(name, since, reply, doc, parameters, arguments) [TALLY_OP_##name] = since,
#include "tally/ops.def"
#undef TALLY_OP
#undef BASE
#undef V318
};

static void put_operations(FILE *page)
{
    for (enum tally_op op = 0; op < TALLY_OP_COUNT; op++) {
        const char *doc = tally_op_doc(op);

        fprintf(page, ".TP\n.B %s\n%c%s%s\n", tally_op_name(op), toupper((unsigned char)doc[0]), doc + 1, since[op]);
    }
}

static void put_line(const char *line, FILE *page)
{
    const char *mark = strstr(line, VERSION_MARK);

    if (strcmp(line, OPERATIONS_MARK) == 0)
        put_operations(page);
    else if (mark)
        fprintf(page, "%.*s%s%s", (int)(mark - line), line, TALLY_VERSION, mark + strlen(VERSION_MARK));
    else
        fputs(line, page);
}

int main(int argc, char **argv)
{
    AUTO_FCLOSE FILE *template = argc == 3 ? fopen(argv[1], "re") : NULL;
    AUTO_FREE char *line = NULL;
    size_t capacity = 0;
    FILE *page;

    if (!template) {
        fprintf(stderr, "make_manual: %s\n", argc == 3 ? strerror(errno) : "wanted are TEMPLATE and PAGE");
        return argc == 3 ? EXIT_FAILURE : 2;
    }
    page = fopen(argv[2], "we");
    if (!page) {
        fprintf(stderr, "make_manual: %s: %s\n", argv[2], strerror(errno));
        return EXIT_FAILURE;
    }
    while (getline(&line, &capacity, template) >= 0)
        put_line(line, page);
    if (ferror(template) | ferror(page) | fclose(page)) {
        fprintf(stderr, "make_manual: %s: cannot be written\n", argv[2]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
