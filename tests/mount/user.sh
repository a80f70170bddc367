#!/usr/bin/env bash
# Usage: user.sh OPTIONS PROGRAM…
# Runs the programs of run.sh as an ordinary user, who mounts with fusermount3, and checks that the files are theirs.
if [ "$(id -u)" -eq 0 ] && [ -z "${TALLY_AS_USER:-}" ]; then
    . "$(dirname "$0")/lib.sh"
    # A device that everybody may open, in this namespace only.
    mknod -m 666 "$work/fuse" c 10 229
    mount --bind "$work/fuse" /dev/fuse
    chmod 755 "$work"
    install -d -m 700 -o 65534 -g 65534 "$work/user"
    TALLY_AS_USER=1 TALLY_TEST_DIR=$work/user setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
        "$0" "$@" || fail 'as an ordinary user'
    umount /dev/fuse
    exit 0
fi
"$(dirname "$0")/run.sh" "$@"

. "$(dirname "$0")/lib.sh"
mount_it
grep -q " $mount fuse.tallyfs .*user_id=$(id -u)" /proc/self/mounts || fail "mounted as somebody else"
echo text >"$mount/file"
mkdir -m 750 "$mount/directory"
[ "$(stat -c '%u:%g %a' "$mount/directory" "$lower/file" | tr '\n' ' ')" = "$(id -u):$(id -g) 750 $(id -u):$(id -g) 644 " ] ||
    fail "owners: $(stat -c '%u:%g %a' "$mount/directory" "$lower/file")"
! chown 0 "$mount/file" 2>/dev/null || fail 'gave a file to root'
! mknod "$mount/device" c 1 3 2>/dev/null || fail 'made a device'
# What the user may not read below, the mount does not show either.
chmod 000 "$lower/file"
! cat "$mount/file" 2>/dev/null || fail 'read a file of mode 000'
chmod 600 "$mount/file"
[ "$(cat "$mount/file")" = text ] || fail 'after chmod'
# Nobody else gets in, root neither (unless the user asked for it with allow_other and the system permits that).
unmount_it
! "$TALLYFS" "$lower" /proc 2>/dev/null || fail 'mounted where the user may not'
