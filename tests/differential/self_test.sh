#!/usr/bin/env bash
# Usage: self_test.sh PROGRAM
# Two plain directories are the same; a call that is left out on one of them is found and the script made short.
set -euo pipefail
program=$1
work=$(mktemp -d "${TALLY_TEST_DIR:-/tmp}/tallyfs-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/left" "$work/right"

fail() {
    echo "FAIL: $*" >&2
    [ ! -e "$work/said" ] || cat "$work/said" >&2
    exit 1
}

"$program" --rounds 3 "$work/left" "$work/right" || fail "two plain directories differ"

for call in unlink pwrite chmod store; do
    status=0
    "$program" --rounds 20 --leave-out "$call" --save "$work/script" "$work/left" "$work/right" 2>"$work/said" ||
        status=$?
    [ "$status" -eq 1 ] || fail "leaving $call out gives status $status"
    [ "$(grep -c ": $call " "$work/script")" -eq 1 ] || fail "leaving $call out: it is not in the script"
    [ "$(wc -l <"$work/script")" -le 12 ] || fail "leaving $call out: the script is not short"
    "$program" --replay "$work/script" "$work/left" "$work/right" || fail "the script for $call finds more than it"
    status=0
    "$program" --replay "$work/script" --leave-out "$call" "$work/left" "$work/right" 2>"$work/said" || status=$?
    [ "$status" -eq 1 ] || fail "the script for $call does not find it"
    rm "$work/script"
done
[ -z "$(ls "$work/left" "$work/right" | grep run)" ] || fail "something is left over"
