#include "harness.h"
#include "tally/hist.h"

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Spread over all magnitudes. */
static uint64_t random_ns(uint64_t *state, unsigned bits)
{
    uint64_t value = next_random(state);

    return value >> (64 - 1 - next_random(state) % bits);
}

static void finds_the_bucket_when_the_value_is_at_an_edge(void)
{
    static const struct {
        uint64_t value;
        unsigned index;
        uint64_t low;
    } rows[] = {
        {0, 0, 0},
        {1, 1, 1},
        {63, 63, 63},
        {64, 64, 64},
        {65, 64, 64},
        {66, 65, 66},
        {127, 95, 126},
        {128, 96, 128},
        {131, 96, 128},
        {132, 97, 132},
        {1000000, 509, 999424 /* 61 x 2^14 */},
        {(UINT64_C(1) << 40) - 1, TALLY_HIST_OVERFLOW - 1, UINT64_C(63) << 34},
        {UINT64_C(1) << 40, TALLY_HIST_OVERFLOW, UINT64_C(1) << 40},
        {UINT64_MAX, TALLY_HIST_OVERFLOW, UINT64_C(1) << 40},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_EQ(tally_hist_index(rows[i].value), rows[i].index);
        CHECK_EQ(tally_hist_low(rows[i].index), rows[i].low);
    }
}

static void leaves_no_gap_when_buckets_follow_each_other(void)
{
    for (unsigned i = 0; i < TALLY_HIST_OVERFLOW; i++) {
        uint64_t low = tally_hist_low(i), next = tally_hist_low(i + 1);

        CHECK(low < next);
        CHECK_EQ(tally_hist_index(low), i);
        CHECK_EQ(tally_hist_index(next - 1), i);
        CHECK(next - low == 1 || (next - low) * 32 <= low);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void is_within_a_32nd_when_compared_with_sorted_samples(void)
{
    static const unsigned permilles[] = {0, 1, 10, 250, 500, 900, 990, 999, 1000};
    static uint64_t samples[20000], buckets[TALLY_HIST_BUCKETS];
    uint64_t state = 7;

    for (unsigned round = 0; round < 200; round++) {
        size_t count = 1 + next_random(&state) % (round < 150 ? 40 : 20000);

        memset(buckets, 0, sizeof(buckets));
        for (size_t i = 0; i < count; i++) {
            samples[i] = random_ns(&state, 40);
            buckets[tally_hist_index(samples[i])]++;
        }
        qsort(samples, count, sizeof(samples[0]), compare);
        for (size_t i = 0; i < sizeof(permilles) / sizeof(permilles[0]); i++) {
            size_t rank = (count * permilles[i] + 999) / 1000;
            uint64_t exact = samples[rank ? rank - 1 : 0];
            uint64_t got =
                tally_hist_percentile(buckets, count, permilles[i], samples[0], samples[count - 1]);

            CHECK(got >= exact);
            CHECK((got - exact) * 32 <= exact);
            CHECK(got <= samples[count - 1]);
        }
    }
}

static void answers_when_there_is_little_to_go_by(void)
{
    static uint64_t buckets[TALLY_HIST_BUCKETS];

    CHECK_EQ(tally_hist_percentile(buckets, 0, 500, 0, 0), 0);
    buckets[tally_hist_index(1000)] = 1;
    CHECK_EQ(tally_hist_percentile(buckets, 1, 0, 1000, 1000), 1000);
    CHECK_EQ(tally_hist_percentile(buckets, 1, 1000, 1000, 1000), 1000);
    buckets[TALLY_HIST_OVERFLOW] = 1;
    CHECK_EQ(tally_hist_percentile(buckets, 2, 990, 1000, UINT64_C(1) << 50), UINT64_C(1) << 50);
}

static void does_not_overflow_when_counts_are_huge(void)
{
    static uint64_t buckets[TALLY_HIST_BUCKETS];

    buckets[10] = UINT64_MAX / 2;
    buckets[20] = UINT64_MAX / 2;
    CHECK_EQ(tally_hist_percentile(buckets, UINT64_MAX - 1, 499, 10, 20), 10);
    CHECK_EQ(tally_hist_percentile(buckets, UINT64_MAX - 1, 501, 10, 20), 20);
    CHECK_EQ(tally_hist_percentile(buckets, UINT64_MAX - 1, 1000, 10, 20), 20);
}

static void puts_a_size_between_powers_of_two_when_it_is_not_zero(void)
{
    CHECK_EQ(tally_size_index(0), 0);
    for (unsigned index = 1; index < TALLY_SIZE_BUCKETS; index++) {
        CHECK_EQ(tally_size_index(tally_size_low(index)), index);
        CHECK_EQ(tally_size_index(tally_size_low(index) - 1), index - 1);
    }
    CHECK_EQ(tally_size_index(UINT64_MAX), TALLY_SIZE_BUCKETS - 1);
}

int main(void)
{
    static const struct test_case cases[] = {
        CASE(finds_the_bucket_when_the_value_is_at_an_edge),
        CASE(leaves_no_gap_when_buckets_follow_each_other),
        CASE(is_within_a_32nd_when_compared_with_sorted_samples),
        CASE(answers_when_there_is_little_to_go_by),
        CASE(puts_a_size_between_powers_of_two_when_it_is_not_zero),
        CASE(does_not_overflow_when_counts_are_huge),
    };

    return RUN_CASES(cases);
}
