#!/usr/bin/env bash
# `tallybench corpus`: figures on stdout, the same for the same seed, and a clear end on a full disk.
. "$(dirname "$0")/lib.sh"

for kind in trigger mailbox; do
    expect 0 "making the $kind corpus" corpus "$kind" --size 1M --seed 7 "$work/$kind-a"
    cp "$scratch/out" "$scratch/first"
    expect 0 "making the $kind corpus" corpus "$kind" --size 1M --seed 7 "$work/$kind-b"
    check "$kind: the figures are the same" cmp "$scratch/first" "$scratch/out"
    check "$kind: the files are the same" diff -r "$work/$kind-a" "$work/$kind-b"
    check "$kind: stdout has the hash" grep -q '^hash (XXH3-64) [0-9a-f]\{16\}$' "$scratch/out"
done
expect 1 "$work/trigger-a: Directory not empty" corpus trigger --size 1M "$work/trigger-a"

mkdir "$scratch/full"
small_disk "$scratch/full" 1M
expect 1 "$scratch/full/c/.*: No space left on device" corpus trigger --size 4M "$scratch/full/c"
check "the full disk is as it was" is_empty "$scratch/full"
expect 1 "$scratch/full/tallybench-corpus[^:]*: No space left on device" run mailbox --path native --size 4M \
    --work "$scratch/full" --target "t=$target" -o "$scratch/r.json"
check "the full disk is as it was" is_empty "$scratch/full"
check "nothing was left on the target" is_empty "$target"
finish
