#!/usr/bin/env bash
# A whole small run through tallyfs with each codec, beside the native one.
. "$(dirname "$0")/lib.sh"
need_fuse

result=$scratch/r.json
expect 0 'block 1 ' run trigger,mailbox --path native,tallyfs --codec none,lz4,zstd:3,gzip:6 --target "a=$target" \
    --tallyfs "$TALLYFS" --size 2M --trials 1 --seed 5 --work "$work" -o "$result"
check "nothing was left" nothing_left
expect 0 '' report --format json -o "$scratch/report.json" "$result"
check "the report follows from the raw values" "$CHECK_REPORT" "$result" "$scratch/report.json" 12 1 0 counters
expect 0 '' report "$result"
check "the table is 80 wide" awk '{ gsub(/[\200-\277]/, "") } length > 80 { exit 1 }' "$scratch/out"

# In the middle of it, and nothing is left all the same.
"$TALLYBENCH" run trigger --codec zstd:3 --target "a=$target" --tallyfs "$TALLYFS" --size 2M --trials 50 --warm \
    --work "$work" -o "$result" 2>"$scratch/err" &
pid=$!
for ((tries = 0; tries < 400; tries++)); do
    grep -q "$target/tallybench" /proc/self/mounts && break
    sleep 0.02
done
check "it was mounted" grep -q "$target/tallybench" /proc/self/mounts
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
check "status 1" test "$status" -eq 1
check "nothing was left" nothing_left
finish
