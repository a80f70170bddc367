#!/usr/bin/env bash
# Few descriptors: thousands of files, a deep tree, renames and removals under a daemon that may have 128, as root, who
# opens files by handle, and as an ordinary user, who may not and opens them by name.
. "$(dirname "$0")/lib.sh"

limit=128
directories=8
files=60
depth=100

# The numbers of descriptors while a list of commands runs.
check_descriptors() {
    local count
    count=$(find "/proc/$daemon/fd" -mindepth 1 | wc -l)
    [ "$count" -lt "$limit" ] || fail "$count descriptors"
}

all() { find "$mount" -type f -exec cat {} + | sort | uniq | wc -l; }

exercise() {
    local total=$((directories * files + 1)) at=$mount d f
    for ((d = 1; d <= directories; d++)); do
        mkdir "$mount/d$d"
        for ((f = 1; f <= files; f++)); do echo "$d-$f" >"$mount/d$d/f$f"; done
    done
    for ((d = 0; d < depth; d++)); do at=$at/deep && mkdir "$at"; done
    echo bottom >"$at/bottom"
    check_descriptors
    [ "$(all)" -eq "$total" ] || fail "$(all) of $total files"

    # What is below a directory that moves is found by its new way.
    exec 5<"$mount/deep/deep/deep"
    mv "$mount/d1" "$mount/deep/deep/moved"
    mv "$mount/deep/deep/deep" "$mount/other"
    mkdir "$mount/swapped"
    mv --exchange "$mount/d2" "$mount/swapped" 2>/dev/null || true
    [ "$(all)" -eq "$total" ] || fail "$(all) of $total files after moving"
    exec 5<&-

    # Something open that has lost its name, and something with another name.
    exec 7<>"$mount/d3/f1"
    rm "$mount/d3/f1"
    ln "$mount/d4/f1" "$mount/link"
    rm "$mount/d4/f1"
    all >/dev/null
    [ "$(stat -L -c %h "/proc/$$/fd/7")" -eq 0 ] || fail 'an open file is not found'
    [ "$(cat <&7)" = 3-1 ] || fail 'an open file cannot be read'
    [ "$(cat "$mount/link")" = 4-1 ] || fail 'a second name is not found'
    exec 7<&-

    # Another file under the same name is another file.
    (cd "$mount/d5" && all >/dev/null && mv "$lower/d5/f1" "$lower/d5/gone" && echo new >"$lower/d5/f1")
    all >/dev/null
    sleep 1.2
    [ "$(cat "$mount/d5/f1")" = new ] || fail 'a replaced file is not seen'
    check_descriptors
    rm -r "$mount"/*
    [ -z "$(ls "$mount")" ] || fail 'not all is removed'
}

if [ "$(id -u)" -eq 0 ] && [ -z "${TALLY_AS_USER:-}" ]; then
    # A device that everybody may open, in this namespace only.
    mknod -m 666 "$work/fuse" c 10 229
    mount --bind "$work/fuse" /dev/fuse
    chmod 755 "$work"
    mkdir -m 777 "$work/user"
    TALLY_AS_USER=1 TALLY_TEST_DIR=$work/user setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
        "$0" || fail 'as an ordinary user'
    umount /dev/fuse
fi

ulimit -n $limit
for options in compress=none compress=lz4; do
    mount_it "$options"
    exercise
    unmount_it
done
