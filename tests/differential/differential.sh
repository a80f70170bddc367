#!/usr/bin/env bash
# Usage: differential.sh PROGRAM FILE_SYSTEM
# Random calls on a mount and on a plain directory of the same new file system, with the whole matrix of codecs, cache
# modes and chunk sizes. With TALLY_TEST_LONG=1 a thousand scripts of each, with other seeds every time.
here=$(dirname "$(readlink -f "$0")")
. "$here/../mount/lib.sh"
program=$1

lower_image "$2" 1G
mount -o remount,noatime "$lower"
mkdir "$lower/below" "$lower/plain"
chmod 755 "$work"

rounds=1 seed=1 operations=100
if [ "${TALLY_TEST_LONG:-0}" = 1 ]; then
    rounds=${TALLY_ROUNDS:-1000} seed=$(date +%s) operations=200
fi

# run OPTIONS…: the mounts take turns.
run() {
    local arguments=() options
    for options in "$@"; do
        arguments+=(--options "$options,allow_other,dev,suid")
    done
    timeout $((rounds * 60 + 600)) "$program" --tallyfs "$TALLYFS" --lower "$lower/below" "${arguments[@]}" \
        --seed "$seed" --rounds "$rounds" --operations "$operations" "$mount" "$lower/plain" ||
        fail "differential on $2 ended with status $?"
    seed=$((seed + rounds))
}

for cache in auto none writeback; do
    run "compress=none,cache=$cache" "$2"
    for codec in lz4 zstd:3 gzip:6; do
        for chunk in 16K 128K; do
            run "compress=$codec,cache=$cache,chunk=$chunk"
        done
    done
done
