#!/usr/bin/env bash
# tallyctl compact: same contents, same file, less space.
. "$(dirname "$0")/lib.sh"
golden=$here/../golden

mkdir tree
for codec in raw lz4 zstd gzip; do cp "$golden/$codec.container" tree/; done
seq 1000 >tree/plain
cp -a tree whole
for file in tree/*; do
    touch -d '2020-02-02 02:02:02.5' "$file"
    setfattr -n user.kept -v yes "$file"
    contents=$("$TALLYCTL" cat "$file" | sha256sum)
    before=$(everything "$file"; stat -c %i "$file")
    run 0 "$TALLYCTL" compact "$file"
    [ "$(everything "$file"; stat -c %i "$file")" = "$before" ] || fail "compact changed $before to $(everything "$file")"
    [ "$("$TALLYCTL" cat "$file" | sha256sum)" = "$contents" ] || fail "$file: other contents"
    run 0 "$TALLYCTL" check "$file"
done
cmp tree/plain whole/plain || fail "a plain file was changed"
[ "$(stat -c %s tree/raw.container)" -lt "$(stat -c %s whole/raw.container)" ] || fail "nothing was given back"
run 0 "$TALLYCTL" compact tree/raw.container tree/plain
says out 'bytes before     bytes after  file'
awk '$3 == "tree/raw.container" && $1 == $2 { found = 1 } END { exit !found }' out || fail "compact twice: $(cat out)"

run 1 claim tree/lz4.container "$TALLYCTL" compact tree/lz4.container
says err 'tree/lz4.container: in use by a mount'
damage whole/raw.container 49450 # in a frame that has to be moved
run 1 "$TALLYCTL" compact whole/raw.container
says err 'whole/raw.container: damaged'
run 2 "$TALLYCTL" compact
