#!/usr/bin/env bash
# Who and what the operations were for: top, by.uid, by.pid, slow; and who may see that.
. "$(dirname "$0")/lib.sh"
command -v getfattr >/dev/null || skip "no getfattr"
nobody=65534

# sums NAME: "count errors bytes" summed over the rows of an attribute.
sums() {
    counter "$1" | awk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { count += $column["count"]; errors += $column["errors"]; bytes += $column["bytes"] }
        END { print count, errors, bytes }'
}

# value ATTRIBUTE COLUMN KEY-COLUMN KEY: one column of the row with that key.
value() {
    counter "$1" | key=$4 awk -F '\t' -v want="$2" -v by="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column[by] "" == ENVIRON["key"] { print $column[want] }'
}

mount_it "cache=none,allow_other,slow=0"
chmod 755 "$work"
setfattr -n user.tallyfs.cmd.reset -v 1 "$mount/.tallyfs"
mkdir "$mount/dir"
# Open until the end, so that the kernel keeps them when somebody on this machine drops its caches.
exec 5>"$mount/dir/plain" 6>"$mount/dir/tab	and\\more" 7>"$mount/dir/large"
printf 'twelve bytes' >&5
printf 'four' >&6
dd if=/dev/zero of="$mount/dir/large" bs=64K count=8 conv=notrunc 2>/dev/null
! cat "$mount/dir/absent" 2>/dev/null || fail "absent"
tar cf - -C "$mount" . | cat >/dev/null # tar does not read what it writes to /dev/null

for table in top by.uid by.pid; do
    [ "$(counter "$table" | awk -F '\t' '{ print NF }' | sort -u | wc -l)" -eq 1 ] || fail "$table: rows of several lengths"
done
[ "$(value top bytes name dir/large)" -eq $((2 * 8 * 65536)) ] || fail "bytes of dir/large: $(value top bytes name dir/large)"
[ "$(value top bytes name 'dir/tab\tand\\more')" -eq 8 ] || fail "the name with a tab: $(counter top)"
[ "$(value top inode name dir/plain)" -eq "$(stat -c %i "$mount/dir/plain")" ] || fail "an inode's number"
[ "$(value top inode name other)" = 0 ] || fail "no row of others"
[ "$(value by.pid bytes command dd)" -eq $((8 * 65536)) ] || fail "bytes of dd: $(counter by.pid)"
[ "$(value by.pid uid command tar)" -eq "$(id -u)" ] || fail "who tar was"
[ -z "$(counter slow | tail -n +2)" ] || fail "slow operations with a threshold of none"

# The rows of each table are all operations. A reader is an operation, so the sums are compared within one program.
python3 - "$mount/.tallyfs" <<'PYTHON' || fail "the sums differ"
import json, os, sys
def read(name):
    return os.getxattr(sys.argv[1], "user.tallyfs." + name).decode()
def total(name):
    lines = read(name).splitlines()
    header = lines[0].split("\t")
    rows = [dict(zip(header, line.split("\t"))) for line in lines[1:]]
    return {key: sum(int(row[key]) for row in rows)
            for key in ("count", "errors", "bytes", "total_ns", "lower_ns", "codec_ns", "wait_ns")}
def all_operations():
    operations = json.loads(read("stats.json"))["operations"].values()
    return {key: sum(operation[key] for operation in operations)
            for key in ("count", "errors", "bytes", "total_ns", "lower_ns", "codec_ns", "wait_ns")}
for name in ("top", "by.uid", "by.pid"):
    before, rows, after = all_operations(), total(name), all_operations()
    for key in before:
        if not before[key] <= rows[key] <= after[key]:
            sys.exit("%s: %s is %d, of all operations it was %d and then %d" % (name, key, rows[key], before[key], after[key]))
    # What comes between is what this program asks, and the end of files that were closed before: no data.
    if after["bytes"] != before["bytes"]:
        sys.exit("%s: something else was going on" % name)
PYTHON

exec 5>&- 6>&- 7>&-

# A busy temporary file has a name after it is gone.
dd if=/dev/zero of="$mount/dir/temporary" bs=4K count=50 2>/dev/null
rm "$mount/dir/temporary"
for ((tries = 0; tries < 400; tries++)); do # FORGET comes when it likes
    [ "$(value top bytes name dir/temporary)" != 204800 ] || break
    sleep 0.05
done
[ "$(value top bytes name dir/temporary)" = 204800 ] || fail "a removed file: $(counter top)"

# The threshold: who may set it, and to what.
setfattr -n user.tallyfs.slow_ms -v 5 "$mount/.tallyfs"
[ "$(counter slow_ms)" = 5 ] || fail "slow_ms is $(counter slow_ms)"
for bad in -1 x 1.5 99999999999 ''; do
    ! setfattr -n user.tallyfs.slow_ms -v "$bad" "$mount/.tallyfs" 2>/dev/null || fail "slow_ms=$bad was taken"
done
[ "$(counter slow_ms)" = 5 ] || fail "slow_ms after bad values"
may_say='slow_ms: expected milliseconds'

# slow_lock FILE UID [COMMAND…]: makes an operation of that user's slow, a lock that somebody else holds for a while; longer
# and longer, until the other one has come in time to wait for it. COMMAND runs flock(1) as that user.
slow_lock() {
    local file=$1 uid=$2 pause waiter
    shift 2
    exec 9>"$file"
    for pause in 0.2 0.5 1 2 4 8 16; do
        flock 9
        "$@" flock "$file" true &
        waiter=$!
        sleep "$pause"
        flock -u 9
        wait "$waiter"
        ! counter slow | grep -qP "\tflock\t.*\t$uid\t\d+\t\d+\t" || break
    done
    exec 9>&-
}

