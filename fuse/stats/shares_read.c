/* Merging the tables of all threads. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stats/block.h"
#include "stats/set.h"
#include "util/cleanup.h"

/* An entry as the tables have it. */
struct part {
    uint64_t key;
    uint64_t number;
    uint64_t asked_ns;
    char command[STATS_COMMAND_BYTES];
    struct stats_share share;
};

struct parts {
    struct part *at;
    size_t count, capacity;
    size_t merged; /* of those, the first are sorted and each key is there once */
    struct stats_share other;
};

void stats_share_add(struct stats_share *to, const struct stats_share *from)
{
    to->count += from->count;
    to->errors += from->errors;
    to->bytes += from->bytes;
    to->total_ns += from->total_ns;
    to->lower_ns += from->lower_ns;
    to->codec_ns += from->codec_ns;
    to->wait_ns += from->wait_ns;
}

/* As row_copy in read.c. */
static bool set_copy(const struct stats_set *set, uint64_t epoch, uint64_t words[static STATS_SET_WORDS])
{
    for (;;) {
        uint64_t before = atomic_load_explicit(&set->words[STATS_SET_SEQUENCE], memory_order_acquire);
        bool current;

        if (before & 1) {
            sched_yield();
            continue;
        }
        current = atomic_load_explicit(&set->words[STATS_SET_EPOCH], memory_order_acquire) == epoch;
        for (size_t i = STATS_SET_KEYS; current && i < STATS_SET_WORDS; i++)
            words[i] = atomic_load_explicit(&set->words[i], memory_order_acquire);
        if (atomic_load_explicit(&set->words[STATS_SET_SEQUENCE], memory_order_relaxed) == before)
            return current;
    }
}

static struct stats_share share_of(const uint64_t words[static STATS_SHARE_WORDS])
{
    struct stats_share share;

    memcpy(&share, words, sizeof(share));
    return share;
}

static int add_part(struct parts *parts, const struct part *part)
{
    if (parts->count == parts->capacity) {
        size_t capacity = parts->capacity ? 2 * parts->capacity : 256;
        struct part *at = reallocarray(parts->at, capacity, sizeof(*at));

        if (!at)
            return -ENOMEM;
        parts->at = at;
        parts->capacity = capacity;
    }
    parts->at[parts->count++] = *part;
    return 0;
}

static int add_set(struct parts *parts, const uint64_t words[static STATS_SET_WORDS])
{
    const struct stats_share other = share_of(&words[STATS_SET_OTHER]);
    int r = 0;

    stats_share_add(&parts->other, &other);
    for (unsigned way = 0; r == 0 && way < STATS_WAYS; way++) {
        const uint64_t *note = &words[STATS_SET_NOTES + way * STATS_NOTE_WORDS];
        struct part part = {
            .key = words[STATS_SET_KEYS + way],
            .number = note[STATS_NOTE_NUMBER],
            .asked_ns = note[STATS_NOTE_ASKED_NS],
            .share = share_of(&words[STATS_SET_SHARES + way * STATS_SHARE_LINE]),
        };

        memcpy(part.command, &note[STATS_NOTE_COMMAND], sizeof(part.command));
        if (part.key)
            r = add_part(parts, &part);
    }
    return r;
}

static int compare_keys(const void *left, const void *right)
{
    const struct part *a = left, *b = right;

    return a->key < b->key ? -1 : a->key > b->key;
}

/* The newest answer to what runs there. */
static void join(struct part *to, const struct part *from)
{
    stats_share_add(&to->share, &from->share);
    if (!to->number)
        to->number = from->number;
    if (from->asked_ns > to->asked_ns) {
        to->asked_ns = from->asked_ns;
        memcpy(to->command, from->command, sizeof(to->command));
    }
}

static void merge(struct parts *parts)
{
    size_t count = 0;

    if (parts->count)
        qsort(parts->at, parts->count, sizeof(*parts->at), compare_keys);
    for (size_t i = 0; i < parts->count; i++) {
        if (count > 0 && parts->at[count - 1].key == parts->at[i].key)
            join(&parts->at[count - 1], &parts->at[i]);
        else
            parts->at[count++] = parts->at[i];
    }
    parts->count = parts->merged = count;
}

static int collect(struct stats *stats, enum stats_by by, uint64_t epoch, struct parts *parts)
{
    const struct stats_kind kind = stats_kind(by);
    uint64_t words[STATS_SET_WORDS];
    int r = 0;

    for (struct stats_thread *thread = stats_first_thread(stats); r == 0 && thread; thread = thread->next) {
        for (unsigned i = 0; r == 0 && i < kind.count; i++) {
            if (set_copy(&thread->sets[kind.first + i], epoch, words))
                r = add_set(parts, words);
        }
        /* Memory is in proportion to what is found, not to the threads that found it. */
        if (parts->count > 2 * parts->merged + 4096)
            merge(parts);
    }
    merge(parts);
    return r;
}

/* The tables know the kernel's threads; people know processes. */
static void merge_threads(struct parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->at[i];

        if (part->number)
            part->key = part->number << 32 | (part->key & UINT32_MAX);
    }
    merge(parts);
}

static int compare_times(const void *left, const void *right)
{
    const struct stats_entry *a = left, *b = right;

    if (a->share.total_ns != b->share.total_ns)
        return a->share.total_ns > b->share.total_ns ? -1 : 1;
    return a->subject < b->subject ? -1 : a->subject > b->subject;
}

static struct stats_entry entry_of(enum stats_by by, const struct part *part)
{
    struct stats_entry entry = {.subject = part->key, .share = part->share};

    switch (by) {
    case STATS_BY_INODE:
        entry.ino = part->number;
        break;
    case STATS_BY_PID:
        entry.pid = part->key >> 32;
        entry.uid = (uint32_t)part->key;
        memcpy(entry.command, part->command, sizeof(entry.command));
        entry.command[sizeof(entry.command) - 1] = '\0';
        break;
    case STATS_BY_UID:
        entry.uid = (uint32_t)(part->key - 1);
        break;
    case STATS_BY_TREE:
    case STATS_BY_COUNT:
        break;
    }
    return entry;
}

int stats_read_shares(struct stats *stats, enum stats_by by, struct stats_entry **ret_entries, size_t *ret_count,
                      struct stats_share *ret_other)
{
    struct parts parts = {0};
    struct stats_entry *entries = NULL;
    uint64_t epoch;
    int r;

    stats_settle(stats);
    do {
        epoch = stats_epoch(stats);
        parts.count = parts.merged = 0;
        parts.other = (struct stats_share){0};
        r = collect(stats, by, epoch, &parts);
    } while (r == 0 && epoch != stats_epoch(stats));
    if (r == 0 && by == STATS_BY_PID)
        merge_threads(&parts);
    if (r == 0)
        entries = calloc(parts.count + 1, sizeof(*entries));
    if (!entries)
        r = -ENOMEM;
    for (size_t i = 0; r == 0 && i < parts.count; i++)
        entries[i] = entry_of(by, &parts.at[i]);
    if (r == 0) {
        qsort(entries, parts.count, sizeof(*entries), compare_times);
        *ret_entries = entries;
        *ret_count = parts.count;
        *ret_other = parts.other;
    }
    free(parts.at);
    return r;
}
