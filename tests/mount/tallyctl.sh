#!/usr/bin/env bash
# Usage: tallyctl.sh TALLYCTL
# tallyctl on a real mount and on what it stored.
. "$(dirname "$0")/lib.sh"
tallyctl=$1

# expect STATUS TEXT COMMAND…: ends with that status, says TEXT on stderr and nothing on stdout.
expect() {
    local status=$1 text=$2 got=0
    shift 2
    "$@" >"$work/out" 2>"$work/err" || got=$?
    [ "$got" -eq "$status" ] || fail "$*: status $got, not $status"
    grep -qF -- "$text" "$work/err" || fail "$*: said \"$(cat "$work/err")\", not \"$text\""
    [ ! -s "$work/out" ] || fail "$*: printed $(head -c 200 "$work/out")"
}

# count OPERATION FILE: its count in a snapshot; 0 where it is not there.
count() {
    python3 -c 'import json, sys
print(json.load(open(sys.argv[2]))["operations"].get(sys.argv[1], {"count": 0})["count"])' "$1" "$2"
}

seq 200000 >"$work/text"
head -c 300000 /dev/urandom >"$work/noise"
mount_it compress=zstd:3,cache=none,attr_timeout=0,entry_timeout=0
mkdir "$mount/dir"
cp "$work/text" "$work/noise" "$mount/dir"

# Counts of a job by the difference of two snapshots, as JSON, CSV and table.
"$tallyctl" stat "$mount" --json >"$work/before.json"
for i in 1 2 3 4 5 6 7; do mkdir "$mount/d$i"; done
! mkdir "$mount/d1" 2>/dev/null || fail "mkdir twice"
"$tallyctl" stat --json --since "$work/before.json" "$mount" >"$work/after.json"
[ "$(count mkdir "$work/after.json")" -eq 7 ] || fail "mkdir: $(count mkdir "$work/after.json") counted"
[ "$(count create "$work/after.json")" -eq 0 ] || fail "create: counted before the snapshot"
"$tallyctl" stat "$mount" --since "$work/before.json" --op=mkdir --csv >"$work/csv"
[ "$(wc -l <"$work/csv")" -eq 2 ] || fail "CSV: $(cat "$work/csv")"
cut -d , -f 4,5,6 "$work/csv" | tail -n 1 | grep -qx 'mkdir,7,0' || fail "CSV: $(cat "$work/csv")"
"$tallyctl" stat "$mount" | grep -qE '^mkdir +8 +0 ' || fail "table: $("$tallyctl" stat "$mount")"
! "$tallyctl" stat "$mount" | grep -q $'\033' || fail "colours on no terminal"
"$tallyctl" stat "$mount" --openmetrics | tail -n 1 | grep -qx '# EOF' || fail "OpenMetrics"
getfattr --absolute-names --only-values -n user.tallyfs.stats.json "$mount" >"$work/sums.json"
"$tallyctl" stat "$mount" --since "$work/sums.json" | grep -qE '^getxattr .* - +- +- ' || fail "difference of sums"
{ timeout 1.5 "$tallyctl" stat "$mount" --watch 0.5 --json || [ $? -eq 124 ]; } >"$work/watched"
[ "$(wc -l <"$work/watched")" -eq 2 ] || fail "watch: $(wc -l <"$work/watched") lines in 1.5 s"

# Files, above and below.
"$tallyctl" sync "$mount"
"$tallyctl" file "$mount/dir/text" "$lower/dir/text" >"$work/files"
[ "$(awk 'NR > 1 {print $1, $2, $3, $4, $5}' "$work/files" | uniq | wc -l)" -eq 1 ] || fail "$(cat "$work/files")"
awk -v size="$(stat -c %s "$work/text")" 'NR == 2 && ($1 != size || $2 >= size || $3 <= 2 || $4 != "zstd") {exit 1}' \
    "$work/files" || fail "$(cat "$work/files")"
for name in text noise; do
    "$tallyctl" cat "$lower/dir/$name" | cmp - "$work/$name" || fail "cat of $name"
done
"$tallyctl" cat "$work/text" | cmp - "$work/text" || fail "cat of a plain file"
"$tallyctl" file "$work/text" | grep -qE ' none +0 ' || fail "a plain file: $("$tallyctl" file "$work/text")"
if "$tallyctl" cat "$lower/dir/text" >/dev/full 2>"$work/err"; then fail "cat to a full disk"; fi
grep -q 'standard output: No space left' "$work/err" || fail "cat to a full disk: $(cat "$work/err")"

