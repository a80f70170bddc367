# Sourced by the tests that let real programs work on a mount. Each takes the mount's options ("-" for none).
#
#   TALLY_TEST_LONG=1   more of everything
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../mount/lib.sh"

options=$1
[ "$options" != - ] || options=
long=${TALLY_TEST_LONG:-}
cd "$work"

# need PROGRAM…
need() {
    local program
    for program; do
        command -v "$program" >/dev/null || skip "no $program"
    done
}

# amount SHORT LONG: the one that applies.
amount() {
    if [ "$long" ]; then echo "$2"; else echo "$1"; fi
}

# What was cached must not answer for what is stored.
remount() {
    unmount_it
    mount_it "$options"
}

# quietly COMMAND…: what it prints is shown only when it fails.
quietly() {
    "$@" >"$work/output" 2>&1 || fail "$*: $(tail -n 40 "$work/output")"
}

# noise BYTES SEED: bytes that compress by about a third, always the same for a seed.
noise() {
    awk -v bytes="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        for (n = 0; n < bytes; n += length(line) + 1) {
            line = sprintf("%d %08x %s %d", n, rand() * 4294967296, substr("abcdefghijklmnopqrstuvwxyz", 1 + int(rand() * 20)), rand() * 1000000000)
            print line
        }
    }'
}
