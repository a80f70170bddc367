/* What is damaged in a container. */
#include "store/check.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/salvage.h"

/*
 * Why there was no index at the end. A trailer whose index cannot be used, or something of its size, is damage: a crash
 * leaves none, or tears at larger blocks. Unless the power took what the index names.
 */
static int check_trailer(struct backend *lower, struct salvage *salvage, bool power_failed)
{
    struct store_damage damage = {.kind = STORE_DAMAGE_INDEX};
    uint8_t encoded[FORMAT_TRAILER_BYTES];
    struct format_trailer trailer;
    int r;

    if (salvage->is_indexed || salvage->lower_bytes < FORMAT_TRAILER_BYTES)
        return 0;
    r = log_read(lower, NULL, encoded, sizeof(encoded), salvage->lower_bytes - FORMAT_TRAILER_BYTES);
    if (r == 0)
        r = format_trailer_decode(encoded, &trailer);
    if (r < 0 && r != -EIO && r != -EBADMSG)
        return r;
    salvage->has_trailer = r == 0 && trailer.file_id == salvage->state.file_id;
    damage.lower_offset = salvage->has_trailer ? trailer.index_offset : salvage->state.tail;
    damage.lower_length = salvage->has_trailer ? 0 : FORMAT_TRAILER_BYTES;
    if (salvage->has_trailer ? power_failed : salvage->state.tail + FORMAT_TRAILER_BYTES != salvage->lower_bytes)
        return 0;
    return damage_add(&salvage->damage, &damage);
}

static int check_outside(struct backend *lower, struct salvage *salvage, bool power_failed)
{
    const struct store_damage beginning = {.kind = STORE_DAMAGE_BEGINNING, .lower_length = FORMAT_HEADER_BYTES};
    const struct store_damage cut = {
        .kind = STORE_DAMAGE_CUT,
        .lower_offset = salvage->lower_bytes / FORMAT_ALIGN * FORMAT_ALIGN,
        .lower_length = salvage->lower_bytes % FORMAT_ALIGN,
    };
    int r = check_trailer(lower, salvage, power_failed);

    if (r == 0 && salvage->begins_badly)
        r = damage_add(&salvage->damage, &beginning);
    if (r == 0 && cut.lower_length)
        r = damage_add(&salvage->damage, &cut);
    return r;
}

int salvage_assess(struct store *store, struct backend *lower, struct salvage *ret_salvage)
{
    struct salvage salvage;
    bool power_failed;
    uint64_t newest_bad;
    int r = salvage_load(store, lower, &salvage);

    if (r < 0)
        return r;
    r = verify_map(store, lower, &salvage, &newest_bad);
    power_failed =
        r == 0 && salvage.is_indexed && salvage.state.suspect && newest_bad > salvage.state.durable_sequence;
    if (power_failed) {
        /* The power took frames that the index names: the frames decide. */
        salvage_free(&salvage);
        r = salvage_recover(store, lower, &salvage);
        if (r < 0)
            return r;
        r = verify_map(store, lower, &salvage, &newest_bad);
    }
    if (r == 0)
        r = check_outside(lower, &salvage, power_failed);
    if (r < 0) {
        salvage_free(&salvage);
        return r;
    }
    damage_sort(&salvage.damage);
    *ret_salvage = salvage;
    return 0;
}

static bool has_kind(const struct damage_list *list, enum store_damage_kind kind)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == kind)
            return true;
    return false;
}

void salvage_report(struct salvage *salvage, struct store_report *ret_report)
{
    bool index_damaged = has_kind(&salvage->damage, STORE_DAMAGE_INDEX);
    uint64_t tail = salvage->state.tail + (salvage->has_trailer ? FORMAT_TRAILER_BYTES : 0);
    struct store_report report = {
        .logical_bytes = salvage->state.logical_size,
        .lower_bytes = salvage->lower_bytes,
        .frames = salvage->state.map.extent_count,
        .is_open_ended = !salvage->is_indexed && !index_damaged,
        .damage = salvage->damage.items,
        .damage_count = salvage->damage.count,
    };

    if (tail < salvage->lower_bytes && !(index_damaged && tail + FORMAT_TRAILER_BYTES == salvage->lower_bytes))
        report.torn_bytes = salvage->lower_bytes - tail;
    for (size_t i = 0; i < report.damage_count; i++)
        if (store_damage_is_loss(report.damage[i].kind))
            report.lost_bytes += report.damage[i].logical_length;
    salvage->damage = (struct damage_list){0};
    *ret_report = report;
}

int store_check(struct store *store, struct backend *lower, struct store_report *ret_report)
{
    struct salvage salvage;
    int r = salvage_assess(store, lower, &salvage);

    if (r < 0)
        return r;
    salvage_report(&salvage, ret_report);
    salvage_free(&salvage);
    return 0;
}

static int has_whole_index(int fd, uint64_t lower_bytes)
{
    static const uint8_t no_boot[16];
    struct log_state state;
    struct backend *raw;
    int r, copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (copy < 0)
        return -errno;
    r = raw_backend_create(copy, NULL, &raw);
    if (r < 0) {
        close(copy);
        return r;
    }
    r = log_load_index(raw, NULL, lower_bytes, no_boot, &state);
    backend_close(raw, NULL);
    if (r == 0)
        log_state_free(&state);
    return r == -EBADMSG || r == -EIO ? 0 : r < 0 ? r : 1;
}

int store_check_is_disguised(int fd, const struct stat *attributes)
{
    uint8_t encoded[FORMAT_HEADER_BYTES];
    off_t size = attributes->st_size;
    struct format_trailer trailer;
    struct format_header header;

    if (size < (off_t)FORMAT_HEADER_BYTES)
        return 0;
    if (size % FORMAT_ALIGN != 0)
        return pread(fd, encoded, sizeof(encoded), 0) == sizeof(encoded) && format_header_decode(encoded, &header) == 0;
    if (pread(fd, encoded, FORMAT_TRAILER_BYTES, size - (off_t)FORMAT_TRAILER_BYTES) != FORMAT_TRAILER_BYTES ||
        format_trailer_decode(encoded, &trailer) < 0)
        return 0;
    return has_whole_index(fd, (uint64_t)size);
}
