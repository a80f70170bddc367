# shellcheck shell=bash
# Sourced by the tests of tallyctl's work on lower files. $work is a directory of the test's own, removed at the end.
#
#   TALLYCTL  the program under test          TALLY_TEST_DIR  where to work, by default in /tmp
set -euo pipefail
export LC_ALL=C

: "${TALLYCTL:?}"
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
work=$(mktemp -d "${TALLY_TEST_DIR:-/tmp}/tallyctl-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# run STATUS COMMAND…: ends with that status; what it says is in out and err.
run() {
    local status=$1 got=0
    shift
    "$@" >out 2>err || got=$?
    [ "$got" -eq "$status" ] || fail "$*: status $got, not $status: $(cat out err)"
}

# says out|err TEXT: the command run last said so there.
says() {
    grep -qF -- "$2" "$1" || fail "not said on $1: \"$2\", but: $(cat "$1")"
}

# damage FILE OFFSET: changes 6 bytes there.
damage() {
    printf 'damage' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# everything FILE: what must stay, beside contents and how they are stored.
everything() {
    stat -c '%a %u %g %h %Y %X %y %x' "$1"
    getfattr --absolute-names -d -m - "$1" | tail -n +2
    getfacl -cE --absolute-names "$1" 2>/dev/null || true
}

# claim FILE COMMAND…: runs it while another process claims the file, as a mount does.
claim() {
    python3 - "$@" <<'PYTHON'
import fcntl, os, struct, subprocess, sys
fd = os.open(sys.argv[1], os.O_RDWR)
lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 2**63 - 1, 1, 0)
fcntl.fcntl(fd, 37, lock)  # F_OFD_SETLK
sys.exit(subprocess.call(sys.argv[2:]))
PYTHON
}
