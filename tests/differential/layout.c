#include "layout.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules.h"
#include "util/cleanup.h"

#define EXTENTS_MAX 512

/* File systems that know no such map preallocate nothing. */
static int read_unwritten(int fd, struct segments *segments)
{
    AUTO_FREE struct fiemap *map =
        calloc(1, sizeof(*map) + EXTENTS_MAX * sizeof(map->fm_extents[0]));

    if (!map)
        return -ENOMEM;
    map->fm_length = FIEMAP_MAX_OFFSET;
    map->fm_extent_count = EXTENTS_MAX;
    if (ioctl(fd, FS_IOC_FIEMAP, map) < 0)
        return 0;
    for (unsigned i = 0; i < map->fm_mapped_extents; i++) {
        const struct fiemap_extent *extent = &map->fm_extents[i];

        if (extent->fe_flags & FIEMAP_EXTENT_UNWRITTEN &&
            segments_add(segments, (off_t)extent->fe_logical,
                         (off_t)(extent->fe_logical + extent->fe_length)) < 0)
            return -ENOMEM;
    }
    return 0;
}

int layout_read(int fd, const struct traits *traits, struct layout *ret_layout)
{
    AUTO_LAYOUT struct layout layout = {.fd = fd, .traits = traits};
    off_t position = lseek(fd, 0, SEEK_CUR);
    struct stat attributes;
    int r = fstat(fd, &attributes) < 0 ? -errno : 0;

    if (r == 0)
        r = segments_read(fd, &layout.data);
    lseek(fd, position, SEEK_SET);
    if (r == 0)
        r = read_unwritten(fd, &layout.unwritten);
    if (r < 0)
        return r;
    layout.size = attributes.st_size;
    *ret_layout = layout;
    layout.data.all = layout.unwritten.all = NULL;
    return 0;
}

void layout_free(struct layout *layout)
{
    segments_free(&layout->data);
    segments_free(&layout->unwritten);
}

/* Where the segment of one of the lists that holds `at` ends; `at` itself without one. */
static off_t covered_until(const struct segments *const lists[2], off_t at)
{
    for (unsigned list = 0; list < 2; list++) {
        for (size_t i = 0; i < lists[list]->count; i++) {
            if (lists[list]->all[i].begin <= at && at < lists[list]->all[i].end)
                return lists[list]->all[i].end;
        }
    }
    return at;
}

static bool is_covered(const struct segments *one, const struct segments *other, off_t begin,
                       off_t end)
{
    const struct segments *const lists[2] = {one, other};

    while (begin < end) {
        off_t until = covered_until(lists, begin);

        if (until == begin)
            return false;
        begin = until;
    }
    return true;
}

bool layout_may_be_data(const struct layout *layout, off_t begin, off_t end)
{
    off_t chunk = layout->traits->chunk_bytes;

    if (!layout->traits->compressed && layout->traits->writeback)
        return true;
    if (!layout->traits->compressed)
        return is_covered(&layout->data, &layout->unwritten, begin, end);
    for (off_t at = begin - begin % chunk; at < end; at += chunk) {
        if (!segments_touch(&layout->data, at, at + chunk) &&
            !segments_touch(&layout->unwritten, at, at + chunk))
            return false;
    }
    return true;
}

bool layout_may_be_hole(const struct layout *layout, off_t begin, off_t end)
{
    if (layout->traits->compressed)
        return segments_are_zero(&layout->data, layout->fd, begin, end);
    for (size_t i = 0; i < layout->data.count; i++) {
        off_t from = layout->data.all[i].begin > begin ? layout->data.all[i].begin : begin;
        off_t to = layout->data.all[i].end < end ? layout->data.all[i].end : end;

        if (!is_covered(&layout->unwritten, &layout->unwritten, from, to))
            return false;
    }
    return true;
}

bool layout_may_find(const struct layout *layout, off_t offset, int whence, off_t found)
{
    if (whence == SEEK_DATA && found == -ENXIO)
        found = layout->size;
    if (found < offset || found > layout->size)
        return false;
    if (whence == SEEK_DATA)
        return layout_may_be_hole(layout, offset, found) &&
               (found == layout->size || layout_may_be_data(layout, found, found + 1));
    return layout_may_be_data(layout, offset, found) &&
           (found == layout->size || layout_may_be_hole(layout, found, found + 1));
}

bool layout_allows(const struct layout *layout, const struct segments *left)
{
    off_t at = 0;

    for (size_t i = 0; i < left->count; i++) {
        if (!layout_may_be_hole(layout, at, left->all[i].begin) ||
            !layout_may_be_data(layout, left->all[i].begin, left->all[i].end))
            return false;
        at = left->all[i].end;
    }
    return layout_may_be_hole(layout, at, layout->size);
}
