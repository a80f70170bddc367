#!/usr/bin/env bash
# Usage: tree.sh FILE_SYSTEM CODEC
# A real tree copied with cp -a and with tar comes back identical after a remount: contents, modes, owners, times,
# extended attributes, hard links. TALLY_TREE_FULL=1 takes all of /usr/include and /usr/share instead of a part.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "only root keeps owners"

if [ "${TALLY_TREE_FULL:-}" ]; then
    sources=(usr/include usr/share)
    size=12G
else
    sources=()
    for name in usr/include/linux usr/share/perl usr/share/zoneinfo/Europe usr/share/terminfo/x usr/share/doc/libc6 \
        usr/share/python3; do
        [ ! -d "/$name" ] || sources+=("$name")
    done
    size=1G
fi
lower_image "$1" "$size"

# One line for each file, with all that must survive; hard links by the first name of their inode. A
# directory's link count is the file system's own affair: Btrfs has always 1.
describe() {
    (cd "$1" && find . -type d -printf '%i %y %m %u %g %T@ - %l\t%p\n' -o \
        -printf '%i %y %m %u %g %T@ %n %l\t%p\n' | sort -t$'\t' -k2 |
        awk -F'\t' '{ split($1, field, " "); if (!(field[1] in first)) first[field[1]] = $2
                      sub(/^[0-9]+ /, "", $1); print $1, $2, first[field[1]] }'
        find . -print0 | sort -z | xargs -0 getfattr -d -h -m - 2>/dev/null)
}

mount_it "compress=$2"
mkdir "$mount/cp" "$mount/tar" "$work/reference"
(cd / && cp -a --parents "${sources[@]}" "$work/reference")
: >"$work/reference/odd name with spaces and ü"
ln "$work/reference/odd name with spaces and ü" "$work/reference/hard"
install -m 6751 /bin/true "$work/reference/setid"
setfattr -n user.note -v 'of a file' "$work/reference/hard"
truncate -s 10M "$work/reference/hole"
printf end >>"$work/reference/hole"
mkfifo "$work/reference/fifo"
chmod 000 "$work/reference/hole"
cp -a "$work/reference/." "$mount/cp"
tar -C "$work/reference" --xattrs --xattrs-include='*' -cf - . | tar -C "$mount/tar" --xattrs --xattrs-include='*' -xpf -
unmount_it
mount_it "compress=$2"
describe "$work/reference" >"$work/expected"
for how in cp tar; do
    diff -r --no-dereference -x fifo "$work/reference" "$mount/$how" || fail "contents copied by $how"
    describe "$mount/$how" >"$work/found"
    diff "$work/expected" "$work/found" >"$work/difference" || fail "attributes after $how: $(head -20 "$work/difference")"
done
unmount_it
echo "$(wc -l <"$work/expected") entries on $1 with $2"
