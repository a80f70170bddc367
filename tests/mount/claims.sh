#!/usr/bin/env bash
# One lower directory in two mounts: compressed files are open for reading in both or for writing in one, and plain files
# are shared as between any programs.
. "$(dirname "$0")/lib.sh"

second=$work/second
mkdir "$second"
other=

end_second() {
    local status=$?
    [ -z "$other" ] || { force_unmount "$second"; kill -KILL "$other"; wait "$other"; } 2>/dev/null
    (exit "$status")
    clean_up
}
trap end_second EXIT

mount_second() {
    "$TALLYFS" "$lower" "$second" -f -o "$1" 2>"$work/stderr2" &
    other=$!
    until mountpoint -q "$second"; do
        kill -0 "$other" || fail "the second daemon ended: $(cat "$work/stderr2")"
        sleep 0.05
    done
}

busy() { ! "$@" 2>"$work/said" || fail "$* succeeded"; grep -q 'Device or resource busy' "$work/said" || fail "$*: $(cat "$work/said")"; }

# eventually COMMAND…: a file is closed some moments after close(2).
eventually() {
    for _ in $(seq 100); do
        ! "$@" 2>/dev/null || return 0
        sleep 0.05
    done
    fail "never: $*"
}

append() { echo "$1" >>"$2"; }
empty() { truncate -s 0 "$1"; }

mount_it compress=zstd:3,attr_timeout=0,entry_timeout=0
mount_second compress=lz4,attr_timeout=0,entry_timeout=0
yes first | head -n 90000 >"$mount/file" || true
eventually cmp "$mount/file" "$second/file"

# Two readers.
exec 5<"$mount/file" 6<"$second/file"
cmp /dev/fd/5 /dev/fd/6
busy append second "$second/file"
busy append first "$mount/file"
busy empty "$second/file"
exec 6<&-
# The reader here becomes writable with the first writer; then nobody else gets in.
eventually append first "$mount/file"
exec 7>>"$mount/file"
busy cat "$second/file"
busy empty "$second/file"
[ "$(stat -c %s "$second/file")" -gt 0 ] || fail 'a file in use cannot be looked at'
echo again >&7
exec 5<&- 7>&-
eventually append second "$second/file"
eventually cmp "$mount/file" "$second/file"
[ "$(tail -n 3 "$mount/file" | tr '\n' ' ')" = 'first again second ' ] || fail "got $(tail -n 3 "$mount/file")"

# Renaming and removing need no claim; a new file is nobody's yet.
exec 7>>"$mount/file"
mv "$second/file" "$second/renamed"
rm "$second/renamed"
echo last >&7
exec 7>&-
yes other | head -n 20000 >"$second/new" || true
eventually cmp "$second/new" "$mount/new"


# Plain files: both write.
setfattr -n user.tallyfs.compress -v none "$mount"
: >"$mount/plain"
exec 5>>"$mount/plain" 6>>"$second/plain"
for i in 1 2 3; do
    echo "first $i" >&5
    echo "second $i" >&6
done
exec 5>&- 6>&-
[ "$(wc -l <"$lower/plain")" -eq 6 ] || fail 'lines of a plain file are lost'
cmp "$mount/plain" "$second/plain"

kill -TERM "$other"
wait "$other" || fail 'the second daemon failed'
other=
[ "$(grep -c 'in use by another mount' "$work/stderr2")" -eq 1 ] || fail "the second daemon said: $(cat "$work/stderr2")"
grep -v 'in use by another mount' "$work/stderr" >&2 && fail 'the first daemon said more'
: >"$work/stderr"
unmount_it
