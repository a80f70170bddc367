#!/usr/bin/env bash
# Each wrong command line gives one message that names what is wrong, its exit status, and leaves nothing mounted.
. "$(dirname "$0")/lib.sh"

echo text >"$work/file"
cases=0

# refuses STATUS PATTERN ARGUMENT…
refuses() {
    local expected=$1 pattern=$2 status=0 said
    shift 2
    said=$(timeout 20 "$TALLYFS" "$@" 2>&1 >"$work/stdout") || status=$?
    [ "$status" -eq "$expected" ] || fail "tallyfs $*: status $status, not $expected: $said"
    grep -q -- "$pattern" <<<"$said" || fail "tallyfs $*: said \"$said\", not \"$pattern\""
    [ "$(grep -c . <<<"$said")" -eq 1 ] || fail "tallyfs $*: more than one line: $said"
    case $said in tallyfs:*) ;; *) fail "tallyfs $*: \"$said\" does not begin with \"tallyfs:\"" ;; esac
    [ ! -s "$work/stdout" ] || fail "tallyfs $*: stdout is not empty"
    ! mountpoint -q "$mount" || fail "tallyfs $*: mounted"
    cases=$((cases + 1))
}

refuses 2 'LOWER is missing'
refuses 2 'MOUNTPOINT is missing' "$lower"
refuses 2 'one operand too many' "$lower" "$mount" third
refuses 2 -- '--frobnicate' "$lower" "$mount" --frobnicate
refuses 2 'list of options is missing' "$lower" "$mount" -o
refuses 2 'compress=lz5' "$lower" "$mount" -o compress=lz5
refuses 2 'compress=zstd:99.*out of range' "$lower" "$mount" -o compress=zstd:99
refuses 2 'compress=gzip:0.*out of range' "$lower" "$mount" -o compress=gzip:0
refuses 2 'compress: a value is missing' "$lower" "$mount" -o compress
refuses 2 'chunk=100K' "$lower" "$mount" -o chunk=100K
refuses 2 'chunk=2M.*out of range' "$lower" "$mount" -o chunk=2M
refuses 2 'cache=maybe' "$lower" "$mount" -o cache=maybe
refuses 2 'threads=0.*out of range' "$lower" "$mount" -o threads=0
refuses 2 'attr_timeout=-1' "$lower" "$mount" -o attr_timeout=-1
refuses 2 'stats=perhaps' "$lower" "$mount" -o stats=perhaps
refuses 2 'slow=x' "$lower" "$mount" -o slow=x
refuses 2 'control=a/b' "$lower" "$mount" -o control=a/b
refuses 2 'io_uring=1: takes no value' "$lower" "$mount" -o io_uring=1
refuses 2 'unknown option' "$lower" "$mount" -o no_such_option
refuses 1 'nowhere: lower directory: No such file' "$work/nowhere" "$mount"
refuses 1 'file: lower directory: not a directory' "$work/file" "$mount"
refuses 1 'nowhere: mountpoint: No such file' "$lower" "$work/nowhere"
refuses 1 'file: mountpoint: not a directory' "$lower" "$work/file"
mkdir "$lower/inside"
refuses 1 'inside the lower directory' "$lower" "$lower/inside"

mount_it
status=0
said=$("$TALLYFS" "$lower" "$mount" 2>&1) || status=$?
[ "$status" -eq 1 ] || fail "a busy mountpoint: status $status"
grep -q 'already mounted' <<<"$said" || fail "a busy mountpoint: $said"
unmount_it

# -h and -V speak on stdout and succeed, whatever else is missing.
"$TALLYFS" -h >"$work/stdout" || fail "-h"
grep -q 'compress=CODEC' "$work/stdout" || fail "-h does not show compress="
"$TALLYFS" -V | grep -q '^tallyfs [0-9]' || fail "-V"
echo "$((cases + 1)) bad command lines"
