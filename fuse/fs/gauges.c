#include "fs/gauges.h"

#include <stdio.h>
#include <unistd.h>

#include "store/store.h"
#include "util/cleanup.h"

/* 0 where /proc is not to be had. */
static uint64_t resident_bytes(void)
{
    AUTO_FCLOSE FILE *file = fopen("/proc/self/statm", "re");
    unsigned long long total, resident;

    if (!file || fscanf(file, "%llu %llu", &total, &resident) != 2)
        return 0;
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

void gauges_read(void *user, uint64_t ret_gauges[static TALLY_GAUGE_COUNT])
{
    struct fs *fs = user;
    const struct inode_usage inodes = inode_usage(fs->inodes);
    struct store_usage store;

    store_usage(fs->store, &store);
    ret_gauges[TALLY_GAUGE_inodes] = inodes.nodes;
    ret_gauges[TALLY_GAUGE_inode_bytes] = inodes.bytes;
    ret_gauges[TALLY_GAUGE_cached_descriptors] = inodes.descriptors;
    ret_gauges[TALLY_GAUGE_open_handles] = opened_count(&fs->opened);
    ret_gauges[TALLY_GAUGE_resident_bytes] = resident_bytes();
    ret_gauges[TALLY_GAUGE_store_buffered_bytes] = store.buffered_bytes;
    ret_gauges[TALLY_GAUGE_store_cache_bytes] = store.cache_bytes;
    ret_gauges[TALLY_GAUGE_store_cache_hits] = store.cache_hits - fs->cache_hits_before;
    ret_gauges[TALLY_GAUGE_store_cache_misses] = store.cache_misses - fs->cache_misses_before;
}

void gauges_reset(struct fs *fs)
{
    struct store_usage store;

    store_usage(fs->store, &store);
    fs->cache_hits_before = store.cache_hits;
    fs->cache_misses_before = store.cache_misses;
}
