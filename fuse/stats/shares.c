/* Counting by inode, process, user and tree. */
#include <stdbool.h>

#include "stats/set.h"
#include "util/clock.h"

static void set(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

static uint64_t get(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void bump(_Atomic uint64_t *word, uint64_t by)
{
    set(word, get(word) + by);
}

struct stats_kind stats_kind(enum stats_by by)
{
    static const struct stats_kind kinds[STATS_BY_COUNT] = {
        [STATS_BY_INODE] = {0, STATS_INODE_SETS},
        [STATS_BY_PID] = {STATS_INODE_SETS, STATS_PID_SETS},
        [STATS_BY_UID] = {STATS_INODE_SETS + STATS_PID_SETS, STATS_UID_SETS},
        [STATS_BY_TREE] = {STATS_INODE_SETS + STATS_PID_SETS + STATS_UID_SETS, STATS_TREE_SETS},
    };

    return kinds[by];
}

/* Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): neighbours go to different sets. */
static struct stats_set *find_set(struct stats_set sets[static STATS_SETS], enum stats_by by, uint64_t key)
{
    struct stats_kind kind = stats_kind(by);

    return &sets[kind.first + (unsigned)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % kind.count];
}

/* The place of the key, or the one that it is to take: a free one, or that of the least time. */
static unsigned find_way(const struct stats_set *set, uint64_t key)
{
    unsigned least = 0;
    uint64_t least_ns = UINT64_MAX;

    for (unsigned way = 0; way < STATS_WAYS; way++) {
        if (get(&set->words[STATS_SET_KEYS + way]) == key)
            return way;
    }
    for (unsigned way = 0; way < STATS_WAYS; way++) {
        const size_t total = STATS_SET_SHARES + way * STATS_SHARE_LINE + offsetof(struct stats_share, total_ns) / 8;
        uint64_t total_ns = get(&set->words[total]);

        if (get(&set->words[STATS_SET_KEYS + way]) == 0)
            return way;
        if (total_ns < least_ns) {
            least = way;
            least_ns = total_ns;
        }
    }
    return least;
}

static void clear(struct stats_set *of, uint64_t epoch)
{
    for (size_t i = STATS_SET_KEYS; i < STATS_SET_WORDS; i++)
        set(&of->words[i], 0);
    set(&of->words[STATS_SET_EPOCH], epoch);
}

static void move_in(struct stats_set *of, unsigned way, uint64_t key)
{
    _Atomic uint64_t *share = &of->words[STATS_SET_SHARES + way * STATS_SHARE_LINE];

    for (size_t i = 0; i < STATS_SHARE_WORDS; i++) {
        bump(&of->words[STATS_SET_OTHER + i], get(&share[i]));
        set(&share[i], 0);
    }
    for (size_t i = 0; i < STATS_NOTE_WORDS; i++)
        set(&of->words[STATS_SET_NOTES + way * STATS_NOTE_WORDS + i], 0);
    set(&of->words[STATS_SET_KEYS + way], key);
}

static void add(_Atomic uint64_t share[static STATS_SHARE_WORDS], const struct stats_sample *sample)
{
    bump(&share[0], 1);
    bump(&share[1], sample->error ? 1 : 0);
    bump(&share[2], sample->bytes);
    bump(&share[3], sample->total_ns);
    bump(&share[4], sample->split.lower_ns);
    bump(&share[5], sample->split.codec_ns);
    bump(&share[6], sample->split.wait_ns);
}

/* Opens the key's set for writing and makes its place there. */
static unsigned begin(struct stats_set *of, uint64_t epoch, uint64_t key)
{
    unsigned way;

    bump(&of->words[STATS_SET_SEQUENCE], 1);
    if (get(&of->words[STATS_SET_EPOCH]) != epoch)
        clear(of, epoch);
    way = find_way(of, key);
    if (get(&of->words[STATS_SET_KEYS + way]) != key)
        move_in(of, way, key);
    return way;
}

static void end(struct stats_set *of)
{
    bump(&of->words[STATS_SET_SEQUENCE], 1);
}

/* Counts for nobody in particular. */
static void record_other(struct stats_set *of, uint64_t epoch, const struct stats_sample *sample)
{
    bump(&of->words[STATS_SET_SEQUENCE], 1);
    if (get(&of->words[STATS_SET_EPOCH]) != epoch)
        clear(of, epoch);
    add(&of->words[STATS_SET_OTHER], sample);
    end(of);
}

/* Returns how often the key was counted since it has its place, which is *ret_way. */
static uint64_t record(struct stats_set *of, uint64_t key, uint64_t epoch, const struct stats_sample *sample,
                       unsigned *ret_way)
{
    unsigned way = begin(of, epoch, key);
    _Atomic uint64_t *share = &of->words[STATS_SET_SHARES + way * STATS_SHARE_LINE];

    add(share, sample);
    end(of);
    *ret_way = way;
    return get(share);
}

static void note_inode(struct stats_set *of, unsigned way, uint64_t ino)
{
    bump(&of->words[STATS_SET_SEQUENCE], 1);
    set(&of->words[STATS_SET_NOTES + way * STATS_NOTE_WORDS + STATS_NOTE_NUMBER], ino);
    end(of);
}

static void note_command(struct stats_set *of, unsigned way, uint32_t id)
{
    _Atomic uint64_t *note = &of->words[STATS_SET_NOTES + way * STATS_NOTE_WORDS];
    uint64_t command[2];
    uint32_t process;

    if (!stats_describe_thread(id, &process, command))
        return;
    bump(&of->words[STATS_SET_SEQUENCE], 1);
    set(&note[STATS_NOTE_NUMBER], process);
    set(&note[STATS_NOTE_COMMAND], command[0]);
    set(&note[STATS_NOTE_COMMAND + 1], command[1]);
    set(&note[STATS_NOTE_ASKED_NS], clock_ns());
    end(of);
}

/* A process is asked again when it has done four times as much: a shell's child may have become something else. */
static bool is_power_of_four(uint64_t n)
{
    return (n & (n - 1)) == 0 && (n & UINT64_C(0x5555555555555555));
}

void stats_record_shares(struct stats_set sets[static STATS_SETS], uint64_t epoch, const struct stats_sample *sample)
{
    const uint64_t keys[STATS_BY_COUNT] = {
        [STATS_BY_INODE] = sample->subject,
        [STATS_BY_PID] = sample->pid ? (uint64_t)sample->pid << 32 | sample->uid : 0,
        [STATS_BY_UID] = sample->nobody ? 0 : (uint64_t)sample->uid + 1,
        [STATS_BY_TREE] = sample->tree,
    };

    for (enum stats_by by = 0; by < STATS_BY_COUNT; by++) {
        uint64_t key = keys[by], count;
        unsigned way;

        if (by == STATS_BY_TREE && key == 0)
            continue;
        if (key == 0 || (by == STATS_BY_TREE && key == STATS_TREE_OTHER)) {
            record_other(&sets[stats_kind(by).first], epoch, sample);
            continue;
        }
        struct stats_set *of = find_set(sets, by, key);
        count = record(of, key, epoch, sample, &way);
        if (by == STATS_BY_INODE && count == 1)
            note_inode(of, way, sample->ino);
        if (by == STATS_BY_PID && is_power_of_four(count))
            note_command(of, way, sample->pid);
    }
}
