#!/usr/bin/env bash
# Usage: differential.sh PROGRAM FILE_SYSTEM
# Random calls on a mount and on a plain directory of the same new file system, with each codec, cache mode and chunk
# size. TALLY_TEST_LONG=1: all combinations, and TALLY_ROUNDS scripts of each with other seeds every time.
here=$(dirname "$(readlink -f "$0")")
. "$here/../mount/lib.sh"
program=$1

lower_image "$2" 1G
# Only what programs set shall be in atime: a read that the page cache answers does not reach the lower file.
mount -o remount,noatime "$lower"
mkdir "$lower/below" "$lower/plain"
chmod 755 "$work"

long=no rounds=1 seed=1 operations=40
if [ "${TALLY_TEST_LONG:-0}" = 1 ]; then
    long=yes rounds=${TALLY_ROUNDS:-1000} seed=$(date +%s) operations=200
fi

# run OPTIONS
run() {
    timeout $((rounds * 60 + 600)) "$program" --tallyfs "$TALLYFS" --lower "$lower/below" \
        --options "$1,allow_other,dev,suid" --seed "$seed" --rounds "$rounds" --operations "$operations" \
        "$mount" "$lower/plain" || fail "a difference on $2 with $1, or no run"
    seed=$((seed + rounds))
}

turn=0
for cache in auto none writeback; do
    run "compress=none,cache=$cache" "$2"
    for codec in lz4 zstd:3 gzip:6; do
        turn=$((turn + 1))
        [ "$long" = no ] && [ $((turn % 2)) -eq 0 ] || run "compress=$codec,cache=$cache,chunk=16K" "$2"
        [ "$long" = no ] && [ $((turn % 2)) -eq 1 ] || run "compress=$codec,cache=$cache,chunk=128K" "$2"
    done
done
