#!/usr/bin/env bash
# How long a run goes on, what it says about that, and the row that is measured twice.
. "$(dirname "$0")/lib.sh"

result=$scratch/r.json
run=(run mailbox --path native --target "a=$target" --size 64K --seed 3 --warm --work "$work" -o "$result")
blocks() { grep -c '"configuration": 0' "$result"; }

expect 0 '' "${run[@]}" --aa --trials 2 --time 100h --precision 1000000%
check "precision ends it" grep -q '"why": "precision"' "$result"
check "not before the trials that were asked for" test "$(blocks)" -eq 2
expect 0 '' report --format json -o "$scratch/report.json" "$result"
check "the twin is a row of its own" "$CHECK_REPORT" "$result" "$scratch/report.json" 3 2 0
check_figures "$result"
expect 0 '' report "$result"
check "the noise floor is told" grep -q '^Noise floor.*write [0-9.]* %, read [0-9.]* %' "$scratch/out"
check "the twin does not compete" sh -c '! grep -q "native again" "$0"' "$scratch/out"
check "why it ended is told" grep -q '^Ended after 2 blocks: every interval' "$scratch/out"

expect 0 '' "${run[@]}" --time 0.000001s --precision 0%
check "time ends it" grep -q '"why": "time"' "$result"
check "after a whole block" test "$(blocks)" -eq 1
expect 0 '' "${run[@]}" --time 0.000001s --precision 0% --trials 2 --resume
check "a resumed run with no time left adds nothing" test "$(blocks)" -eq 1
expect 0 '' "${run[@]}" --trials 3 --resume
check "trials end it" grep -q '"why": "trials"' "$result"
check "the blocks that were missing are there" test "$(blocks)" -eq 3
expect 0 '' report "$result"
check "no noise floor is told" grep -q '^No A/A run' "$scratch/out"

expect 0 '' "${run[@]}" --quick
check "a quick look has three trials" test "$(blocks)" -eq 3
expect 0 '' report "$result"
check "and says so" grep -q '^A quick look (low n)' "$scratch/out"
check "nothing was left" nothing_left
finish
