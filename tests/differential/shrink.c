#include "shrink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/cleanup.h"

#define RUNS_MAX 600
#define THREADED_TRIES 6 /* until a difference that needs threads shows again */

struct shrink {
    struct trial *trial;
    struct script best;
    struct difference *difference; /* of best */
    bool is_sequential;
    unsigned runs;
};

static bool is_same_kind(const struct difference *a, const struct difference *b)
{
    return a->call == b->call && strcmp(a->field, b->field) == 0;
}

/* Whether the script shows the difference; it is taken then. */
static bool fails(struct shrink *shrink, const struct script *script)
{
    for (unsigned tries = shrink->is_sequential ? 1 : THREADED_TRIES; tries > 0; tries--) {
        struct difference difference = {.text = STRBUF_INIT};
        int r = run_script(shrink->trial, script, shrink->is_sequential, &difference);

        shrink->runs++;
        if (r > 0 && is_same_kind(&difference, shrink->difference)) {
            strbuf_free(&shrink->difference->text);
            *shrink->difference = difference;
            return true;
        }
        strbuf_free(&difference.text);
    }
    return false;
}

/* Tries the best script without the calls [begin, end). */
static bool try_without(struct shrink *shrink, size_t begin, size_t end)
{
    AUTO_FREE bool *keep = malloc(shrink->best.count + 1);
    struct script shorter;

    if (!keep)
        return false;
    for (size_t i = 0; i < shrink->best.count; i++)
        keep[i] = i < begin || i >= end;
    if (script_select(&shrink->best, keep, &shorter) < 0)
        return false;
    if (!fails(shrink, &shorter)) {
        script_free(&shorter);
        return false;
    }
    script_free(&shrink->best);
    shrink->best = shorter;
    return true;
}

/* What stands behind the call that showed the difference is of no use. */
static void cut_tail(struct shrink *shrink)
{
    size_t end = shrink->difference->index + 1;

    if (end < shrink->best.count)
        try_without(shrink, end, shrink->best.count);
}

/* From the end, since most of a script prepares nothing. */
static bool remove_parts(struct shrink *shrink, size_t size)
{
    bool shorter = false;
    size_t end = shrink->best.count;

    while (end > 0 && shrink->runs < RUNS_MAX) {
        size_t begin = end > size ? end - size : 0;

        if (try_without(shrink, begin, end))
            shorter = true;
        end = begin < shrink->best.count ? begin : shrink->best.count;
    }
    return shorter;
}

static void stop_watching(struct shrink *shrink)
{
    for (size_t i = 0; i < shrink->best.count; i++) {
        if (!shrink->best.ops[i].watched)
            continue;
        shrink->best.ops[i].watched = false;
        if (!fails(shrink, &shrink->best))
            shrink->best.ops[i].watched = true;
    }
}

int shrink_script(struct trial *trial, const struct script *script, struct difference *difference,
                  struct script *ret_script)
{
    struct shrink shrink = {.trial = trial, .difference = difference, .is_sequential = true};
    AUTO_FREE bool *keep = malloc(script->count + 1);

    if (!keep)
        return -ENOMEM;
    memset(keep, true, script->count);
    if (script_select(script, keep, &shrink.best) < 0)
        return -ENOMEM;
    if (!fails(&shrink, &shrink.best)) {
        shrink.is_sequential = false;
        if (!fails(&shrink, &shrink.best)) {
            script_free(&shrink.best);
            return -EAGAIN;
        }
    }
    trial->place.is_hasty = true;
    cut_tail(&shrink);
    for (size_t size = shrink.best.count / 2; size > 0; size /= 2)
        remove_parts(&shrink, size);
    while (remove_parts(&shrink, 1))
        ;
    stop_watching(&shrink);
    trial->place.is_hasty = false;
    *ret_script = shrink.best;
    return 0;
}
