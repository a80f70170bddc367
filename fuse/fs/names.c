/* Removing and renaming. */
#include <stdio.h>

#include "fs/credentials.h"
#include "fs/handlers.h"

static int remove_name(struct call *call, fuse_ino_t parent, const char *name, int flags)
{
    AUTO_UNPIN struct pin pin = PIN_INIT;
    int r = fs_check_name(call->fs, parent, name);

    if (r == 0)
        r = fs_pin(call, parent, &pin);
    if (r == 0)
        r = LOWER(call->split, unlinkat(pin.fd, name, flags));
    if (r == 0)
        reply_done(call);
    return r;
}

int handle_unlink(struct call *call, fuse_ino_t parent, const char *name)
{
    return remove_name(call, parent, name, 0);
}

int handle_rmdir(struct call *call, fuse_ino_t parent, const char *name)
{
    return remove_name(call, parent, name, AT_REMOVEDIR);
}

/* The kernel moves a name on its own; a node that is opened again by name has to be told. */
static void note_move(struct call *call, const struct pin *directory, const char *name)
{
    struct fuse_entry_param entry;

    if (directory->node->device->mount < 0 && lookup_child(call, directory, name, &entry) == 0)
        lookup_undo(call, &entry);
}

int handle_rename(struct call *call, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
                  const char *new_name, unsigned int flags)
{
    AUTO_UNPIN struct pin from = PIN_INIT;
    AUTO_UNPIN struct pin to = PIN_INIT;
    AUTO_CREDENTIALS struct credentials own = CREDENTIALS_INIT;
    int r = fs_check_name(call->fs, parent, name);

    if (r == 0)
        r = fs_check_name(call->fs, new_parent, new_name);
    if (r == 0)
        r = fs_pin(call, parent, &from);
    if (r == 0)
        r = fs_pin(call, new_parent, &to);
    /* A whiteout is a new file, and its caller's. */
    if (r == 0 && flags & RENAME_WHITEOUT)
        r = credentials_switch(call, true, &own);
    if (r == 0)
        r = LOWER(call->split, renameat2(from.fd, name, to.fd, new_name, flags));
    credentials_restore(&own);
    if (r == 0) {
        note_move(call, &to, new_name);
        if (flags & RENAME_EXCHANGE)
            note_move(call, &from, name);
        reply_done(call);
    }
    return r;
}
