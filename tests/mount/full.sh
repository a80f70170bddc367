#!/usr/bin/env bash
# Usage: full.sh FILE_SYSTEM OPTIONS
# C30: programs fill the lower file system through the mount. They are told ENOSPC, what was there before stays whole,
# also after the next mount, and when something is removed writing goes on. By every call that needs space.
. "$(dirname "$0")/lib.sh"
case $1 in
xfs) size=320M ;; # the smallest that mkfs.xfs makes
btrfs) size=128M ;;
*) size=64M ;;
esac
lower_image "$1" "$size"
options=$2
may_say='closing a file: No space left on device'

# Bytes that no codec makes smaller, the same each time. random SEED BYTES
random() {
    { openssl enc -aes-128-ctr -K "$(printf %032x "$1")" -iv 0 -in /dev/zero 2>/dev/null || true; } | head -c "$2"
}

check_old() {
    for ((i = 1; i <= 8; i++)); do
        random "$i" 700001 | cmp - "$mount/old-$i" || fail "$1: old-$i is damaged"
    done
}

# told_of_no_space COMMAND…: fails, and says why.
told_of_no_space() {
    ! "$@" 2>"$work/said" || return 1
    grep -qi 'no space left' "$work/said" || fail "$*: $(cat "$work/said")"
}

mount_it "$options"
for ((i = 1; i <= 8; i++)); do random "$i" 700001 >"$mount/old-$i"; done
mkdir "$mount/fill"
sync -f "$mount/old-1"

# Fills it by writing, up to the first error, which write, fsync or close returns.
for ((round = 1; round <= 2; round++)); do
    file=0
    while :; do
        file=$((file + 1))
        [ "$file" -lt 100 ] || fail "round $round: 100 files of 8 MiB fit into $size"
        random "$((round * 1000 + file))" 8M >"$work/data"
        ! told_of_no_space dd if="$work/data" of="$mount/fill/$file" bs=1M conv=fsync status=none || break
        cmp "$work/data" "$mount/fill/$file" || fail "round $round: file $file of before is damaged"
    done
    [ "$file" -gt 2 ] || fail "round $round: only $file files"
    check_old "round $round, full"

    # Calls that need space fail as they do below, and leave old files whole.
    told_of_no_space fallocate -l 4G "$mount/fill/allocated" || [ "$1" = xfs ] || fail "round $round: allocated 4 GiB"
    rm -f "$mount/fill/allocated"
    for ((i = 1; i <= 8; i++)); do
        told_of_no_space dd if="$work/data" of="$mount/old-$i" bs=1M count=4 oflag=append conv=notrunc,fsync \
            status=none || [ "$1" != ext4 ] || [ "$i" -gt 1 ] || fail "round $round: appended 4 MiB"
        truncate -s 700001 "$mount/old-$i" 2>/dev/null || true
    done
    for ((i = 1; i <= 8; i++)); do
        random "$i" 700001 | cmp -n 700001 - "$mount/old-$i" || fail "round $round: old-$i is damaged by appending"
    done

    rm "$mount/fill/1"
    [ "$file" -lt 3 ] || rm "$mount/fill/2"
    sync -f "$mount/fill" 2>/dev/null || true # the write-back cache says here what it could not write before
    for ((i = 1; i <= 8; i++)); do truncate -s 700001 "$mount/old-$i"; done
    random 7777 3M >"$work/data"
    dd if="$work/data" of="$mount/after" bs=1M conv=fsync status=none || fail "round $round: full after removing 16 MiB"
    cmp "$work/data" "$mount/after" || fail "round $round: wrong data after the disk was full"
    rm "$mount/after" "$mount/fill"/*
    sync -f "$mount/fill"
done

# A mount that is full while it ends: what it could not write it says, what was synced is there.
for ((i = 1; i < 100; i++)); do
    random "$i" 4M >"$mount/fill/$i" 2>/dev/null || break
done
rm -f "$mount/fill"/*
sync -f "$mount/fill"
unmount_it
mount_it "$options"
check_old 'after the next mount'
echo works >"$mount/new"
[ "$(cat "$mount/new")" = works ] || fail 'writing after the next mount'
unmount_it
