# shellcheck shell=bash
# What the scripts in this folder share. Sourced, never run; expects `set -euo pipefail`.

# mkfs, losetup and mount live in the sbin folders, which an ordinary user's PATH may lack.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH

program=${0##*/}

say() { printf '%s: %s\n' "$program" "$*" >&2; }
die() { say "$*"; exit 1; }
wrong_usage() { say "$* (try: $0 -h)"; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }

# Prints the comment block at the top of the calling script: its help text is kept there only.
print_help() { sed -n '2,/^$/ s/^#\( \|$\)//p' "$0"; }

# need_value OPTION REMAINING: REMAINING is $# with the option still counted.
need_value() { [ "$2" -ge 2 ] || wrong_usage "$1 needs a value"; }

# Runs one step with root's rights: plainly as root, else through sudo, for that step alone.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif have sudo; then
        sudo -- "$@"
    else
        say "this step needs root and there is no sudo: $*"
        return 1
    fi
}

# patiently COMMAND…: tries it again and again for some seconds, until it succeeds.
patiently() {
    local tries
    for ((tries = 0; tries < 20; tries++)); do
        ! "$@" || return 0
        sleep 0.3
    done
    return 1
}

# Prints those of the named packages that are not installed, one a line.
missing_packages() {
    local installed
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    printf '%s\n' "$@" | grep -vxF -f <(sed -n 's/^installed //p' <<<"$installed") || true
}

# Installs what is missing of the named packages; asks for root's rights only if something is.
need_packages() {
    local -a missing
    if ! have dpkg-query || ! have apt-get; then
        say "no apt-get here, so these must be there already (Debian's names): $*"
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if [ "$(id -u)" -ne 0 ] && ! have sudo; then
        say "missing, and to be installed by root: apt-get install ${missing[*]}"
        return 1
    fi
    say "installing ${missing[*]}"
    # The lists may be absent or old on a new machine. One dead repository among several is no
    # reason to stop: if it mattered, the installation below says so.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 update ||
        say "apt-get update failed in part"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 install "${missing[@]}" </dev/null
}

# run_logged LOG COMMAND…: what the command prints goes to LOG; if it fails, the end of it is shown.
run_logged() {
    local log=$1 from status=0
    shift
    from=$(($(wc -l 2>/dev/null <"$log" || echo 0) + 1))
    "$@" >>"$log" 2>&1 || status=$?
    [ "$status" -ne 0 ] || return 0
    say "failed with status $status: $*"
    tail -n "+$from" "$log" | tail -n 25 | sed 's/^/    /' >&2
    say "the whole log: $log"
    return "$status"
}

# Runs a program (no shell function) so that a signal to this script is acted on at once, not when
# the program has ended; on_exit then ends the program.
child=
run_child() {
    local status=0
    "$@" </dev/null &
    child=$!
    wait "$child" || status=$?
    child=
    return "$status"
}

# Ends a running child, kindly at first: it may have mounts of its own to undo.
stop_child() {
    local tries
    [ -n "$child" ] || return 0
    kill -TERM "$child" 2>/dev/null || true
    for ((tries = 0; tries < 150; tries++)); do
        kill -0 "$child" 2>/dev/null || break
        sleep 0.2
    done
    kill -KILL "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
    child=
}

# on_exit FUNCTION: runs it once, however the script ends; a second Ctrl-C does not cut it short.
on_exit() {
    # shellcheck disable=SC2064  # the function's name is to be put in now
    trap "trap '' INT TERM HUP; stop_child; $1" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
}

top=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

build_packages=(gcc libc6-dev cmake ninja-build pkg-config libfuse3-dev fuse3 liblz4-dev libzstd-dev
    zlib1g-dev libdeflate-dev libxxhash-dev libjansson-dev)
libfuse_packages=(dpkg-dev meson liburing-dev libnuma-dev)

# need_build_packages [PACKAGE…]: what a build needs and the named ones. A newer libfuse can be done
# without, so that what only its build needs may be missing.
need_build_packages() {
    need_packages "${build_packages[@]}" "${libfuse_packages[@]}" "$@" ||
        need_packages "${build_packages[@]}" "$@"
}

# Lets the builds that follow use a current libfuse, built once, where the distribution's is older.
use_current_libfuse() {
    if run_child "$top/contrib/libfuse-backport" "$top/build/libfuse"; then
        export PKG_CONFIG_PATH=$top/build/libfuse/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
    else
        say "using the distribution's libfuse $(pkg-config --modversion fuse3)"
    fi
}

# Lets tests use Prometheus' tools, without the service that installing Debian's package would start.
use_promtool() {
    local folder=$top/build/prometheus package
    ! have promtool || return 0
    if [ ! -x "$folder/usr/bin/promtool" ]; then
        say "fetching promtool"
        mkdir -p "$folder"
        (
            cd "$folder"
            apt-get -q download prometheus || { as_root apt-get -q update && apt-get -q download prometheus; }
            package=$(echo prometheus_*.deb)
            dpkg-deb -x "$package" .
            rm -f "$package"
        ) >"$folder.log" 2>&1 || say "no promtool: see $folder.log"
    fi
    PATH=$PATH:$folder/usr/bin
}

# configure_build FOLDER CMAKE-OPTION…; libfuse is looked for anew, since it may have changed.
configure_build() {
    local folder=$1
    shift
    run_child cmake -S "$top" -B "$folder" -G Ninja -U 'FUSE3*' -U '*pkg*FUSE3*' "$@"
}
