#!/usr/bin/env bash
# Usage: ending.sh OPTIONS
# C34: the mount ends while programs use it, by unmounting, by a lazy unmount, by a signal, or because the lower
# directory is gone. The daemon ends by itself, with status 0 and without a word, and what was written is there.
. "$(dirname "$0")/lib.sh"
options=$1

ended() {
    local tries=0
    while kill -0 "$daemon" 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ] || fail "$1: the daemon is still there after a minute"
        sleep 0.05
    done
    wait_for_daemon
    [ ! -s "$work/stderr" ] || fail "$1: the daemon said: $(cat "$work/stderr")"
    ! mountpoint -q "$mount" || fail "$1: still mounted"
}

# Whole lines into a file of its own until the mount is gone; notes how many close(2) has confirmed.
write_lines() {
    local i
    for ((i = 0; ; i++)); do
        seq $((i * 1000)) $((i * 1000 + 999)) >>"$mount/data/lines-$1" || break
        echo $(((i + 1) * 1000)) >"$work/confirmed-$1"
    done
}

check_lines() {
    local confirmed
    confirmed=$(cat "$work/confirmed-$1")
    [ "$confirmed" -gt 0 ] || fail "$2: nothing was written"
    head -n "$confirmed" "$mount/data/lines-$1" | cmp - <(seq 0 $((confirmed - 1))) || fail "$2: lost some of $confirmed lines"
}

under_load() {
    local how=$1 writers=() i
    mount_it "$options"
    rm -rf "$mount/data" "$work"/confirmed-*
    mkdir "$mount/data" # not in the directory below the mount, so writers end with it
    for i in 1 2 3; do
        write_lines "$i" 2>/dev/null &
        writers+=($!)
    done
    (while ls -lR "$mount/data" && cat "$mount/data/lines-1"; do :; done >/dev/null 2>&1) &
    writers+=($!)
    # An open file whose data are nowhere but in caches.
    exec 5>"$mount/data/held"
    seq 200000 >&5
    for ((i = 0; i < 1000; i++)); do
        [ ! -s "$work/confirmed-1" ] || [ ! -s "$work/confirmed-2" ] || [ ! -s "$work/confirmed-3" ] || break
        sleep 0.02
    done
    $how
    # Writers may end only now: a lazily unmounted mount lives as long as somebody uses it.
    if [ "$how" = lazily ]; then
        seq 200001 200010 >&5 || fail "$how: an open file cannot be written any more"
        exec 5>&-
    fi
    wait "${writers[@]}" 2>/dev/null || true
    ended "$how"
    exec 5>&-
    mount_it "$options"
    for i in 1 2 3; do check_lines "$i" "$how"; done
    if [ "$how" = lazily ]; then
        seq 200010 | cmp - "$mount/data/held" || fail "$how: lost data of an open file"
    else
        seq 200000 | cmp - "$mount/data/held" || fail "$how: lost data of an open file"
    fi
    unmount_it
}

lazily() { umount -l "$mount"; }
terminated() { kill -TERM "$daemon"; }
interrupted() { kill -INT "$daemon"; }
hung_up() { kill -HUP "$daemon"; }
twice() { kill -TERM "$daemon"; sleep 0.05; kill -INT "$daemon" 2>/dev/null || true; }

for how in lazily terminated interrupted hung_up twice; do under_load "$how"; done

# An ordinary unmount is refused while a file is open, and changes nothing.
mount_it "$options"
exec 5>"$mount/busy"
echo before >&5
! umount "$mount" 2>/dev/null || fail 'a busy mount was unmounted'
echo after >&5
exec 5>&-
[ "$(cat "$mount/busy")" = "$(printf 'before\nafter')" ] || fail 'lost data after a refused unmount'

# A program waits for a lock, another sits in a directory that was removed, when the signal comes.
exec 5>"$mount/locked"
flock 5
(flock "$mount/locked" true 2>/dev/null || true) 5>&- &
waiting=$!
mkdir "$mount/removed"
(cd "$mount/removed" && exec sleep 1000) &
sitting=$!
sleep 0.3
rmdir "$mount/removed"
kill -TERM "$daemon"
ended 'with a waiting lock'
wait "$waiting"
kill "$sitting"
exec 5>&-

# The lower directory is removed under the mount: errors that say so, and a clean end.
mount_it "$options"
mkdir "$mount/directory"
echo kept >"$mount/directory/file"
exec 5<"$mount/directory/file"
rm -r "${lower:?}"/*
rmdir "$lower"
[ "$(cat <&5)" = kept ] || fail 'an open file cannot be read after the lower directory was removed'
exec 5<&-
! (echo new >"$mount/new") 2>/dev/null || fail 'a file can be made in a directory that is gone'
[ -z "$(ls "$mount" 2>/dev/null)" ] || sleep 1.1
[ -z "$(ls "$mount")" ] || fail 'a removed directory has names'
[ "$(stat -c %F "$mount")" = directory ] || fail 'the root cannot be looked at'
kill -TERM "$daemon"
ended 'without a lower directory'
mkdir "$lower"
