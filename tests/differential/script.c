#include "script.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "util/cleanup.h"

const struct call_type call_types[CALL_COUNT] = {
#define ARG(kind, label) {ARGUMENT_##kind, #label},
#define CALL(name, weight, ...) {#name, weight, {__VA_ARGS__}},
#include "calls.def"
#undef CALL
#undef ARG
};

static unsigned argument_count(const struct call_type *type)
{
    unsigned count = 0;

    while (count < ARGUMENTS_MAX && type->arguments[count].kind != ARGUMENT_NONE)
        count++;
    return count;
}

static unsigned short draw_call(struct random *random)
{
    unsigned sum = 0, drawn;

    for (size_t i = 0; i < CALL_COUNT; i++)
        sum += call_types[i].weight;
    drawn = random_below(random, sum);
    for (unsigned short i = 0;; i++) {
        if (drawn < call_types[i].weight)
            return i;
        drawn -= call_types[i].weight;
    }
}

static struct op draw_op(struct drawing *drawing, unsigned thread)
{
    struct op op = {.call = draw_call(&drawing->random), .thread = (unsigned char)thread};

    op.watched = random_chance(&drawing->random, 10);
    for (unsigned i = 0; i < argument_count(&call_types[op.call]); i++)
        op.arguments[i] = argument_draw(call_types[op.call].arguments[i].kind, drawing);
    return op;
}

/* Something to begin with in each phase: directories, and open files. */
static struct op draw_first_op(struct drawing *drawing, unsigned thread, unsigned i)
{
    static const char *const first[] = {"d", "e", "d/e", "a", "b", "c", "d/a", "d/b"};
    struct op op = {.call = i < 3 ? CALL_mkdir : CALL_open, .thread = (unsigned char)thread};
    int64_t path;

    argument_parse(ARGUMENT_PATH, first[i], &path);
    if (op.call == CALL_mkdir) {
        op.arguments[0] = path;
        op.arguments[1] = 0777;
        return op;
    }
    op.arguments[0] = argument_draw(ARGUMENT_NEW_SLOT, drawing);
    op.arguments[1] = path;
    op.arguments[2] = O_RDWR | O_CREAT;
    op.arguments[3] = 0666;
    return op;
}

int script_draw(uint64_t seed, const struct script_shape *shape, struct script *ret_script)
{
    size_t count = (size_t)shape->phases * (shape->threads * shape->operations + 1) - 1;
    struct op *ops = calloc(count, sizeof(*ops)), *op = ops;
    struct drawing drawings[THREADS_MAX];

    if (!ops)
        return -ENOMEM;
    for (unsigned thread = 0; thread < shape->threads; thread++)
        drawings[thread] =
            (struct drawing){.random.state = random_mix(seed * THREADS_MAX + thread + 1)};
    for (unsigned phase = 0; phase < shape->phases; phase++) {
        if (phase > 0)
            *op++ = (struct op){.call = CALL_REMOUNT};
        for (unsigned i = 0; i < shape->operations; i++) {
            for (unsigned thread = 0; thread < shape->threads; thread++)
                *op++ = i < 8 ? draw_first_op(&drawings[thread], thread, i)
                              : draw_op(&drawings[thread], thread);
        }
        for (unsigned thread = 0; thread < shape->threads; thread++)
            drawings[thread].slots = drawings[thread].maps = 0;
    }
    *ret_script = (struct script){ops, count, shape->threads};
    return 0;
}

int script_select(const struct script *script, const bool *keep, struct script *ret_script)
{
    struct op *ops = calloc(script->count + 1, sizeof(*ops));
    size_t count = 0;

    if (!ops)
        return -ENOMEM;
    for (size_t i = 0; i < script->count; i++) {
        if (keep[i])
            ops[count++] = script->ops[i];
    }
    *ret_script = (struct script){ops, count, script->threads};
    return 0;
}

static int parse_arguments(const struct call_type *type, char *words, struct op *op)
{
    unsigned expected = argument_count(type), found = 0;
    char *saved, *word = strtok_r(words, " \n", &saved);

    for (; word; word = strtok_r(NULL, " \n", &saved)) {
        char *value = strchr(word, '=');

        if (strcmp(word, "watched") == 0) {
            op->watched = true;
            continue;
        }
        if (!value || found == expected)
            return -EINVAL;
        *value++ = '\0';
        if (strcmp(word, type->arguments[found].label) != 0 ||
            argument_parse(type->arguments[found].kind, value, &op->arguments[found]) < 0)
            return -EINVAL;
        found++;
    }
    return found == expected ? 0 : -EINVAL;
}

static int parse_op(char *line, unsigned threads, struct op *ret_op)
{
    unsigned thread;
    char name[32];
    int length;

    *ret_op = (struct op){.call = CALL_REMOUNT};
    if (strcmp(line, "remount") == 0)
        return 0;
    if (sscanf(line, "%u: %31s%n", &thread, name, &length) != 2 || thread >= threads)
        return -EINVAL;
    for (unsigned short i = 0; i < CALL_COUNT; i++) {
        if (strcmp(call_types[i].name, name) == 0) {
            *ret_op = (struct op){.call = i, .thread = (unsigned char)thread};
            return parse_arguments(&call_types[i], line + length, ret_op);
        }
    }
    return -EINVAL;
}

static int append(struct script *script, const struct op *op)
{
    struct op *larger = realloc(script->ops, (script->count + 1) * sizeof(*larger));

    if (!larger)
        return -ENOMEM;
    script->ops = larger;
    larger[script->count++] = *op;
    return 0;
}

int script_read(FILE *from, struct script *ret_script, unsigned *ret_line)
{
    AUTO_SCRIPT struct script script = {.threads = 1};
    AUTO_FREE char *line = NULL;
    size_t room = 0;
    int r = 0;

    for (unsigned number = 1; r == 0 && getline(&line, &room, from) >= 0; number++) {
        struct op op;

        *ret_line = number;
        line[strcspn(line, "#\n")] = '\0';
        if (line[strspn(line, " ")] == '\0')
            continue;
        if (sscanf(line, "threads %u", &script.threads) == 1) {
            r = script.threads < 1 || script.threads > THREADS_MAX ? -EINVAL : 0;
            continue;
        }
        r = parse_op(line, script.threads, &op);
        if (r == 0)
            r = append(&script, &op);
    }
    if (r < 0)
        return r;
    *ret_script = script;
    script.ops = NULL;
    return 0;
}

void script_print_op(const struct op *op, struct strbuf *to)
{
    const struct call_type *type;

    if (op->call == CALL_REMOUNT) {
        strbuf_puts(to, "remount");
        return;
    }
    type = &call_types[op->call];
    strbuf_printf(to, "%u: %s", op->thread, type->name);
    for (unsigned i = 0; i < argument_count(type); i++) {
        strbuf_printf(to, " %s=", type->arguments[i].label);
        argument_print(type->arguments[i].kind, op->arguments[i], to);
    }
    if (op->watched)
        strbuf_puts(to, " watched");
}

int script_write(const struct script *script, FILE *to)
{
    fprintf(to, "threads %u\n", script->threads);
    for (size_t i = 0; i < script->count; i++) {
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;

        script_print_op(&script->ops[i], &line);
        fprintf(to, "%s\n", line.data ? line.data : "");
    }
    return fflush(to) == 0 && !ferror(to) ? 0 : -EIO;
}

void script_free(struct script *script)
{
    free(script->ops);
    script->ops = NULL;
}
