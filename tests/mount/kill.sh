#!/usr/bin/env bash
# kill -9 of the daemon while programs write: what was synced is there after the next mount, other files are whole.
. "$(dirname "$0")/lib.sh"

for options in compress=none compress=lz4 compress=zstd:3 compress=gzip:6,cache=writeback; do
    mount_it "$options"
    seq 100000 >"$mount/before"
    sync -d "$mount/before"
    seq 200000 >"$work/expected"
    dd if="$work/expected" of="$mount/synced" bs=10000 conv=fsync status=none
    (
        exec 2>/dev/null
        while seq 300000 >>"$mount/growing"; do :; done
    ) &
    writer=$!
    sleep 0.7
    kill -KILL "$daemon"
    wait "$daemon" 2>/dev/null || true
    daemon=
    wait "$writer" 2>/dev/null || true
    force_unmount "$mount"
    mount_it "$options"
    cmp "$mount/synced" "$work/expected" || fail "$options: lost what was synced"
    seq 100000 | cmp - "$mount/before" || fail "$options: another file is damaged"
    size=$(stat -c %s "$mount/growing")
    # What was not synced may be missing, which reads as zeros, but is never something else.
    while seq 300000; do :; done 2>/dev/null | head -c "$size" >"$work/expected"
    { cmp -l "$work/expected" "$mount/growing" || true; } | awk '$3 != 0 { exit 1 }' ||
        fail "$options: wrong data in the file being written"
    echo more >>"$mount/growing"
    rm "$mount"/*
    unmount_it
done
