#!/usr/bin/env bash
# Usage: limits.sh FILE_SYSTEM OPTIONS
# What else than space ends a write: a quota (Btrfs has one that any kernel knows), and a lower file system that was made
# read only meanwhile. The program is told EDQUOT or EROFS, what was there stays whole, and when the limit is gone writing
# goes on.
. "$(dirname "$0")/lib.sh"
lower_image "$1" 320M
options=$2
may_say='closing a file: Disk quota exceeded'

# Bytes that no codec makes smaller, the same each time. random SEED BYTES
random() {
    { openssl enc -aes-128-ctr -K "$(printf %032x "$1")" -iv 0 -in /dev/zero 2>/dev/null || true; } | head -c "$2"
}

# told REASON COMMAND…: it fails, and says why.
told() {
    local reason=$1
    shift
    if "$@" 2>"$work/said"; then fail "works: $*"; fi
    grep -q "$reason" "$work/said" || fail "$*: $(cat "$work/said"), not $reason"
}

random 1 2M >"$work/old"
random 2 64M >"$work/much"

mount_it "$options"
dd if="$work/old" of="$mount/old" bs=1M conv=fsync status=none
if [ "$1" = btrfs ]; then
    btrfs quota enable "$lower"
    btrfs qgroup limit 24M "$lower"
    told 'quota exceeded' dd if="$work/much" of="$mount/much" bs=1M conv=fsync status=none
    cmp "$work/old" "$mount/old" || fail 'an old file is damaged'
    rm "$mount/much"
    sync -f "$lower"
    dd if="$work/old" of="$mount/again" bs=1M conv=fsync status=none || fail 'no room after removing the file'
    cmp "$work/old" "$mount/again"
    btrfs quota disable "$lower"
fi
cp "$work/much" "$mount/large"
cmp "$work/much" "$mount/large"
unmount_it

# Made read only below a mount that has nothing open: what it had written before is readable, the rest is refused.
mount_it "$options"
cmp "$work/old" "$mount/old"
sync -f "$mount/old"
patiently_remount() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        ! mount -o "remount,$1" "$lower" 2>/dev/null || return 0
        sleep 0.1
    done
    fail "cannot remount the lower file system $1"
}
patiently_remount ro
told 'Read-only file system' dd if="$work/old" of="$mount/new" bs=1M status=none
told 'Read-only file system' dd if="$work/much" of="$mount/old" bs=1M count=1 conv=notrunc status=none
told 'Read-only file system' truncate -s 5 "$mount/old"
told 'Read-only file system' rm -f "$mount/old"
told 'Read-only file system' mkdir "$mount/directory"
cmp "$work/old" "$mount/old" || fail 'cannot be read while it is read only'
cmp "$work/much" "$mount/large"
patiently_remount rw
cp "$work/old" "$mount/new" || fail 'writing when it may be written again'
cmp "$work/old" "$mount/new"
unmount_it
mount_it "$options"
cmp "$work/old" "$mount/old" && cmp "$work/old" "$mount/new" && cmp "$work/much" "$mount/large" || fail 'after the next mount'
unmount_it
