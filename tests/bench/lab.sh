#!/usr/bin/env bash
# contrib/lab: what it makes is there, may be asked for twice, and is gone afterwards, however it was interrupted. The long
# form, with TALLY_TEST_LONG, does the same with ZFS, and measures in the guest. TALLY_TEST_SEED repeats the points of
# interruption.

# shellcheck source-path=SCRIPTDIR disable=SC2016,SC2317
# shellcheck source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
lab=$(readlink -f "$(dirname "$(readlink -f "$0")")/../../contrib/lab")
dir=$scratch/lab
RANDOM=${TALLY_TEST_SEED:=$((RANDOM))}
echo "seed $TALLY_TEST_SEED"

skip() { echo "skip: $*"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "mounting image files needs root"
for tool in mkfs.ext4 losetup findmnt; do command -v "$tool" >/dev/null || skip "no $tool"; done
[ -e /dev/loop-control ] || skip "no loop devices"

do_lab() { "$lab" --dir "$dir" --size "${size:-16M}" "$@"; }

# None of them may be left by a lab that is down; what it ran may need a moment to be gone.
left_over() {
    findmnt -rn -o TARGET | grep -F "$scratch" || losetup -n -O BACK-FILE | grep -F "$scratch" ||
        pgrep -af -- "$scratch" | grep -v -e "^$$ " -e pgrep || ls -d "$dir" 2>/dev/null
}
nothing_is_left() {
    local tries
    for ((tries = 0; tries < 100; tries++)); do
        left_over >/dev/null || return 0
        sleep 0.2
    done
    left_over
    return 1
}

# A test that fails leaves nothing either.
end_lab() {
    do_lab down >/dev/null 2>&1
    end_test
}
trap end_lab EXIT

check_usage() {
    check "an unknown name is wrong usage, and nothing is made" \
        bash -c '"$1" --dir "$2" up ext4 nonsense; [ $? -eq 2 ] && [ ! -e "$2" ]' - "$lab" "$dir"
    check "status of nothing" do_lab status
    check "down of nothing" do_lab down
}

check_life() {
    local name=$1 at=$dir/$1/mnt
    check "up $name" do_lab up "$name"
    check "$name is mounted" mountpoint "$at"
    check "a file can be written" touch "$at/file"
    check "up $name again" do_lab up "$name"
    check "the file is still there" test -e "$at/file"
    check "status tells of $name" bash -c '"$1" --dir "$2" status | grep "^$3 .*$2/$3/mnt"' - "$lab" "$dir" "$name"
    check "path tells where" bash -c '[ "$("$1" --dir "$2" path "$3")" = "$2/$3/mnt" ]' - "$lab" "$dir" "$name"
    check "down $name" do_lab down "$name"
    check "nothing is left" nothing_is_left
    check "down again" do_lab down
}

# interrupt SIGNAL SECONDS/100 ARGUMENT…: a lab as on a terminal, in a process group of its own, all of which gets the signal.
interrupt() {
    local signal=$1 after=$2 pid
    shift 2
    setsid env --default-signal=INT,TERM "$lab" --dir "$dir" --size "${size:-16M}" "$@" </dev/null >"$scratch/said" 2>&1 &
    pid=$!
    sleep "$(printf '%d.%02d' $((after / 100)) $((after % 100)))"
    kill "-$signal" -- "-$pid" 2>/dev/null || true
    wait "$pid" || true
}

# After a signal that can be caught it is up or not there at all; after KILL, `down` brings it to an end.
check_interrupted() {
    local signal=$1 after=$2 name=$3
    interrupt "$signal" "$after" up "$name" 2>/dev/null
    if [ "$signal" != KILL ] && [ -d "$dir/$name" ]; then
        check "up $name with $signal after $after: whole if there" mountpoint "$dir/$name/mnt"
    fi
    check "down after up with $signal after $after" do_lab down
    check "nothing is left of up with $signal after $after" nothing_is_left
}

# What was measured until then is kept, and can be read.
check_run() {
    local what=$1
    shift
    check "$what" do_lab --tallybench "$TALLYBENCH" -o "$scratch/result.json" run "$@" -- \
        trigger --path native --size 64K --trials 2 --warm
    check "$what: a row of each" bash -c '"$1" report "$2" >"$3"; shift 3
        for row; do grep -q "^$row native" "$0" || exit 1; done' "$scratch/report" "$TALLYBENCH" "$scratch/result.json" \
        "$scratch/report" "${rows[@]}"
    check "$what: nothing is left" nothing_is_left
}

check_run_interrupted() {
    local signal=$1 after=$2
    shift 2
    rm -f "$scratch/result.json"
    interrupt "$signal" "$after" --tallybench "$TALLYBENCH" -o "$scratch/result.json" run "$@" -- \
        trigger --path native --size 64K --trials 200 --warm 2>/dev/null
    [ "$signal" != KILL ] || check "down after a killed run" do_lab down
    [ ! -e "$scratch/result.json" ] ||
        check "run with $signal after $after: its result can be read" "$TALLYBENCH" report "$scratch/result.json"
    check "nothing is left of run with $signal after $after" nothing_is_left
}

check_usage
check_life ext4
for signal in INT TERM KILL INT; do check_interrupted "$signal" $((RANDOM % 60)) ext4; done
rows=(ext4)
check_run "run over ext4" ext4
for signal in INT TERM; do check_run_interrupted "$signal" $((RANDOM % 200)) ext4; done

if [ -n "${TALLY_TEST_LONG:-}" ]; then
    size=128M
    if command -v zfs-fuse >/dev/null; then
        check_life zfs-lzjb
        for signal in INT TERM KILL INT; do check_interrupted "$signal" $((RANDOM % 300)) zfs-lzjb; done
    fi
    if command -v linux.uml >/dev/null && command -v mkfs.jfs >/dev/null; then
        rows=(ext4 jfs@guest ext4@guest)
        check_run "run over ext4, and jfs and ext4 in the guest" ext4 jfs ext4-guest
        for signal in INT TERM KILL INT; do check_run_interrupted "$signal" $((RANDOM % 2000)) jfs; done
    fi
fi
finish
