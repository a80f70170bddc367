#!/usr/bin/env bash
# user.tallyfs.* is tallyfs' own: tools that copy attributes do not take it along, nobody can forge it, and what is written
# below the mount under these names does not show. (The one exception is the codec, `compress`, which is meant to be copied.)
. "$(dirname "$0")/lib.sh"
command -v getfattr >/dev/null || skip "no getfattr"

# names DIR: the names of all attributes of tallyfs in a tree.
names() {
    getfattr -R -h --absolute-names -m 'user\.tallyfs\.' "$1" 2>/dev/null | grep -v '^#' | grep . || :
}

# refuses ERROR COMMAND…
refuses() {
    local expected=$1 said
    shift
    ! said=$("$@" 2>&1) || fail "$*: was allowed"
    grep -q "$expected" <<<"$said" || fail "$*: $said, not $expected"
}

mount_it compress=lz4,cache=none
mkdir "$mount/tree" "$work/copies"
seq 20000 >"$mount/tree/file"
mkdir "$mount/tree/dir"
ln -s file "$mount/tree/link"
setfattr -n user.kept -v yes "$mount/tree/file"

# Nothing is listed, so nothing is copied, from the mount and within it; what is the program's is.
[ -z "$(names "$mount/tree")" ] || fail "listed: $(names "$mount/tree")"
cp -a "$mount/tree" "$work/copies/cp"
tar -C "$mount" --xattrs --xattrs-include='*' -cf "$work/tree.tar" tree
mkdir "$work/copies/tar"
tar -C "$work/copies/tar" --xattrs --xattrs-include='*' -xf "$work/tree.tar"
! command -v rsync >/dev/null || rsync -aX "$mount/tree" "$work/copies/rsync"
cp -a "$mount/tree" "$mount/again"
for copy in "$work/copies/cp/file" "$work/copies/tar/tree/file" "$mount/again/file"; do
    [ "$(getfattr --absolute-names --only-values -n user.kept "$copy")" = yes ] || fail "$copy has lost user.kept"
done
for copy in "$work/copies" "$mount/again"; do
    [ -z "$(names "$copy")" ] || fail "copied: $(names "$copy")"
done
! grep -a -q 'user.tallyfs' "$work/tree.tar" || fail "the archive has attributes of tallyfs"

# Forging through the mount.
for name in file.stored_bytes file.logical_bytes file.codec file.ratio file.chunks file.ops; do
    refuses 'Operation not permitted' setfattr -n "user.tallyfs.$name" -v 1 "$mount/tree/file"
    refuses 'Operation not permitted' setfattr -x "user.tallyfs.$name" "$mount/tree/file"
done
for name in stats.json op.read.count slow_ms cmd.reset top nonsense; do
    refuses 'No such attribute' setfattr -n "user.tallyfs.$name" -v 1 "$mount/tree/file"
    refuses 'No such attribute' getfattr -n "user.tallyfs.$name" "$mount/tree/file"
done
[ -z "$(names "$lower")" ] || fail "kept below: $(names "$lower")"

# Forging below the mount: it does not show, is not copied, and the counters are the true ones.
for name in file.codec file.ops secret stats.json; do
    setfattr -n "user.tallyfs.$name" -v forged "$lower/tree/file"
done
setfattr -n user.tallyfs.epoch -v 99 "$lower"
[ -z "$(names "$mount/tree")" ] || fail "what is below shows: $(names "$mount/tree")"
[ "$(getfattr --absolute-names --only-values -n user.tallyfs.file.codec "$mount/tree/file")" = lz4 ] || fail "a forged codec"
refuses 'No such attribute' getfattr -n user.tallyfs.secret "$mount/tree/file"
[ "$(getfattr --absolute-names --only-values -n user.tallyfs.epoch "$mount")" = 1 ] || fail "a forged epoch"
rm -rf "$work/copies/cp"
cp -a "$mount/tree" "$work/copies/cp"
[ -z "$(names "$work/copies")" ] || fail "forged ones were copied"

# A user who may read a file may know what was done with it; one who may not, may not.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    unmount_it
    mount_it allow_other
    chmod 755 "$work" "$mount/tree"
    chmod 600 "$mount/tree/file"
    refuses 'Permission denied' setpriv --reuid 65534 --regid 65534 --clear-groups \
        getfattr -n user.tallyfs.file.ops "$mount/tree/file"
    chmod 644 "$mount/tree/file"
    setpriv --reuid 65534 --regid 65534 --clear-groups getfattr -n user.tallyfs.file.ops "$mount/tree/file" >/dev/null 2>&1 ||
        fail "file.ops of a file that may be read"
fi
unmount_it
