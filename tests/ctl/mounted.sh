#!/usr/bin/env bash
# Usage: mounted.sh TALLYCTL
# tallyctl keeps its hands off what a live mount works on, and a mount reads what tallyctl made.
. "$(dirname "$0")/../mount/lib.sh"
tallyctl=$1

# run STATUS COMMAND…
run() {
    local status=$1 got=0
    shift
    "$@" >"$work/out" 2>"$work/err" || got=$?
    [ "$got" -eq "$status" ] || fail "$*: status $got, not $status: $(cat "$work/out" "$work/err")"
}

says() {
    grep -qF -- "$2" "$work/$1" || fail "not said on $1: \"$2\", but: $(cat "$work/$1")"
}

seq 100000 >"$work/text"
head -c 500000 /dev/urandom >"$work/noise"
mount_it compress=lz4,cache=none,attr_timeout=0,entry_timeout=0
mkdir "$mount/dir"
cp "$work/text" "$work/noise" "$mount/dir"
# What would change something is refused, above and below the mounted directory.
for operand in "$lower" "$lower/dir" "$lower/dir/text" "$work"; do
    for command in 'check --repair' convert compact; do
        # shellcheck disable=SC2086
        run 1 "$tallyctl" $command "$operand"
        says err "$operand: mounted on $mount; unmount that first"
    done
done
run 1 "$tallyctl" check "$mount/dir"
says err "$mount/dir: on the tallyfs mount $mount; name a place in its lower directory"
# Checking is allowed, but for what is open.
exec 7>>"$mount/dir/text"
run 1 "$tallyctl" check "$lower/dir"
says err "$lower/dir: mounted on $mount; files in use there cannot be checked"
says err "$lower/dir/text: in use by a mount"
says out '1 compressed files checked'
run 1 "$tallyctl" cat "$lower/dir/text"
says err "$lower/dir/text: in use by a mount"
exec 7>&-
run 0 "$tallyctl" check "$lower/dir"
says out '2 compressed files checked'
unmount_it

# What was converted, damaged and repaired, through a mount.
run 0 "$tallyctl" convert --to gzip:6 --chunk 32K "$lower/dir"
says out '2 files converted'
cp "$work/text" "$lower/dir/plain"
run 0 "$tallyctl" convert "$lower/dir/plain"
mount_it compress=none,cache=none
for name in text noise; do cmp "$work/$name" "$mount/dir/$name" || fail "converted: $name"; done
cmp "$work/text" "$mount/dir/plain" || fail "converted: plain"
unmount_it
printf damage | dd of="$lower/dir/noise" bs=1 seek=250000 conv=notrunc status=none
run 3 "$tallyctl" check --repair "$lower/dir"
range=$(sed -n "s/^[^ ]*noise: bytes \([0-9]*+[0-9]*\): .*/\1/p" "$work/out")
mount_it compress=none,cache=none
python3 - "$work/noise" "$mount/dir/noise" "${range%+*}" "${range#*+}" <<'PYTHON' || fail "repaired: $range"
import errno, os, sys
whole = open(sys.argv[1], "rb").read()
offset, length = int(sys.argv[3]), int(sys.argv[4])
fd = os.open(sys.argv[2], os.O_RDONLY)
assert os.fstat(fd).st_size == len(whole)
for at in range(0, len(whole), 4096):
    try:
        got = os.pread(fd, 4096, at)
    except OSError as error:
        assert error.errno == errno.EIO and at < offset + length and offset < at + 4096, (at, error)
        continue
    assert got == whole[at:at + 4096], at
    assert not (at < offset + length and offset < at + len(got)), at
PYTHON
# Written anew, it reads again.
dd if="$work/noise" of="$mount/dir/noise" bs=1M conv=notrunc status=none
cmp "$work/noise" "$mount/dir/noise" || fail "written over a lost range"
unmount_it
run 0 "$tallyctl" check "$lower/dir"
