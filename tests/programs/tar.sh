#!/usr/bin/env bash
# Usage: tar.sh OPTIONS
# tar with ACLs, extended attributes and holes: an archive of the mount is byte for byte that of the plain tree, and the
# tree unpacked on the mount is like the archive after a remount. Archives themselves lie on the mount, too.
. "$(dirname "$0")/lib.sh"
need tar gzip
. "$here/../programs/tree.sh"

attributes=(--warning=no-timestamp --acls --xattrs '--xattrs-include=*')
archive() {
    tar --directory="$1" --create --file="$2" --sort=name --format=posix --numeric-owner "${attributes[@]}" \
        --pax-option='delete=atime,delete=ctime,exthdr.name=%d/pax/%f' "${@:3}" . || fail "tar of $1"
}
unpack() {
    tar --directory="$2" --extract --file="$1" --same-owner --same-permissions --numeric-owner "${attributes[@]}" ||
        fail "tar into $2"
}
compare() {
    quietly tar --directory="$2" --compare --file="$1" --numeric-owner "${attributes[@]}"
}

source=$work/source
make_tree "$source"
archive "$source" "$work/plain.tar"
archive "$source" "$work/sparse.tar" --sparse
mount_it "$options"
mkdir "$mount"/{whole,holes,again}
unpack "$work/plain.tar" "$mount/whole"
unpack "$work/sparse.tar" "$mount/holes"
compare "$work/plain.tar" "$mount/whole"
archive "$mount/whole" "$mount/whole.tar"
remount
compare "$work/plain.tar" "$mount/whole"
compare "$work/sparse.tar" "$mount/holes"
for tree in whole holes; do
    archive "$mount/$tree" "$work/$tree.tar"
    cmp "$work/plain.tar" "$work/$tree.tar" || fail "an archive of $tree is not that of the plain tree"
done
cmp "$work/plain.tar" "$mount/whole.tar" || fail "the archive on the mount"

# Holes are kept both ways: 12 MiB of file, a few hundred KiB of data.
archive "$mount/holes" "$mount/holes.tar" --sparse
[ "$(stat -c %s "$mount/holes.tar")" -lt $(($(stat -c %s "$work/sparse.tar") + 1048576)) ] || fail "holes were read as data"
[ "$(stat -c %b "$mount/holes/sparse")" -lt 1024 ] || fail "the hole takes $(stat -c %b "$mount/holes/sparse") blocks"
unpack "$mount/holes.tar" "$mount/again"
mkdir "$work/back"
tar -C "$mount/again" -czf "$mount/again.tar.gz" "${attributes[@]}" . || fail "tar -z"
tar -C "$work/back" -xpzf "$mount/again.tar.gz" "${attributes[@]}" || fail "tar -xz"
archive "$work/back" "$work/back.tar"
cmp "$work/plain.tar" "$work/back.tar" || fail "the tree that came back"
unmount_it
