#!/usr/bin/env bash
# The report of a result with round numbers, so that a reader can check every cell of it.
. "$(dirname "$0")/lib.sh"

cd "$(dirname "$0")/golden" || exit 1
expect 0 '' report trigger.json
check "the table is as it was" diff trigger.txt "$scratch/out"
expect 0 '' report --format json -o "$scratch/report.json" trigger.json
check "the figures follow from the raw values" "$CHECK_REPORT" trigger.json "$scratch/report.json" 5 3 1 counters
check_figures trigger.json
expect 0 '' report --format csv trigger.json
check "all rows have the columns of the heading" awk -F, '
    NR == 1 { columns = NF } NF != columns && !/"/ { exit 1 } END { exit NR != 16 }' "$scratch/out"
check "the reason is there" grep -q "No space left on device" "$scratch/out"
expect 0 '' report trigger.json trigger.json
check "several results follow each other" test "$(grep -c '^== trigger' "$scratch/out")" -eq 2

# More trials than configurations: refused, not misread.
sed 's/"configuration":4/"configuration":9/' trigger.json >"$scratch/bad.json"
expect 1 "bad.json: its trials and configurations do not fit" report "$scratch/bad.json"
sed 's/"schema":1,"program"/"schema":99,"program"/' trigger.json >"$scratch/bad.json"
expect 1 "bad.json: not a result of tallybench with schema 1" report "$scratch/bad.json"
if [ -w /dev/full ]; then
    check "a full disk under the output is an error" sh -c '! "$TALLYBENCH" report trigger.json >/dev/full'
    expect 1 '/dev/full: No space left on device' report -o /dev/full trigger.json
fi
finish
