#!/usr/bin/env bash
# Started without -f, with relative paths, tallyfs returns when the mount answers; signals end it cleanly.
. "$(dirname "$0")/lib.sh"
cd "$work"

for signal in TERM INT HUP; do
    timeout 30 "$TALLYFS" lower mount -o fsname=test || fail "background start"
    mountpoint -q "$mount" || fail "not mounted when the start returned"
    grep -q " $mount fuse.tallyfs " /proc/self/mounts || fail "the type is not fuse.tallyfs"
    echo "$signal" >mount/file
    pid=$(pgrep -n -f "^$TALLYFS lower mount") || fail "no daemon"
    kill "-$signal" "$pid"
    for ((i = 0; i < 100; i++)); do
        mountpoint -q "$mount" || break
        sleep 0.05
    done
    ! mountpoint -q "$mount" || fail "still mounted after SIG$signal"
    [ "$(cat lower/file)" = "$signal" ] || fail "lost what was written before SIG$signal"
done

# A program has the file open and unsynced data in the kernel's cache when the signal comes.
mount_it cache=writeback
exec 5>"$mount/open"
head -c 3000000 /dev/zero | tr '\0' x >&5
kill -TERM "$daemon"
wait_for_daemon
exec 5>&-
[ "$(tr -d x <"$lower/open" | wc -c)" -eq 0 ] && [ "$(stat -c %s "$lower/open")" -eq 3000000 ] ||
    fail "lost data of an open file"
[ ! -s "$work/stderr" ] || fail "the daemon said: $(cat "$work/stderr")"

# As mount(8) calls it.
"$TALLYFS" "$lower" "$mount" -o rw,nofail,_netdev,x-systemd.automount,noatime || fail "options of fstab"
mountpoint -q "$mount" || fail "not mounted with options of fstab"
