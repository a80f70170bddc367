#!/usr/bin/env bash
# Usage: TALLYFS=PROGRAM overhead.sh [--same] PROGRAM BLOCKS
# Runs PROGRAM (stats_overhead) on a mount with stats=on and one with stats=off over directories of one file system, a tmpfs
# when root may make one. --same has stats=off on both sides: what the measurement itself makes of no difference.
. "$(dirname "$(readlink -f "$0")")/../../tests/mount/lib.sh"
on=on
if [ "$1" = --same ]; then
    on=off
    shift
fi
second=
end_both() {
    local status=$?
    set +e
    trap - ERR
    [ -z "$second" ] || { force_unmount "$work/second"; wait "$second"; }
    (exit "$status")
    clean_up
}
trap end_both EXIT
mount -t tmpfs -o mode=755 overhead "$lower" 2>/dev/null || :
mkdir "$lower/on" "$lower/off" "$work/second"
options=cache=none,attr_timeout=0,entry_timeout=0,threads=1
"$TALLYFS" "$lower/off" "$work/second" -f -o "$options,stats=off" &
second=$!
for ((tries = 0; tries < 1200; tries++)); do
    ! mountpoint -q "$work/second" || break
    sleep 0.05
done
top=$lower
lower=$top/on
mount_it "$options,stats=$on"
lower=$top
"$1" "$2" "$mount" "$work/second"