setfattr -n user.tallyfs.slow_ms -v 20 "$mount/.tallyfs"
slow_lock "$mount/dir/locked" "$(id -u)"
row=$(counter slow | grep -P '\tflock\t' | tail -n 1) || fail "a slow lock is not there: $(counter slow)"
awk -F '\t' -v inode="$(stat -c %i "$mount/dir/locked")" -v uid="$(id -u)" '
    { exit !($2 == "flock" && $3 == 0 && $4 >= 20000000 && $7 >= 20000000 && $9 == uid && $11 == inode && $12 == "dir/locked") }' \
    <<<"$row" || fail "the slow lock: $row"
setfattr -n user.tallyfs.slow_ms -v 0 "$mount/.tallyfs"

# Others see their own, and no names.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    as_nobody() { setpriv --reuid "$nobody" --regid "$nobody" --clear-groups "$@"; }
    chmod 700 "$mount/dir"
    mkdir -m 777 "$mount/shared"
    as_nobody sh -c "echo mine >'$mount/shared/mine'"
    for name in slow_ms cmd.reset cmd.sync; do
        ! as_nobody setfattr -n "user.tallyfs.$name" -v 7 "$mount/.tallyfs" 2>/dev/null || fail "$name by anybody"
    done
    [ "$(counter slow_ms)" = 0 ] && [ "$(counter epoch)" = 2 ] || fail "changed by anybody"
    ! as_nobody getfattr -n user.tallyfs.top "$mount/.tallyfs" 2>/dev/null || fail "top is for anybody"
    theirs() { as_nobody getfattr --absolute-names --only-values -n "user.tallyfs.$1" "$mount/.tallyfs"; }
    [ "$(theirs by.uid | tail -n +2 | cut -f 1)" = "$nobody" ] || fail "by.uid for others: $(theirs by.uid)"
    [ "$(theirs by.pid | tail -n +2 | cut -f 3 | sort -u)" = "$nobody" ] || fail "by.pid for others: $(theirs by.pid)"
    [ -z "$(theirs slow | tail -n +2)" ] || fail "slow for others: $(theirs slow)"
    as_nobody getfattr --absolute-names -d "$mount/.tallyfs" >"$work/all" 2>&1 || fail "listing for others: $(cat "$work/all")"
    ! grep -q -e locked -e 'dir/' "$work/all" || fail "a name for others"
    # The same slow operation, now of theirs: they see it without its name, root with it.
    setfattr -n user.tallyfs.slow_ms -v 20 "$mount/.tallyfs"
    slow_lock "$mount/shared/mine" "$nobody" as_nobody
    theirs slow | grep -qP "\t$nobody\t\d+\t\d+\t\?\$" || fail "their slow operation: $(theirs slow)"
    counter slow | grep -qP "\t$nobody\t\d+\t\d+\tshared/mine\$" || fail "their slow operation for root: $(counter slow)"
fi
unmount_it

# What the kernel writes later counts for who opened the file.
mount_it cache=writeback,slow=0
setfattr -n user.tallyfs.cmd.reset -v 1 "$mount/.tallyfs"
dd if=/dev/zero of="$mount/dir/late" bs=64K count=4 2>/dev/null
sync "$mount/dir/late"
[ "$(value by.pid bytes command dd)" -eq $((4 * 65536)) ] || fail "what dd wrote late: $(counter by.pid)"
[ "$(value by.uid bytes uid "$(id -u)")" -ge $((4 * 65536)) ] || fail "whose it was: $(counter by.uid)"
unmount_it

# Trees: each operation is in the innermost one, and all are in one.
mount_it cache=none,attr_timeout=0,entry_timeout=0,tree=2
mkdir -p "$mount/alpha/deep/er/est" "$mount/beta"
printf '12345' >"$mount/alpha/deep/er/est/file"
printf '123' >"$mount/alpha/file"
printf '1' >"$mount/beta/file"
printf '1234567' >"$mount/top"
[ "$(value by.tree bytes path alpha/deep)" = 5 ] || fail "below the depth: $(counter by.tree)"
[ "$(value by.tree bytes path alpha)" = 3 ] || fail "alpha: $(counter by.tree)"
[ "$(value by.tree bytes path beta)" = 1 ] || fail "beta: $(counter by.tree)"
[ "$(value by.tree bytes path .)" = 7 ] || fail "the root: $(counter by.tree)"
[ -z "$(value by.tree bytes path alpha/deep/er)" ] || fail "a tree below the depth"
mv "$mount/beta" "$mount/gamma"
printf '1' >"$mount/gamma/more"
[ "$(value by.tree bytes path gamma)" = 1 ] || fail "after a rename: $(counter by.tree)"
[ "$(sums by.tree | cut -d ' ' -f 3)" = "$(sums by.uid | cut -d ' ' -f 3)" ] || fail "trees are not all: $(counter by.tree)"
rm -r "$mount/alpha" "$mount/gamma" "$mount/top"
unmount_it
mount_it
! getfattr -n user.tallyfs.by.tree "$mount/.tallyfs" 2>/dev/null || fail "trees without the option"
unmount_it

# All as small as an attribute may be, whatever there is.
mount_it cache=none
long=$(printf 'x%.0s' {1..240})
for ((i = 0; i < 300; i++)); do
    : >"$mount/dir/$long$i"
done
[ "$(counter top | wc -c)" -le 65536 ] || fail "top is too long"
[ "$(counter top | tail -n 1 | cut -f 9)" = other ] || fail "the last row"
unmount_it
