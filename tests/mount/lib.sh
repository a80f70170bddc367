# Sourced by the mount tests. A test has a directory of its own in $work with $work/lower and $work/mount, which is
# removed and unmounted however the test ends.
#
#   TALLYFS  the program under test           TALLY_TEST_DIR   where to work, by default in /tmp
#   TALLY_TEST_LONG  set: the long forms
#
# A report of a sanitizer, by whatever program of the test, fails it.
set -Eeuo pipefail
trap 'echo "FAIL: $0, line $LINENO: $BASH_COMMAND" >&2' ERR
export LC_ALL=C

: "${TALLYFS:?}"
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
daemon=

# In a mount namespace of its own nobody else's programs look at the mount, and nothing stays mounted.
if [ "$(id -u)" -eq 0 ] && [ -z "${TALLY_NAMESPACE:-}" ] && unshare --mount true 2>/dev/null; then
    export TALLY_NAMESPACE=1
    # A slave: what others unmount meanwhile must not live on in here, and their daemons with it.
    exec unshare --mount --propagation slave "$0" "$@"
fi

skip() {
    echo "skipped: $*" >&2
    exit 77
}

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

[ -r /dev/fuse ] && [ -w /dev/fuse ] || skip "no access to /dev/fuse"
[ "$(id -u)" -eq 0 ] || command -v fusermount3 >/dev/null || skip "no fusermount3"

work=$(mktemp -d "${TALLY_TEST_DIR:-/tmp}/tallyfs-test.XXXXXX")
lower=$work/lower
mount=$work/mount
mkdir "$lower" "$mount"

# Into files, since a daemon in the background has no stderr.
for name in ASAN LSAN TSAN UBSAN; do
    declare -x "${name}_OPTIONS=log_path=$work/sanitizer:exitcode=66:print_stacktrace=1:$(printenv ${name}_OPTIONS || :)"
done

check_sanitizers() {
    ! cat "$work"/sanitizer.* >&2 2>/dev/null || fail "a sanitizer has something to say"
}

clean_up() {
    local status=$?
    set +e
    exec 1>&2 # where it failed, stdout may be a file on the mount
    if [ -n "$daemon" ]; then
        force_unmount "$mount"
        kill -KILL "$daemon" 2>/dev/null
        wait "$daemon" 2>/dev/null
    fi
    mountpoint -q "$mount" && force_unmount "$mount"
    (check_sanitizers) || status=1
    [ "$status" -eq 0 ] || [ ! -s "$work/stderr" ] || sed 's/^/daemon: /' "$work/stderr" >&2
    mountpoint -q "$lower" && umount "$lower"
    rm -rf --one-file-system "$work"
    exit "$status"
}
trap clean_up EXIT

force_unmount() {
    fusermount3 -u -z "$1" 2>/dev/null || umount -l "$1" 2>/dev/null
}

# Descriptors of the daemon other than the O_PATH ones (an odd eighth digit of the octal flags) that it caches.
count_descriptors() {
    cat "/proc/$daemon/fdinfo"/* 2>/dev/null |
        awk '$1 == "flags:" && substr($2, length($2) - 7, 1) % 2 == 0 { count++ } END { print count + 0 }'
}

# mount_it [OPTIONS]: mounts $lower on $mount in the foreground of a background job.
mount_it() {
    local tries=0
    "$TALLYFS" "$lower" "$mount" -f ${1:+-o "$1"} 2>"$work/stderr" &
    daemon=$!
    until mountpoint -q "$mount"; do
        kill -0 "$daemon" 2>/dev/null || fail "the daemon ended: $(cat "$work/stderr")"
        tries=$((tries + 1))
        [ "$tries" -lt 1200 ] || fail "not mounted after 60 seconds"
        sleep 0.05
    done
    stat "$mount" >/dev/null
    descriptors=$(count_descriptors)
}

# Unmounts and checks that the daemon kept no descriptor, said nothing (but lines like $may_say) and ended well.
unmount_it() {
    local now tries=0
    # RELEASE comes after close(2) has returned.
    until now=$(count_descriptors) && [ "$now" -eq "$descriptors" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 400 ] || fail "the daemon had $descriptors descriptors, now $now"
        sleep 0.05
    done
    if [ "$(id -u)" -eq 0 ]; then umount "$mount"; else fusermount3 -u "$mount"; fi
    wait_for_daemon
    ! grep -v -- "${may_say:-^\$}" "$work/stderr" || fail "the daemon said: $(cat "$work/stderr")"
}

wait_for_daemon() {
    local status=0
    wait "$daemon" || status=$?
    daemon=
    [ "$status" -eq 0 ] || fail "the daemon ended with status $status"
}

# lower_image FILE_SYSTEM SIZE: makes $lower the root of a new file system of that kind, in a file.
lower_image() {
    [ "$(id -u)" -eq 0 ] || skip "only root can mount a loop image"
    command -v "mkfs.$1" >/dev/null || skip "no mkfs.$1"
    truncate -s "$2" "$work/image"
    "mkfs.$1" -q "$work/image" >/dev/null 2>&1 || "mkfs.$1" "$work/image" >/dev/null
    mount -o loop "$work/image" "$lower" 2>/dev/null || skip "cannot mount $1 here"
}

# counter NAME: the value of user.tallyfs.NAME.
counter() {
    getfattr --absolute-names --only-values -n "user.tallyfs.$1" "$mount/.tallyfs"
}
