#include <pthread.h>

#include "harness.h"
#include "util/slab.h"

#define OBJECTS 20000

/* Under sanitizers every object comes from malloc, which says nothing about memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GIVES_BACK 0
#else
#define GIVES_BACK 1
#endif

struct object {
    uint32_t number;
    char rest[330];
};

static struct object *objects[OBJECTS];

/* statm's figure may be some hundred pages behind. */
static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    unsigned long kib = 0;
    char line[256];

    CHECK(file);
    while (kib == 0 && fgets(line, sizeof(line), file))
        sscanf(line, "Rss: %lu", &kib);
    fclose(file);
    CHECK(kib > 0);
    return (size_t)kib << 10;
}

static void fill(struct slab *slab, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        objects[i] = slab_alloc(slab);
        CHECK(objects[i]);
        CHECK_EQ((uintptr_t)objects[i] % 16, 0);
        memset(objects[i], (int)(i % 251), sizeof(*objects[i]));
        objects[i]->number = i;
    }
}

static void check_and_free(struct slab *slab, uint32_t i)
{
    CHECK_EQ(objects[i]->number, i);
    CHECK_EQ(objects[i]->rest[sizeof(objects[i]->rest) - 1], (char)(i % 251));
    slab_free(slab, objects[i]);
    objects[i] = NULL;
}

static void keeps_objects_apart_when_they_come_and_go(void)
{
    struct slab slab;

    slab_init(&slab, sizeof(struct object));
    fill(&slab, 0, OBJECTS);
    for (int round = 0; round < 5; round++) {
        for (uint32_t i = (uint32_t)round; i < OBJECTS; i += 3)
            check_and_free(&slab, i);
        for (uint32_t i = (uint32_t)round; i < OBJECTS; i += 3)
            fill(&slab, i, i + 1);
    }
    for (uint32_t i = 0; i < OBJECTS; i++)
        check_and_free(&slab, OBJECTS - 1 - i);
    slab_destroy(&slab);
}

static void gives_memory_back_when_most_are_freed(void)
{
    struct slab slab;
    size_t before, full, after;

    slab_init(&slab, sizeof(struct object));
    before = resident_bytes();
    fill(&slab, 0, OBJECTS);
    full = resident_bytes();
    if (GIVES_BACK)
        CHECK(full - before >= OBJECTS * sizeof(struct object));
    /* One in a hundred stays, all over. */
    for (uint32_t i = 0; i < OBJECTS; i++) {
        if (i % 100 != 0)
            check_and_free(&slab, i);
    }
    after = resident_bytes();
    if (GIVES_BACK)
        CHECK(after - before <= (full - before) * 6 / 10);
    for (uint32_t i = 0; i < OBJECTS; i += 100)
        check_and_free(&slab, i);
    after = resident_bytes();
    if (GIVES_BACK)
        CHECK(after <= before + ((size_t)1 << 18));
    slab_destroy(&slab);
}

static void *churn(void *user)
{
    struct slab *slab = user;
    struct object *own[100] = {NULL};
    uint32_t state = (uint32_t)(uintptr_t)&own;

    for (uint32_t i = 0; i < 200000; i++) {
        struct object **slot = &own[(state = state * 1664525 + 1013904223) / 65536 % 100];

        if (*slot && (*slot)->number != (uint32_t)(slot - own))
            return "an object changed";
        if (*slot) {
            slab_free(slab, *slot);
            *slot = NULL;
        } else if ((*slot = slab_alloc(slab))) {
            (*slot)->number = (uint32_t)(slot - own);
        }
    }
    for (size_t i = 0; i < 100; i++) {
        if (own[i])
            slab_free(slab, own[i]);
    }
    return NULL;
}

static void stays_whole_when_threads_share_it(void)
{
    pthread_t threads[4];
    struct slab slab;

    slab_init(&slab, sizeof(struct object));
    for (size_t i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, churn, &slab), 0);
    for (size_t i = 0; i < 4; i++) {
        void *complaint;

        pthread_join(threads[i], &complaint);
        CHECK(!complaint);
    }
    slab_destroy(&slab);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(keeps_objects_apart_when_they_come_and_go),
        CASE(gives_memory_back_when_most_are_freed),
        CASE(stays_whole_when_threads_share_it),
    };

    return RUN_CASES(cases);
}
