#!/usr/bin/env bash
# Wrong usage ends with status 2 and names what is wrong; things that are not there with status 1.
. "$(dirname "$0")/lib.sh"

to=(--target "t=$target" -o "$scratch/r.json")
expect 2 'subcommand is missing'
expect 2 'nonsense: no such subcommand' nonsense
expect 2 'wanted is one list' run
expect 2 'known are trigger, mailbox' run bonnie "${to[@]}"
expect 2 'trigger: is there twice' run trigger,trigger "${to[@]}"
expect 2 'no such workload' run trigger, "${to[@]}"
expect 2 'target NAME=DIR is missing' run trigger -o "$scratch/r.json"
expect 2 'RESULT.json is missing' run trigger --target "t=$target"
expect 2 'wanted is NAME=DIR' run trigger --target "$target"
expect 2 'wanted is NAME=DIR' run trigger --target "=$target"
expect 2 'the name is there twice' run trigger "${to[@]}" --target "t=$work"
expect 2 'codec lzma: known are' run trigger "${to[@]}" --codec lz4,lzma
expect 2 'codec zstd:x: known are' run trigger "${to[@]}" --codec zstd:x
expect 2 'codec lz4: is there twice' run trigger "${to[@]}" --codec lz4,lz4
expect 2 'path native has no codec' run trigger "${to[@]}" --path native --codec lz4
expect 2 'path ext4: known are' run trigger "${to[@]}" --path ext4
expect 2 'size 1X' run trigger "${to[@]}" --size 1X
expect 2 'size 1K' run trigger "${to[@]}" --size 1K
expect 2 'trials 0' run trigger "${to[@]}" --trials 0
expect 2 'time 5d: wanted is' run trigger "${to[@]}" --time 5d
expect 2 'time 0: wanted is' run trigger "${to[@]}" --time 0
expect 2 'precision 1e: wanted is' run trigger "${to[@]}" --precision 1e
expect 2 'seed -1' run trigger "${to[@]}" --seed -1
expect 2 'needs a value' run trigger --target
expect 2 'no such option' run trigger "${to[@]}" --fast
expect 2 'no such option' list --size 1G
expect 2 'takes no arguments' list trigger
expect 2 'known are trigger, mailbox' corpus holes "$work/c"
expect 2 'and a directory' corpus trigger
expect 2 'result file is missing' report
expect 2 'format pdf: known are' report --format pdf "$scratch/r.json"

expect 1 "$scratch/none: No such file" run trigger --path native --target "t=$scratch/none" -o "$scratch/r.json"
expect 1 'usage.sh: Not a directory' run trigger --path native --target "t=$0" -o "$scratch/r.json"
expect 1 "$scratch/none: No such file" run trigger "${to[@]}" --source "$scratch/none"
expect 1 "$work: there is nothing in it" run trigger --path native "${to[@]}" --source "$work"
expect 1 "$scratch/none/r.json: No such file" run mailbox --path native --size 64K --work "$work" \
    --target "t=$target" -o "$scratch/none/r.json"
expect 1 "$scratch/none: No such file" run trigger "${to[@]}" --tallyfs "$scratch/none"
expect 1 "$scratch/none: No such file" report "$scratch/none"
expect 1 'not a result of tallybench' report "$0"
echo '{"schema": 1, "schema": 1}' >"$scratch/twice.json"
expect 1 'not a result of tallybench' report "$scratch/twice.json"

expect 0 '' -h
expect 0 '' -V
for subcommand in list corpus run report; do expect 0 '' "$subcommand" -h; done
check "nothing was left" nothing_left
finish
