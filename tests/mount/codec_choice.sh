#!/usr/bin/env bash
# A directory's or file's own codec, user.tallyfs.compress: set, handed on, kept, removed, on mounts with and without
# compression of their own.
. "$(dirname "$0")/lib.sh"

attribute=user.tallyfs.compress
codec() { getfattr --absolute-names --only-values -n user.tallyfs.file.codec "$1"; }
own() { getfattr --absolute-names --only-values -n $attribute "$1"; }
expect() { [ "$2" = "$3" ] || fail "$1: expected \"$3\", got \"$2\""; }
text() { yes 'a line that compresses well' | head -c 300000 || true; }

for options in compress=none compress=lz4; do
    default=${options#*=}
    mount_it "$options"
    mkdir "$mount/chosen"
    setfattr -n $attribute -v zstd:5 "$mount/chosen"
    expect 'the choice' "$(own "$mount/chosen")" zstd:5
    expect 'the listing' "$(getfattr --absolute-names -d "$mount/chosen" | grep -c "^$attribute=\"zstd:5\"")" 1
    mkdir -p "$mount/chosen/a/b"
    text >"$mount/chosen/file"
    text >"$mount/chosen/a/b/deep"
    text >"$mount/outside"
    expect 'a file' "$(codec "$mount/chosen/file")" zstd
    expect 'a file far below' "$(codec "$mount/chosen/a/b/deep")" zstd
    expect 'a file outside' "$(codec "$mount/outside")" "$default"

    # "none" below a codec, and a codec for one file.
    mkdir "$mount/chosen/plain"
    setfattr -n $attribute -v none "$mount/chosen/plain"
    text >"$mount/chosen/plain/file"
    expect 'a file that is to stay plain' "$(codec "$mount/chosen/plain/file")" none
    cmp <(text) "$lower/chosen/plain/file" || fail 'a plain file differs below'
    : >"$mount/one"
    setfattr -n $attribute -v gzip:9 "$mount/one"
    text >"$mount/one"
    expect 'a file with its own codec' "$(codec "$mount/one")" gzip

    # What is there keeps its form until it is emptied.
    setfattr -n $attribute -v zstd:5 "$mount/chosen/plain/file"
    echo more >>"$mount/chosen/plain/file"
    expect 'a plain file that got a codec' "$(codec "$mount/chosen/plain/file")" none
    text >"$mount/chosen/plain/file"
    expect 'the same, written anew' "$(codec "$mount/chosen/plain/file")" zstd

    # Renaming takes a file's choice along; it is the file's.
    mv "$mount/chosen/file" "$mount/moved"
    expect 'a file that was moved' "$(own "$mount/moved")" zstd:5

    for bad in '' zip lz4:4 zstd:99 'zstd:3 '; do
        ! setfattr -n $attribute -v "$bad" "$mount/chosen" 2>/dev/null || fail "\"$bad\" was accepted"
    done
    expect 'after bad values' "$(own "$mount/chosen")" zstd:5
    ! setfattr -n $attribute -v lz4 "$mount/.tallyfs" 2>/dev/null || fail "the mount's own codec could be set"
    expect "the mount's own" "$(own "$mount/.tallyfs")" "$default"
    expect "the root's" "$(own "$mount")" "$default"

    unmount_it
    mount_it "$options"
    expect 'after mounting again' "$(own "$mount/chosen/a/b")" zstd:5
    text >"$mount/chosen/a/later"
    expect 'a file made then' "$(codec "$mount/chosen/a/later")" zstd
    for file in chosen/a/b/deep chosen/plain/file chosen/a/later outside one moved; do
        cmp <(text) "$mount/$file" || fail "$file differs"
    done
    setfattr -x $attribute "$mount/chosen"
    ! own "$mount/chosen" 2>/dev/null || fail 'a choice that was removed is still there'
    text >"$mount/chosen/last"
    expect 'a file made after removing' "$(codec "$mount/chosen/last")" "$default"
    rm -r "$mount"/*
    unmount_it
done

# The root's choice holds for a whole tree, also where the mount says otherwise.
mount_it compress=lz4
setfattr -n $attribute -v gzip "$mount"
text >"$mount/file"
expect 'a file in a root with a codec' "$(codec "$mount/file")" gzip
unmount_it
