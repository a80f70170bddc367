#!/usr/bin/env bash
# A whole small run without tallyfs: its files, and that a report follows from the raw values.
. "$(dirname "$0")/lib.sh"

result=$scratch/r.json
touch "$target/mine"
expect 0 'block 3 ' run trigger,mailbox --path native --target "a=$target" --target "b=$work" --size 512K --trials 3 \
    --seed 5 --warm --work "$scratch" -o "$result"
check "nothing on stdout" test ! -s "$scratch/out"
check "what was there is still there, alone" test "$(ls -A "$target")" = mine
rm "$target/mine"
check "nothing was left" nothing_left
check "the corpus is gone" test -z "$(find "$scratch" -name 'tallybench-corpus*')"
expect 0 '' report --format json -o "$scratch/report.json" "$result"
check "the report follows from the raw values" "$CHECK_REPORT" "$result" "$scratch/report.json" 6 3 0
check_figures "$result"
expect 0 '' report "$result"
check "the table is 80 wide" awk '{ gsub(/[\200-\277]/, "") } length > 80 { exit 1 }' "$scratch/out"
check "the table has the rows" grep -q '^b native[ *]' "$scratch/out"
expect 0 '' report --format csv "$result"
check "a row a trial" test "$(wc -l <"$scratch/out")" -eq 19

mkdir "$scratch/own" "$scratch/own/deep"
seq 1 50000 >"$scratch/own/numbers"
head -c 100000 /dev/urandom >"$scratch/own/deep/-random name"
ln -s numbers "$scratch/own/link"
expect 0 '' run mailbox,trigger --source "$scratch/own" --path native --target "a=$target" --trials 1 -o "$result"
check "the source is as it was" test "$(find "$scratch/own" -type f | wc -l)" -eq 2
expect 0 '' report --format json -o "$scratch/report.json" "$result"
check "one trial has no deviation" "$CHECK_REPORT" "$result" "$scratch/report.json" 4 1 0
expect 0 '' report "$result"
check "one trial is told" grep -q '^One trial' "$scratch/out"
check "nothing was left" nothing_left
finish
