#!/usr/bin/env bash
# tallyctl convert: everything but the way of storing stays.
. "$(dirname "$0")/lib.sh"

# stored FILE: codec and chunks.
stored() {
    "$TALLYCTL" file "$1" | awk 'NR == 2 { print $4, $5 }'
}

seq 150000 >text
head -c 300000 /dev/urandom >noise
truncate -s 5M sparse
printf 'in the middle' | dd of=sparse bs=1 seek=2000000 conv=notrunc status=none
mkdir -p tree/sub
cp text tree/text
cp noise tree/sub/noise
cp --sparse=always sparse tree/sub/sparse
: >tree/empty
printf x >tree/tiny
chmod 4751 tree/text
[ "$(id -u)" -ne 0 ] || chown 1234:5678 tree/text
[ "$(id -u)" -ne 0 ] || chmod 4751 tree/text
setfattr -n user.kept -v yes tree/text
setfattr -n user.binary -v 0x0001ff00 tree/text
! command -v setfacl >/dev/null || setfacl -m u:4321:rw tree/text 2>/dev/null || true
for file in tree/text tree/sub/noise tree/sub/sparse; do touch -d '2022-02-03 04:05:06.789' "$file"; done

# There and back by way of all codecs.
for to in zstd:3 lz4 gzip:9 none lz4hc:9 zstd none; do
    for file in tree/text tree/sub/noise tree/sub/sparse tree/tiny; do everything "$file"; done >before
    run 0 "$TALLYCTL" convert --to "$to" --chunk 64K tree
    says out ' files converted, from '
    for file in tree/text tree/sub/noise tree/sub/sparse tree/tiny; do everything "$file"; done >after
    cmp before after || fail "--to $to: $(diff before after)"
    "$TALLYCTL" cat tree/text | cmp - text || fail "--to $to: text"
    "$TALLYCTL" cat tree/sub/noise | cmp - noise || fail "--to $to: noise"
    "$TALLYCTL" cat tree/sub/sparse | cmp - sparse || fail "--to $to: sparse"
    [ "$("$TALLYCTL" cat tree/tiny)" = x ] || fail "--to $to: tiny"
    [ ! -s tree/empty ] || fail "--to $to: empty"
    case $to in
    none) expected='none 0' ;;
    lz4*) expected='lz4 15' ;;
    *) expected="${to%:*} 15" ;;
    esac
    [ "$(stored tree/text)" = "$expected" ] || fail "--to $to: stored as $(stored tree/text)"
    run 0 "$TALLYCTL" check tree
    [ "$(find tree | wc -l)" -eq 7 ] || fail "--to $to: left something: $(find tree)"
done
cmp tree/text text || fail "text is not plain again"
[ "$(stat -c %b tree/sub/sparse)" -lt 1000 ] || fail "no hole is left in $(stat -c %b tree/sub/sparse) blocks"

# What is so already is left.
run 0 "$TALLYCTL" convert tree/text
inode=$(stat -c %i tree/text)
run 0 "$TALLYCTL" convert tree/text
says out '0 files converted'
says out '1 left, being so already'
[ "$(stat -c %i tree/text)" -eq "$inode" ] || fail "converted though it was so already"
run 0 "$TALLYCTL" convert tree/text --chunk=16K
[ "$(stored tree/text | cut -d ' ' -f 2)" -gt 16 ] || fail "--chunk 16K: $(stored tree/text)"

# A container as contents comes back as it was, and is not taken for one.
cp tree/text container
cp container inner
run 0 "$TALLYCTL" convert --to none tree/text
setfattr -n user.tallyfs.plain -v 1 inner
run 0 "$TALLYCTL" convert --to lz4 inner
! getfattr -n user.tallyfs.plain inner >/dev/null 2>&1 || fail "a container is marked as plain"
"$TALLYCTL" cat inner | cmp - container || fail "a container in a container"
run 0 "$TALLYCTL" convert --to none inner
cmp inner container || fail "a container in a container is changed"
getfattr -n user.tallyfs.plain inner >/dev/null 2>&1 || fail "no mark"

# Not at the cost of anything.
cp text linked
ln linked other
run 1 "$TALLYCTL" convert linked
says err 'linked: has 2 names, which would become different files; left as it is'
cmp linked text && [ linked -ef other ] || fail "linked was changed"
cp noise damaged
run 0 "$TALLYCTL" convert damaged
damage damaged 200000
cp damaged damaged.before
run 1 "$TALLYCTL" convert --to none damaged
says err 'damaged: damaged, or cannot be read; left as it is'
cmp damaged damaged.before || fail "a damaged file was changed"
cp text open
run 1 claim open "$TALLYCTL" convert open
says err 'open: in use by a mount or another program; left as it is'
cmp open text || fail "a claimed file was changed"
exec 5<open
inode=$(stat -c %i open)
got=0
"$TALLYCTL" convert open >out 2>err || got=$?
exec 5<&-
# Some file systems cannot tell that a file is open.
[ "$got" -eq 0 ] || { says err 'open: in use by'; [ "$(stat -c %i open)" -eq "$inode" ] || fail "open was changed"; }

# Nothing of it stays when it is killed.
mkdir killed
for i in $(seq 8); do cp text "killed/$i"; done
"$TALLYCTL" convert killed >out 2>err &
kill -KILL $! 2>/dev/null || true
wait $! 2>/dev/null || true
for i in $(seq 8); do "$TALLYCTL" cat "killed/$i" | cmp - text || fail "killed/$i"; done
[ "$(find killed -type f -name '[0-9]' | wc -l)" -eq 8 ] || fail "killed: $(find killed)"

run 2 "$TALLYCTL" convert
run 2 "$TALLYCTL" convert --to tea text
says err '--to tea: not a valid value'
run 2 "$TALLYCTL" convert --to zstd:99 text
run 2 "$TALLYCTL" convert --chunk 100K text
run 1 "$TALLYCTL" convert none
says err 'none: No such file or directory'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && [ -x /usr/bin/env ]; then
    cp text another
    chmod 755 .
    cp "$TALLYCTL" ctl
    run 1 setpriv --reuid 65534 --regid 65534 --clear-groups ./ctl convert another
    says err 'another: Permission denied; left as it is'
fi
