#!/usr/bin/env bash
# The counters as scripts read them.
. "$(dirname "$0")/lib.sh"
command -v getfattr >/dev/null || skip "no getfattr"

echo "$TALLYFS" >"$lower/.tallyfs"
setfattr -n user.tallyfs.secret -v 1 "$lower"
mkdir "$lower/dir"
mount_it cache=none

# The control file hides a lower one, is found but not listed, empty, and the mount's owner's.
[ "$(stat -c '%F %a %s %u' "$mount/.tallyfs")" = "regular empty file 644 0 $(id -u)" ] || fail "the control file"
[ -z "$(cat "$mount/.tallyfs")" ] || fail "the control file is not empty"
[ "$(ls -A "$mount")" = dir ] || fail "the control file is listed"
! rm -f "$mount/.tallyfs" 2>/dev/null || fail "the control file was removed"
! mkdir "$mount/.tallyfs" 2>/dev/null || fail "a directory in its place"
! mv "$mount/dir" "$mount/.tallyfs" 2>/dev/null || fail "renamed over it"

listed=$(getfattr --absolute-names -d "$mount/.tallyfs")
for name in version options lower epoch uptime_ns stats stats.json op.read op.read.count op.lookup.p99_ns \
    op.write.histogram; do
    grep -q "^user\.tallyfs\.$name=" <<<"$listed" || fail "user.tallyfs.$name is not listed"
done
[ -z "$(getfattr -d "$mount" 2>&1)" ] || fail "attributes are listed on the root"
[ "$(counter lower)" = "$lower" ] || fail "lower"
[ "$(counter options)" = cache=none ] || fail "options"
[ "$(getfattr --absolute-names --only-values -n user.tallyfs.options "$mount")" = cache=none ] || fail "options on the root"

# A reader finds the operations that have been answered.
setfattr -n user.tallyfs.cmd.reset -v 1 "$mount/.tallyfs"
[ "$(counter epoch)" -eq 2 ] || fail "epoch"
for ((i = 1; i <= 20; i++)); do
    echo "$i" >"$mount/dir/f$i"
    [ "$(counter op.create.count)" -eq "$i" ] || fail "$i creates, counted $(counter op.create.count)"
done
[ "$(counter op.write.bytes)" -eq 51 ] || fail "bytes written: $(counter op.write.bytes)"
python3 -c 'import json, sys; d = json.load(sys.stdin); assert d["operations"]["create"]["count"] == 20' \
    <<<"$(counter stats.json)" || fail "stats.json"

# refuses ERROR COMMAND…: the command fails with that message.
refuses() {
    local expected=$1 said
    shift
    ! said=$("$@" 2>&1) || fail "$*: was allowed"
    grep -q "$expected" <<<"$said" || fail "$*: $said, not $expected"
}
for name in version op.read.count; do
    refuses 'Operation not permitted' setfattr -n "user.tallyfs.$name" -v 1 "$mount/.tallyfs"
done
for name in nonsense op.nonsense.count; do
    refuses 'No such attribute' setfattr -n "user.tallyfs.$name" -v 1 "$mount/.tallyfs"
    refuses 'No such attribute' getfattr -n "user.tallyfs.$name" "$mount/.tallyfs"
done
refuses 'No such attribute' getfattr -n user.tallyfs.secret "$mount"
setfattr -n user.other -v value "$mount/dir"
[ "$(getfattr --absolute-names --only-values -n user.other "$lower/dir")" = value ] || fail "other attributes do not pass"
setfattr -n user.tallyfs.cmd.sync -v 1 "$mount/.tallyfs" || fail "cmd.sync"
[ "$(getfattr --absolute-names --only-values -n user.tallyfs.file.logical_bytes "$mount/dir/f20")" -eq 3 ] || fail "logical_bytes"

# Sizes that programs asked for, and what was done with one file, open or not.
setfattr -n user.tallyfs.cmd.reset -v 1 "$mount/.tallyfs"
dd if=/dev/zero of="$mount/dir/sized" bs=5000 count=3 conv=notrunc 2>/dev/null
dd if=/dev/zero of="$mount/dir/sized" bs=16384 count=2 conv=notrunc 2>/dev/null
[ "$(counter op.write.sizes)" = "4096 3
16384 2" ] || fail "sizes of writes: $(counter op.write.sizes)"
refuses 'No such attribute' getfattr -n user.tallyfs.op.lookup.sizes "$mount/.tallyfs"
# file_ops EXPRESSION: whether it holds for what was done with the file.
file_ops() {
    getfattr --absolute-names --only-values -n user.tallyfs.file.ops "$mount/dir/sized" |
        python3 -c 'import json, sys; o = json.load(sys.stdin); sys.exit(not eval(sys.argv[1], o))' "$1"
}
file_ops 'bytes == 3 * 5000 + 2 * 16384 and count > 5 and lower_ns + codec_ns + wait_ns <= total_ns' || fail "file.ops"
exec 9>>"$mount/dir/sized"
printf x >&9
file_ops 'bytes == 3 * 5000 + 2 * 16384 + 1' || fail "file.ops of an open file"
exec 9>&-
setfattr -n user.tallyfs.cmd.reset -v 1 "$mount/.tallyfs"
file_ops 'bytes == 3 * 5000 + 2 * 16384 + 1' || fail "file.ops after it was closed and the mount reset"
[ -z "$(getfattr -d -m - "$mount/dir/sized" 2>&1)" ] || fail "file.ops is listed"

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    unmount_it
    mount_it cache=none,allow_other
    chmod 755 "$work"
    ! setpriv --reuid 65534 --regid 65534 --clear-groups setfattr -n user.tallyfs.cmd.reset -v 1 \
        "$mount/.tallyfs" 2>/dev/null || fail "anybody may reset"
    [ "$(counter epoch)" -eq 1 ] || fail "reset by anybody"
fi
unmount_it

# With stats=off there is nothing to count, and the rest works.
mount_it stats=off
[ "$(counter options)" = stats=off ] || fail "options with stats=off"
refuses 'No such attribute' getfattr -n user.tallyfs.stats "$mount/.tallyfs"
unmount_it
