# shellcheck shell=bash
# What these tests share. Sourced; gives each a directory of its own, in $scratch, and its parts in it.

set -uo pipefail
: "${TALLYBENCH:?the program to test}" "${CHECK_REPORT:?the checker of reports}"

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/tallybench-test.XXXXXX")
target=$scratch/target
work=$scratch/work
mkdir "$target" "$work"
mounted=()
failures=0

end_test() {
    local point
    for point in ${mounted[@]+"${mounted[@]}"}; do umount "$point"; done
    rm -rf --one-file-system "$scratch"
}
trap end_test EXIT

fail() {
    echo "FAIL $*"
    failures=$((failures + 1))
}

# check WHAT COMMAND…: the command must succeed.
check() {
    local what=$1
    shift
    if "$@" >"$scratch/said" 2>&1; then
        echo "ok   $what"
    else
        fail "$what: $*"
        sed 's/^/     /' "$scratch/said"
    fi
}

# expect STATUS PATTERN ARGUMENT…: tallybench must end with that status and say the pattern on stderr.
expect() {
    local status=$1 pattern=$2 got=0
    shift 2
    "$TALLYBENCH" "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
    if [ "$got" -ne "$status" ]; then
        fail "exit status $got, not $status: tallybench $*"
        sed 's/^/     /' "$scratch/err"
    elif [ -n "$pattern" ] && ! grep -q -e "$pattern" "$scratch/err"; then
        fail "nothing about \"$pattern\": tallybench $*"
        sed 's/^/     /' "$scratch/err"
    else
        echo "ok   status $status: tallybench $*"
    fi
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# check_figures RESULT: it is as the schema says, and all figures of its reports follow from its raw values.
check_figures() {
    local status=0
    python3 "$here/validate.py" "$here/../../bench/schema/result.schema.json" "$1" >"$scratch/said" 2>&1 || status=$?
    case $status in
    0) echo "ok   as the schema says" ;;
    77) echo "skip: python3-jsonschema is not installed, the schema is not looked at" ;;
    *) fail "not as the schema says"; sed 's/^/     /' "$scratch/said" ;;
    esac
    "$TALLYBENCH" report --format json -o "$scratch/figures.json" "$1" || fail "no report"
    "$TALLYBENCH" report --format csv -o "$scratch/figures.csv" "$1" || fail "no CSV"
    check "all figures follow from the raw values" \
        python3 "$here/recompute.py" "$1" "$scratch/figures.json" "$scratch/figures.csv"
}

is_empty() { [ -z "$(ls -A "$1")" ]; }
nothing_left() { is_empty "$target" && is_empty "$work" && ! grep -q "$target/tallybench" /proc/self/mounts; }

# small_disk DIR SIZE: a file system of that size on DIR; skips the test where that is not allowed.
small_disk() {
    if ! mount -t tmpfs -o "size=$2" tallybench-test "$1" 2>/dev/null; then
        echo "skip: mounting a tmpfs needs root"
        exit 77
    fi
    mounted+=("$1")
}

need_fuse() {
    if [ ! -w /dev/fuse ]; then
        echo "skip: no access to /dev/fuse"
        exit 77
    fi
}

finish() {
    [ "$failures" -eq 0 ] || exit 1
    exit 0
}
