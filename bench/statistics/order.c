#include "statistics/random.h"
#include "statistics/statistics.h"

void stats_block_order(uint64_t seed, uint64_t block, size_t *order, size_t n)
{
    struct random_stream stream = random_stream(seed, block);

    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = random_below(&stream, (uint32_t)i);
        size_t swapped = order[i - 1];

        order[i - 1] = order[j];
        order[j] = swapped;
    }
}
