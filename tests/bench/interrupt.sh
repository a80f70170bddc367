#!/usr/bin/env bash
# SIGTERM in the middle of a run: nothing is left, what was finished stays, --resume goes on.
. "$(dirname "$0")/lib.sh"

result=$scratch/r.json
run=(run mailbox --path native --target "a=$target" --size 256K --trials 12 --seed 9 --warm --work "$work" -o "$result")
"$TALLYBENCH" "${run[@]}" 2>"$scratch/err" &
pid=$!
for ((tries = 0; tries < 200; tries++)); do
    grep -qs '"block": 1' "$result" && break
    sleep 0.05
done
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
check "status 1" test "$status" -eq 1
check "it says so" grep -q "interrupted; $result has the trials" "$scratch/err"
check "nothing was left" nothing_left
check "no part of a file was left" test -z "$(find "$scratch" -name 'r.json.*')"
before=$(grep -c '"status": "ok"' "$result")
check "some trials are there, not all" test "$before" -gt 0 -a "$before" -lt 24
grep '"started"' "$result" | tail -n +2 >"$scratch/started"

expect 1 'begun with other arguments' run mailbox --path native --target "a=$target" --size 128K --seed 9 --warm \
    --work "$work" -o "$result" --resume
expect 1 'begun with other seed' "${run[@]}" --seed 10 --resume
expect 0 '' "${run[@]}" --resume
check "all trials are there" test "$(grep -c '"status": "ok"' "$result")" -eq 24
grep '"started"' "$result" | tail -n +2 | head -n "$before" >"$scratch/again"
check "the finished ones were not repeated" cmp "$scratch/started" "$scratch/again"
check "nothing was left" nothing_left

"$TALLYBENCH" corpus trigger --size 4G "$work/corpus" >"$scratch/out" 2>"$scratch/err" &
pid=$!
sleep 1
kill -INT "$pid" 2>/dev/null
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
check "corpus: status 1" test "$status" -eq 1
check "corpus: nothing was left" nothing_left
finish
