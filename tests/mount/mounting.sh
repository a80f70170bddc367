#!/usr/bin/env bash
# The ways to mount and what stays of a mount: mount(8), fstab's options, ro, remount, auto_unmount, and what a lower
# directory and a mountpoint may be to each other.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip 'only root mounts'
command -v mount.fuse3 >/dev/null || skip 'no mount.fuse3'

# mount.fuse3 looks the program up by its name where the system has its programs; this is in our namespace only.
[ "${TALLY_NAMESPACE:-}" ] || skip 'no mount namespace of its own'
mkdir "$work/bin"
ln -s "$(readlink -f "$TALLYFS")" "$work/bin/tallyfs"
mount --bind "$work/bin" /usr/local/sbin

end() {
    umount "$1"
    for ((i = 0; i < 400; i++)); do
        pgrep -f "tallyfs $lower " >/dev/null || return 0
        sleep 0.05
    done
    fail "the daemon of $1 is still there"
}

mount -t fuse.tallyfs "$lower" "$mount" -o compress=lz4,noatime,nodev || fail 'mount -t fuse.tallyfs'
grep -q "^$lower $mount fuse.tallyfs rw,.*nodev.*noatime" /proc/self/mounts || fail "mounted as $(grep "$mount" /proc/self/mounts)"
seq 100000 >"$mount/file"
mount -o remount,ro "$mount" || fail 'remount,ro'
! (echo x >"$mount/new") 2>/dev/null || fail 'wrote after remount,ro'
seq 100000 | cmp - "$mount/file" || fail 'reading after remount,ro'
mount -o remount,rw "$mount" || fail 'remount,rw'
echo more >>"$mount/file" || fail 'writing after remount,rw'
end "$mount"
[ ! -e "$lower/new" ] || fail 'a file came into being on a read-only mount'

# Read only from the beginning: nothing changes below.
chmod 444 "$lower/file"
before=$(stat -c '%y %z %s' "$lower/file")
mount -t fuse.tallyfs "$lower" "$mount" -o ro,compress=lz4 || fail 'mount -o ro'
for command in 'echo x >"$mount/new"' 'rm -f "$mount/file"' 'chmod 600 "$mount/file"' 'touch "$mount/file"' \
    'mkdir "$mount/new"' 'ln -s x "$mount/new"' 'mv "$mount/file" "$mount/new"' 'truncate -s 0 "$mount/file"' \
    'setfattr -n user.x -v x "$mount/file"' 'ln "$mount/file" "$mount/new"'; do
    ! (eval "$command") 2>"$work/said" || fail "$command works on a read-only mount"
    grep -q 'Read-only file system' "$work/said" || fail "$command: $(cat "$work/said")"
done
{ seq 100000; echo more; } | cmp - "$mount/file" || fail 'reading on a read-only mount'
end "$mount"
[ "$(stat -c '%y %z %s' "$lower/file")" = "$before" ] || fail "a read-only mount changed a file: $before to $(stat -c "%y %z %s" "$lower/file")"

# From a line of fstab.
echo "$lower $mount fuse.tallyfs rw,noauto,nofail,_netdev,x-systemd.automount,compress=zstd:3,cache=writeback 0 0" >"$work/fstab"
mount -T "$work/fstab" "$mount" || fail 'mount from fstab'
{ seq 100000; echo more; } | cmp - "$mount/file" || fail 'mounted from fstab'
end "$mount"

# With auto_unmount a daemon that dies leaves no dead mount behind. libfuse needs a fusermount3 of its own age for it.
mount -t fuse.tallyfs "$lower" "$mount" -o auto_unmount 2>"$work/said" || fail "auto_unmount: $(cat "$work/said")"
pkill -KILL -f "tallyfs $lower " || fail 'no daemon'
if grep -q "unrecognized option '--auto-unmount'" "$work/said"; then
    umount "$mount"
fi
for ((i = 0; i < 400; i++)); do
    grep -q " $mount " /proc/self/mounts || break
    sleep 0.05
done
! grep -q " $mount " /proc/self/mounts || fail 'auto_unmount left the mount'
mount_it compress=lz4
{ seq 100000; echo more; } | cmp - "$mount/file" || fail 'after a daemon that died'
unmount_it

# Without it the dead mount says so, and the next mount over it is refused until it is unmounted.
mount_it
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null || true
daemon=
! ls "$mount" 2>"$work/said" || fail 'a dead mount lists names'
grep -q 'not connected' "$work/said" || fail "a dead mount says: $(cat "$work/said")"
! "$TALLYFS" "$lower" "$mount" 2>"$work/said" || fail 'mounted over a dead mount'
grep -q 'has died' "$work/said" || fail "over a dead mount: $(cat "$work/said")"
umount "$mount"

# Nothing outside LOWER is reached: by symbolic links, "..", or names that a program makes up.
echo secret >"$work/outside"
mount_it
ln -s ../outside "$mount/relative"
ln -s "$work/outside" "$mount/absolute"
[ "$(readlink "$mount/relative")" = ../outside ] || fail 'a symbolic link is not kept as it is'
! ls "$lower/relative" >/dev/null 2>&1 || [ "$(cat "$mount/relative")" = "$(cat "$work/outside")" ] ||
    fail 'a link is followed by somebody else than the program'
[ "$(stat -c %i "$mount/..")" = "$(stat -c %i "$work")" ] || fail '.. of the root is not the parent of the mountpoint'
mkdir -p "$mount/a/b"
# A directory that is moved out of LOWER while a program sits in it.
(
    cd "$mount/a/b"
    mv "$lower/a/b" "$work/moved"
    ls .. >/dev/null 2>&1 || true
    ! cat ../../outside 2>/dev/null && ! cat ../outside 2>/dev/null
) || fail 'left LOWER by a directory that was moved out'
unmount_it

# The mountpoint inside LOWER is refused; LOWER inside the mountpoint works, as an overlay of what is above it.
mkdir -p "$lower/inside" "$mount/above/below"
! "$TALLYFS" "$lower" "$lower/inside" 2>"$work/said" || fail 'mounted inside the lower directory'
grep -q 'inside the lower directory' "$work/said" || fail "said: $(cat "$work/said")"
echo deep >"$mount/above/below/file"
"$TALLYFS" "$mount/above/below" "$mount" || fail 'a lower directory inside the mountpoint'
[ "$(cat "$mount/file")" = deep ] || fail 'a lower directory inside the mountpoint'
echo new >"$mount/new"
umount "$mount"
for ((i = 0; i < 400; i++)); do [ ! -e "$mount/above/below/new" ] || break; sleep 0.05; done
[ "$(cat "$mount/above/below/new")" = new ] || fail 'lost what was written below'
rm -r "$mount/above"

# A directory over itself, and a loop of bind mounts, end in an error, not in a hang.
if "$TALLYFS" "$lower" "$lower" 2>"$work/said"; then
    timeout 20 ls "$lower" >/dev/null || fail 'a directory over itself hangs'
    umount "$lower"
fi
mkdir "$lower/loop"
mount --bind "$work" "$lower/loop"
mount_it
timeout 20 ls "$mount/loop" >/dev/null 2>&1 || [ $? -ne 124 ] || fail 'a mount below LOWER hangs'
timeout 20 ls "$mount/loop/mount/loop" >/dev/null 2>&1 || [ $? -ne 124 ] || fail 'a loop of mounts hangs'
unmount_it
umount "$lower/loop"
