#!/usr/bin/env bash
# tallyctl check and cat on damaged files: what is found, what is repaired, what stays readable.
. "$(dirname "$0")/lib.sh"

# Trees, plain files, hard links, symbolic links.
mkdir -p tree/sub
seq 200000 >text
head -c 700000 /dev/urandom >noise
cp text tree/text
cp noise tree/sub/noise
"$TALLYCTL" convert tree >/dev/null
cp text tree/plain
ln tree/text tree/sub/same
ln -s ../../text tree/sub/link
ln -s /nowhere tree/dangling
mkfifo tree/fifo
: >tree/empty
run 0 "$TALLYCTL" check tree
says out '2 compressed files checked'
says out '0 damaged, 0 bytes lost, 0 repaired; 2 plain files left alone'
[ ! -s err ] || fail "a whole tree: $(cat err)"
run 0 "$TALLYCTL" check tree/text tree/sub
says out '2 compressed files checked'
cp -a tree whole

# One byte of a payload: its chunk is lost and nothing else.
setfattr -n user.kept -v yes tree/sub/noise
chmod 640 tree/sub/noise
damage tree/sub/noise 300000
touch -d '2021-03-04 05:06:07.089' tree/sub/noise
before=$(everything tree/sub/noise)
inode=$(stat -c %i tree/sub/noise)
run 3 "$TALLYCTL" check tree
range=$(sed -n 's/^tree.sub.noise: bytes \([0-9]*+[0-9]*\): payload checksum wrong; stored at .*/\1/p' out)
offset=${range%+*} length=${range#*+}
[ $((offset % 131072)) -eq 0 ] && [ "$length" -le 131072 ] || fail "one damaged byte: $(cat out)"
says out "1 damaged, $length bytes lost, 0 repaired"
[ "$(everything tree/sub/noise)" = "$before" ] || fail "check changed $(everything tree/sub/noise)"
run 3 "$TALLYCTL" check --repair tree
says out "tree/sub/noise: repaired; $length of 700000 bytes lost"
[ "$(everything tree/sub/noise)" = "$before" ] || fail "repair changed $before to $(everything tree/sub/noise)"
[ "$(stat -c %i tree/sub/noise)" -eq "$inode" ] || fail "repair made another inode"
cp -a tree/sub/noise repaired
run 3 "$TALLYCTL" check tree --repair
says out "tree/sub/noise: bytes $range: marked as lost by an earlier repair"
says out '0 repaired'
cmp repaired tree/sub/noise || fail "the second repair changed the file"
cmp tree/text whole/text || fail "repair changed a whole file"
cmp tree/plain whole/plain || fail "repair changed a plain file"

# What is before the damage goes out, then a message; both before and after the repair.
run 1 "$TALLYCTL" cat tree/sub/noise
says err "tree/sub/noise: at byte $offset: Input/output error"
head -c "$offset" noise | cmp - out || fail "cat of a damaged file"

# Every kind of place. No byte that is not reported may differ.
cp whole/sub/noise stored
size=$(stat -c %s stored)
last=$((size - 32))
for place in 0 20 70 131200 131240 263000 $((size - 400)) $((last - 40)) $((last + 3)) $((last + 20)); do
    cp stored damaged
    damage damaged "$place"
    run 3 "$TALLYCTL" check damaged
    sed -n 's/^damaged: bytes \([0-9]*\)+\([0-9]*\): .*/\1 \2/p' out >ranges
    run 3 "$TALLYCTL" check --repair damaged
    python3 - noise ranges "$TALLYCTL" damaged <<'PYTHON' || fail "damage at $place"
import subprocess, sys
whole = open(sys.argv[1], "rb").read()
lost = [tuple(map(int, line.split())) for line in open(sys.argv[2])]
assert len(lost) <= 1, lost
# Up to the lost range by cat, and nothing wrong in it; without one, all.
got = subprocess.run([sys.argv[3], "cat", sys.argv[4]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
end = lost[0][0] if lost else len(whole)
assert got.stdout == whole[:end], (len(got.stdout), end)
assert got.returncode == (1 if lost else 0)
PYTHON
    run "$([ -s ranges ] && echo 3 || echo 0)" "$TALLYCTL" check damaged
done

# The end cut off, as by a crash: no damage where only an index went; what is torn is cut.
cp stored cut
truncate -s "$last" cut
run 0 "$TALLYCTL" check cut
"$TALLYCTL" cat cut | cmp - noise || fail "cat without a trailer"
truncate -s 400000 cut
run 0 "$TALLYCTL" check cut
says out 'cut: '
says out ' bytes at the end of the stored file were left by a crash'
run 0 "$TALLYCTL" check cut --repair
says out '; cut off'
run 0 "$TALLYCTL" check cut
! grep -q 'left by a crash' out || fail "still torn after a repair"
# Within a frame, at a size that no container has, a mount would show the stored bytes themselves.
cp stored cut
truncate -s 400001 cut
run 3 "$TALLYCTL" check cut
says out 'cut within a frame'
run 3 "$TALLYCTL" check cut --repair
run 0 "$TALLYCTL" check cut

# Noise over the beginning, where a file says what it is.
cp stored beginning
dd if=/dev/urandom of=beginning bs=4096 count=1 conv=notrunc status=none
run 3 "$TALLYCTL" check beginning
says out 'beginning damaged'
run 3 "$TALLYCTL" check beginning --repair
run 3 "$TALLYCTL" check beginning
says out ': marked as lost by an earlier repair'
[ "$(grep -c ^beginning out)" -eq 1 ] || fail "after the repair: $(cat out)"

# Nothing left at all: nothing is touched.
cp stored all
printf '\xf7TL' >all.begin
dd if=/dev/zero of=all bs=1 count=0 seek="$size" status=none
head -c "$size" /dev/urandom >all
dd if=all.begin of=all conv=notrunc status=none
cp all all.before
run 3 "$TALLYCTL" check --repair all
says out 'all: damaged; no part of it can be read'
cmp all all.before || fail "a hopeless file was changed"

# In use.
run 1 claim stored "$TALLYCTL" check stored
says err 'stored: in use by a mount'
run 1 claim stored "$TALLYCTL" check --repair stored
says err 'stored: in use by a mount'
run 1 claim stored "$TALLYCTL" cat stored
says err 'stored: in use by a mount'

# A file that only looks like a container, and is marked so.
cp stored marked
damage marked 300000
setfattr -n user.tallyfs.plain -v 1 marked
run 0 "$TALLYCTL" check --repair marked
says out '0 compressed files checked'
"$TALLYCTL" cat marked | cmp - marked || fail "cat of a marked file"

# Interrupted, by a signal that is there from the beginning.
mkdir many
for i in $(seq 50); do cp stored "many/$i"; done
interrupted() {
    python3 - "$@" <<'PYTHON'
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.kill(os.getpid(), signal.SIGINT)
os.execv(sys.argv[1], sys.argv[1:])
PYTHON
}
run 1 interrupted "$TALLYCTL" check many
says err 'interrupted after'

# What is wrong.
run 1 "$TALLYCTL" check none
says err 'none: No such file or directory'
run 1 "$TALLYCTL" check tree/fifo
says err 'not a regular file or a directory'
run 2 "$TALLYCTL" check
says err 'usage: tallyctl check'
run 2 "$TALLYCTL" check --repiar tree
if [ "$(id -u)" -ne 0 ]; then
    chmod 000 tree/sub
    run 3 "$TALLYCTL" check tree stored
    says err 'tree/sub: Permission denied'
    chmod 755 tree/sub
fi
"$TALLYCTL" check -h | grep -q -- '--repair' || fail "check -h"
