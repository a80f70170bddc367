#!/usr/bin/env bash
# Usage: kill.sh OPTIONS [FILE_SYSTEM]
# C31: kill -9 of the daemon while programs write. After the next mount what was synced is there, what was only being
# written is a part of it or zeros, nothing else is damaged, and writing goes on. 5 rounds; 200 in the long form.
. "$(dirname "$0")/lib.sh"
[ -z "${2:-}" ] || lower_image "$2" 1G
options=$1
rounds=5
[ -z "${TALLY_TEST_LONG:-}" ] || rounds=200

# lines WRITER FROM TO: lines that say what they are.
lines() { seq -f "writer $1 line %.0f of this file" "$2" "$3"; }

# Appends lines in steps, syncs after each, and notes how far it has synced.
append_and_sync() {
    local step
    for ((step = 0; ; step++)); do
        lines "$1" $((step * 500)) $((step * 500 + 499)) >>"$mount/appended-$1" || break
        sync -d "$mount/appended-$1" || break
        echo $(((step + 1) * 500)) >"$work/synced-$1"
    done
}

# Replaces a file again and again as editors do: written, synced, renamed over the old one.
replace_and_sync() {
    local version
    for ((version = 1; ; version++)); do
        lines "$version" 0 2000 >"$mount/replaced.new" || break
        sync -d "$mount/replaced.new" || break
        mv "$mount/replaced.new" "$mount/replaced" || break
    done
}

# Writes over the middle of a file, in place, the same bytes for a version. Never synced.
overwrite() {
    while dd if="$work/pattern" of="$mount/overwritten" bs=21000 seek=$((RANDOM % 35)) conv=notrunc \
        status=none; do :; done
}

make_and_remove() {
    local i
    for ((i = 0; ; i++)); do
        echo "$i" >"$mount/made-$((i % 7))" || break
        rm -f "$mount/made-$(((i + 3) % 7))" || break
    done
}

check_appended() {
    local synced
    synced=$(cat "$work/synced-$1" 2>/dev/null || echo 0)
    [ "$synced" -gt 0 ] || return 0
    lines "$1" 0 $((synced - 1)) >"$work/expected"
    cmp -n "$(stat -c %s "$work/expected")" "$work/expected" "$mount/appended-$1" ||
        fail "$options, round $round: lost some of $synced synced lines"
    # Behind it only what was written may come, or zeros in its place.
    lines "$1" 0 $((synced + 1000)) >"$work/expected"
    { cmp -l "$mount/appended-$1" "$work/expected" 2>/dev/null || true; } | awk '$2 != 0 { exit 1 }' ||
        fail "$options, round $round: something else than what was appended"
}

seq 1000 5199 >"$work/pattern" # 21000 bytes
mount_it "$options"
seq 100000 >"$mount/before"
for ((i = 0; i < 35; i++)); do cat "$work/pattern"; done >"$mount/overwritten"
cp "$mount/overwritten" "$work/overwritten"
sync -d "$mount/before" "$mount/overwritten"
seq 100000 | sha256sum >"$work/before.sum"
unmount_it

for ((round = 1; round <= rounds; round++)); do
    mount_it "$options"
    rm -f "$mount"/appended-* "$mount"/replaced* "$mount"/made-* "$work"/synced-*
    writers=()
    for job in 'append_and_sync 1' 'append_and_sync 2' replace_and_sync overwrite make_and_remove; do
        $job 2>/dev/null &
        writers+=($!)
    done
    # Until something has been synced, and at another moment of it each time.
    for ((i = 0; i < 1000; i++)); do
        [ ! -s "$work/synced-1" ] || [ ! -e "$mount/replaced" ] || break
        sleep 0.02
    done
    sleep "0.$((RANDOM % 400 + 100))"
    kill -KILL "$daemon"
    wait "$daemon" 2>/dev/null || true
    daemon=
    wait "${writers[@]}" 2>/dev/null || true
    ! ls "$mount" >/dev/null 2>&1 || fail 'the mount answers without its daemon'
    force_unmount "$mount"

    mount_it "$options"
    sha256sum --status -c "$work/before.sum" <"$mount/before" || fail "$options, round $round: an old file is damaged"
    check_appended 1
    check_appended 2
    if [ -e "$mount/replaced" ]; then
        version=$(awk '{ print $2; exit }' "$mount/replaced")
        lines "$version" 0 2000 | cmp - "$mount/replaced" || fail "$options, round $round: a replaced file is not whole"
    fi
    cmp "$work/overwritten" "$mount/overwritten" || fail "$options, round $round: overwriting did harm"
    for ((i = 0; i < 7; i++)); do
        [ ! -s "$mount/made-$i" ] || grep -qx '[0-9]*' "$mount/made-$i" || fail "$options, round $round: made-$i"
    done
    echo more >>"$mount/appended-1"
    # The last line before it may be cut short: the program that wrote it was cut off too.
    [ "$(tail -c 5 "$mount/appended-1")" = more ] || fail "$options, round $round: appending afterwards"
    unmount_it
done
