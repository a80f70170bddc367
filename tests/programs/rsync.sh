#!/usr/bin/env bash
# Usage: rsync.sh OPTIONS
# rsync -aHAX into the mount, from one place in it to another and out again: nothing is left to do, by checksum, at once
# and after a remount; updates in place, of sparse files, by appending, and deletions.
. "$(dirname "$0")/lib.sh"
need rsync
. "$here/../programs/tree.sh"

# Inode numbers, link counts and times of directories included, but for what each copy has of its own.
copy() { quietly rsync -aHAX --numeric-ids "$@"; }
same() {
    local found
    found=$(rsync -aHAXn --numeric-ids --checksum --delete --itemize-changes "$1/" "$2/")
    [ -z "$found" ] || fail "$2 is not like $1: $found"
}

source=$work/source
make_tree "$source"
mount_it "$options"
copy "$source/" "$mount/copy"
same "$source" "$mount/copy"
copy "$mount/copy/" "$mount/second"
remount
same "$source" "$mount/copy"
same "$mount/copy" "$mount/second"
copy "$mount/second/" "$work/back"
same "$source" "$work/back"

# rsync trusts size and time, so that nothing is copied again.
[ -z "$(rsync -aHAX --numeric-ids --itemize-changes "$source/" "$mount/copy/")" ] || fail "size or times differ"

noise 100000 3 | put "$source/big" 1000000
noise 50000 4 >>"$source/wide/file 7"
rm -r "$source/wide/file 8" "$source/empty"
mv "$source/wide/file 9" "$source/dir/inner/moved"
setfacl -b "$source/wide/file 4"
setfattr -x user.note "$source/big"
chmod 600 "$source/wide/file 2"
copy --delete --inplace --no-whole-file "$source/" "$mount/copy"
copy --delete --sparse --no-whole-file "$source/" "$mount/second"
noise 60000 6 >>"$source/random"
copy --append-verify "$source/random" "$mount/copy/"
copy --sparse "$source/sparse" "$mount/sparse"
copy --partial --delay-updates --preallocate "$source/" "$mount/second"
remount
same "$source" "$mount/copy"
same "$source" "$mount/second"
cmp "$source/sparse" "$mount/sparse" || fail "the sparse copy"
[ "$(stat -c %b "$mount/sparse")" -lt 1024 ] || fail "the sparse copy has $(stat -c %b "$mount/sparse") blocks"
unmount_it
