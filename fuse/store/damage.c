/* Lists of damage. */
#include <errno.h>
#include <stdlib.h>

#include "store/salvage.h"

static const struct {
    const char *text;
    bool is_loss;
} kinds[STORE_DAMAGE_KINDS] = {
    [STORE_DAMAGE_HEADER] = {"frame header damaged", true},
    [STORE_DAMAGE_PAYLOAD] = {"payload checksum wrong", true},
    [STORE_DAMAGE_CODEC] = {"payload does not decompress", true},
    [STORE_DAMAGE_UNREADABLE] = {"lower file system cannot read it", true},
    [STORE_DAMAGE_MARKED] = {"marked as lost by an earlier repair", true},
    [STORE_DAMAGE_GUESSED] = {"nothing stored, beside a frame that is gone", true},
    [STORE_DAMAGE_UNKNOWN] = {"no frame can be read here; what it held is not known", false},
    [STORE_DAMAGE_TORN] = {"frame torn in a crash or damaged; older contents are shown", false},
    [STORE_DAMAGE_DOUBTFUL] = {"may be older than it should be: a frame is lost about which nothing is known", false},
    [STORE_DAMAGE_HIDDEN] = {"damaged frame below newer data; a repair makes the chunk readable", false},
    [STORE_DAMAGE_INDEX] = {"index damaged; nothing is lost by that", false},
    [STORE_DAMAGE_BEGINNING] = {"beginning damaged; a mount may take the file for a plain one", false},
    [STORE_DAMAGE_CUT] = {"cut within a frame; a mount takes the file for a plain one", false},
};

const char *store_damage_text(enum store_damage_kind kind)
{
    return kinds[kind].text;
}

bool store_damage_is_loss(enum store_damage_kind kind)
{
    return kinds[kind].is_loss;
}

void store_report_free(struct store_report *report)
{
    free(report->damage);
    *report = (struct store_report)STORE_REPORT_NONE;
}

static bool continues(const struct store_damage *last, const struct store_damage *next)
{
    return last->kind == next->kind && last->logical_length && next->logical_length &&
           last->logical_offset + last->logical_length == next->logical_offset &&
           last->lower_offset + last->lower_length >= next->lower_offset && last->lower_offset <= next->lower_offset;
}

int damage_add(struct damage_list *list, const struct store_damage *damage)
{
    struct store_damage *last = list->count ? &list->items[list->count - 1] : NULL;

    if (last && continues(last, damage)) {
        uint64_t end = damage->lower_offset + damage->lower_length;

        last->logical_length += damage->logical_length;
        if (end > last->lower_offset + last->lower_length)
            last->lower_length = end - last->lower_offset;
        return 0;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 8;
        struct store_damage *items = reallocarray(list->items, capacity, sizeof(*items));

        if (!items)
            return -ENOMEM;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *damage;
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct store_damage *a = left, *b = right;
    uint64_t of_a, of_b;

    if ((a->logical_length == 0) != (b->logical_length == 0))
        return a->logical_length == 0 ? 1 : -1;
    of_a = a->logical_length ? a->logical_offset : a->lower_offset;
    of_b = b->logical_length ? b->logical_offset : b->lower_offset;
    if (of_a != of_b)
        return of_a < of_b ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* A gap beside two places of which nothing is known was guessed twice. */
static void drop_overlaps(struct damage_list *list)
{
    uint64_t guessed_end = 0;
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct store_damage damage = list->items[i];
        uint64_t end = damage.logical_offset + damage.logical_length;

        if (damage.kind == STORE_DAMAGE_GUESSED) {
            if (end <= guessed_end)
                continue;
            if (damage.logical_offset < guessed_end)
                damage.logical_offset = guessed_end;
            damage.logical_length = end - damage.logical_offset;
            guessed_end = end;
        }
        list->items[kept++] = damage;
    }
    list->count = kept;
}

void damage_sort(struct damage_list *list)
{
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof(*list->items), compare);
    drop_overlaps(list);
}
