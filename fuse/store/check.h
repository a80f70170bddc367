/*
 * Checking and repairing containers whose bytes were damaged. Nobody else may have the container open meanwhile
 * (store/claim.h). Thread safety: any number of containers at once with one store.
 */
#ifndef TALLY_STORE_CHECK_H
#define TALLY_STORE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

enum store_damage_kind {
    STORE_DAMAGE_HEADER,     /* the frame's header is not what it was */
    STORE_DAMAGE_PAYLOAD,    /* the frame's payload does not match its checksum */
    STORE_DAMAGE_CODEC,      /* the payload does not decompress to its length */
    STORE_DAMAGE_UNREADABLE, /* the lower file system cannot read the frame; a repair leaves it, it may be read yet */
    STORE_DAMAGE_MARKED,     /* an earlier repair marked the bytes as lost */
    STORE_DAMAGE_GUESSED,    /* a frame is lost about which nothing is known, and this gap is where it may have been */
    STORE_DAMAGE_UNKNOWN,    /* no logical range: nothing is known about what was stored here */
    STORE_DAMAGE_TORN,       /* a frame that is not known to have been synced is not whole: older contents are shown */
    STORE_DAMAGE_DOUBTFUL,   /* a frame about which nothing is known is lost: this may be older than it should be */
    STORE_DAMAGE_HIDDEN,     /* nothing is lost, newer data covers it, but the chunk cannot be read before a repair */
    STORE_DAMAGE_INDEX,      /* no logical range: the index or its trailer is damaged */
    STORE_DAMAGE_BEGINNING,  /* no logical range: the file no longer begins like a container */
    STORE_DAMAGE_CUT,        /* no logical range: the lower file ends within what can only be a frame */
    STORE_DAMAGE_KINDS,
};

struct store_damage {
    enum store_damage_kind kind;
    uint64_t logical_offset, logical_length; /* bytes of the file; length 0 where the kind has no logical range */
    uint64_t lower_offset, lower_length;     /* where in the lower file */
};

struct store_report {
    uint64_t logical_bytes;  /* the file's size */
    uint64_t lower_bytes;    /* of the lower file */
    uint64_t frames;         /* that are needed, without the damaged ones */
    uint64_t lost_bytes;     /* of the file, that cannot be read or restored any more */
    uint64_t torn_bytes;     /* of the lower file, at its end: what a crash has left; not damage */
    bool is_open_ended;      /* not closed in an orderly way; not damage */
    bool is_repaired;        /* by store_repair: something was written */
    struct store_damage *damage; /* sorted by kind of range: those with a logical range first, in order */
    size_t damage_count;
};

#define STORE_REPORT_NONE                                                                                              \
    {                                                                                                                  \
        0                                                                                                              \
    }

void store_report_free(struct store_report *report);

/* "frame header damaged" and so on. */
const char *store_damage_text(enum store_damage_kind kind);

/* Whether bytes of the file are gone, or may be. */
bool store_damage_is_loss(enum store_damage_kind kind);

/*
 * Whether a lower file of `attributes` that store_probe takes for a plain one is a damaged container after all: cut to a
 * size that no container has, or with a whole index at its end and another beginning. 1, 0 or -errno.
 */
int store_check_is_disguised(int fd, const struct stat *attributes);

/*
 * Verifies every frame that is needed, down to decompressing it, and that they are what the index says. Reads all of
 * them, writes nothing. 0 with the report, which is the caller's to free, whatever was found; -EIO when there is no
 * whole frame to begin with; -EPROTONOSUPPORT for a newer format; other -errno when it could not be done.
 */
int store_check(struct store *store, struct backend *lower, struct store_report *ret_report);

/*
 * The same, and makes the container whole again: ranges that are lost are marked as lost, so that reading them goes on
 * failing while all else can be read, also what is doubtful; the index is written anew; what a crash has left at the end is
 * cut off. What could be read before can be read after, but for guessed ranges. Does not write where nothing is to be done, and a repair that was
 * interrupted can be done again. The report tells what was found. The lower file's times are the caller's to keep. Errors as
 * store_check, and from writing. `lower` is closed in any case.
 */
int store_repair(struct store *store, struct backend *lower, struct store_report *ret_report);

#endif
