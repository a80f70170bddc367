# shellcheck shell=bash
# shellcheck disable=SC2154  # dir, at, codec and lock are lab's
# ZFS for the lab: pools in image files, by the kernel's module where there is one, else by the
# zfs-fuse daemon, which knows no compression but lzjb and gzip. Sourced by lab, whose chosen name
# and folders all functions work on.

# zfs_why_not CODEC: prints what is needed for a codec that cannot be had here.
zfs_why_not() {
    local codecs="none lzjb gzip"
    [ ! -e /dev/zfs ] || codecs+=" lz4 zstd zstd-fast-1 zstd-10"
    case " $codecs " in
    *" $1 "*) ;;
    *) echo "compression $1 needs the kernel's zfs module; without: $codecs" ;;
    esac
}

# Pool names are known to the whole machine, but there may be several labs on it.
zfs_pool() { echo "tally-$(cksum <<<"$at" | cut -d ' ' -f 1)"; }

zfs_answers() { as_root zpool list >/dev/null 2>&1; }

# There is something to answer zpool; if need be a daemon of this lab's own.
zfs_ready() {
    zfs_answers && return 0
    as_root rm -f "$dir/zfs-fuse.pid" # a dead daemon's would keep a new one from starting
    # The daemon stays, so it must not hold the lab's lock.
    as_root zfs-fuse --pidfile "$dir/zfs-fuse.pid" --no-kstat-mount {lock}>&- >/dev/null &&
        patiently zfs_answers
}

# zfs_format IMAGE: like a mkfs, mounts nothing when it is done.
zfs_format() {
    local property=$codec
    [ "$codec" != none ] || property=off
    as_root zpool create -f -o cachefile=none -O compression="$property" -m "$at/mnt" \
        "$(zfs_pool)" "$1" && patiently zfs_export
}

zfs_mount() { as_root zpool import -o cachefile=none -d "$at" "$(zfs_pool)"; }

# To be tried patiently: zfs-fuse answers an unmount before it has let go, and calls the pool busy.
zfs_export() {
    if zfs_answers && as_root zpool list "$(zfs_pool)" >/dev/null 2>&1; then
        as_root zpool export "$(zfs_pool)" 2>/dev/null
    elif mounted; then # the daemon is dead
        as_root umount "$at/mnt"
    fi
}

# Ends the daemon that zfs_ready started, if no pool is left.
zfs_end() {
    local pidfile=$dir/zfs-fuse.pid pid
    [ -e "$pidfile" ] || return 0
    pid=$(as_root cat "$pidfile")
    if [ "$(ps -o comm= -p "$pid")" = zfs-fuse ]; then
        [ -z "$(as_root zpool list -H 2>/dev/null)" ] || return 1
        as_root kill "$pid"
        patiently test ! -e "/proc/$pid" || return 1
    fi
    as_root rm -f "$pidfile"
}