# Reset.
"$tallyctl" reset "$mount"
"$tallyctl" stat "$mount" --json >"$work/reset.json"
[ "$(count mkdir "$work/reset.json")" -eq 0 ] || fail "reset"
expect 1 "$work/before.json: the counters have been reset since" \
    "$tallyctl" stat "$mount" --since "$work/before.json"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    unmount_it
    mount_it compress=zstd:3,allow_other
    chmod 755 "$work"
    chmod 777 "$lower" # or the kernel itself would refuse
    cp "$tallyctl" "$work/tallyctl"
    expect 1 'Operation not permitted' setpriv --reuid 65534 --regid 65534 --clear-groups "$work/tallyctl" reset "$mount"
fi

# What is wrong, each with its message.
expect 1 "$lower: not a tallyfs mount" "$tallyctl" stat "$lower"
expect 1 "$mount/dir: not a tallyfs mount" "$tallyctl" reset "$mount/dir"
expect 1 "$work/none: No such file or directory" "$tallyctl" sync "$work/none"
expect 1 "$work/none: No such file or directory" "$tallyctl" stat "$mount" --since "$work/none"
expect 1 "$work/text: not JSON" "$tallyctl" stat "$mount" --since "$work/text"
expect 1 "$work: Is a directory" "$tallyctl" cat "$work"
expect 1 "/dev/null: not a regular file" "$tallyctl" file /dev/null
expect 1 "$work/none: No such file or directory" "$tallyctl" file "$work/none"
expect 2 'usage: tallyctl stat MOUNT' "$tallyctl" stat
expect 2 'one operand too many' "$tallyctl" cat "$work/text" "$work/text"
expect 2 '--op read,fly: not a valid value' "$tallyctl" stat "$mount" --op read,fly
expect 2 '--watch 0: out of range' "$tallyctl" stat "$mount" --watch 0
expect 2 '--json: takes no value' "$tallyctl" stat "$mount" --json=1
expect 2 '--since: a value is missing' "$tallyctl" stat "$mount" --since
expect 2 'use one' "$tallyctl" stat "$mount" --since "$work/sums.json" --watch 1
expect 2 '--tea: unknown option' "$tallyctl" stat "$mount" --tea
expect 2 'tea: no such subcommand' "$tallyctl" tea
expect 2 'a subcommand is missing' "$tallyctl"
expect 2 '--by size: not a valid value' "$tallyctl" top "$mount" --by size
expect 1 "$mount: the mount does not count that" "$tallyctl" top "$mount" --of trees
expect 1 "$work: not a tallyfs mount" "$tallyctl" slow "$work"

# The most bytes are in the largest file; an operation that takes long is told with its name.
cp "$work/noise" "$mount/dir/counted"
"$tallyctl" top "$mount" --by bytes --rows 1 >"$work/out"
grep -q ' dir/counted$' "$work/out" || fail "top: $(cat "$work/out")"
"$tallyctl" top "$mount" --of processes >"$work/out"
grep -q ' [0-9]* cp, ' "$work/out" || fail "top --of processes: $(cat "$work/out")"
setfattr -n user.tallyfs.slow_ms -v 0 "$mount"
"$tallyctl" reset "$mount"
"$tallyctl" slow "$mount" 2>"$work/err" | grep -q . && fail "slow: operations of before the reset"
grep -q 'no operation took' "$work/err" || fail "slow: $(cat "$work/err")"
"$tallyctl" -h | grep -q 'tallyctl cat LOWERFILE' || fail "-h"
"$tallyctl" stat -h | grep -q -- '--watch SECONDS' || fail "stat -h"
"$tallyctl" -V | grep -q '^tallyctl [0-9]' || fail "-V"

# Damage ends it with an error, after what is whole.
unmount_it
size=$(stat -c %s "$lower/dir/noise")
printf 'damage' | dd of="$lower/dir/noise" bs=1 seek=$((size / 2)) conv=notrunc status=none
if "$tallyctl" cat "$lower/dir/noise" >"$work/out" 2>"$work/err"; then fail "cat of a damaged file"; fi
grep -q "$lower/dir/noise: at byte [0-9]*: Input/output error" "$work/err" || fail "damage: $(cat "$work/err")"
cmp -n "$(stat -c %s "$work/out")" "$work/out" "$work/noise" || fail "damage: wrong bytes before it"

mount_it stats=off
expect 1 "$mount: counting is off" "$tallyctl" stat "$mount"
unmount_it
