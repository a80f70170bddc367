# shellcheck shell=bash
# shellcheck disable=SC2154  # dir, at, type and lock are lab's
# A guest for file systems that this kernel lacks: Debian's user-mode-linux, a Linux kernel as a program. It sees
# the host's files read only, and the lab's images as its disks; lab-guest-init is its first process. It lives only
# while something is measured in it. Sourced by lab.

guest_memory=1G

# guest_why_not: prints what is needed for a guest where there can be none.
guest_why_not() {
    case $(uname -m) in
    x86_64 | i686) ;;
    *) echo "needs a kernel with ${type^^}; a guest that has it, user-mode-linux, is for x86 only" ;;
    esac
    case $dir in
    *[[:space:]]*) echo "needs a guest, whose command line takes no blanks as there are in $dir" ;;
    esac
}

# kernel_has TYPE: this kernel can mount it, as it is or after loading a module.
kernel_has() { grep -qw "$1" /proc/filesystems || as_root modprobe -q "$1" 2>/dev/null; }

# In process namespaces of its own, so that nothing of it outlives guest_pid, which dies with this script.
guest_start() {
    local -a own=(unshare --pid --fork --kill-child)
    [ "$(id -u)" -eq 0 ] || own=(unshare --user --map-root-user --pid --fork --kill-child)
    # The console goes through here: it is kept whole, and what tallybench says is shown.
    setpriv --pdeathsig KILL setsid "${own[@]}" linux.uml "mem=$guest_memory" root=/dev/root rootfstype=hostfs \
        rootflags=/ ro quiet con0=null,fd:1 con=null uml_dir="$dir/guest/" umid=tallyfs \
        "init=$top/contrib/lab-guest-init" "tally_guest=$dir/guest" "$@" </dev/null {lock}>&- \
        2>>"$dir/guest/log" > >(exec {lock}>&-; tee -a "$dir/guest/log" | sed -un 's/\r$//; /^guest: /p' >&2) &
    guest_pid=$!
}

guest_pid=
guest_end() {
    [ -n "$guest_pid" ] || return 0
    kill -KILL "$guest_pid" 2>/dev/null || true
    wait "$guest_pid" 2>/dev/null || true
    guest_pid=
}

# guest_run TALLYBENCH DISKS ARGUMENT…: DISKS names an array of words NAME TYPE IMAGE MOUNTPOINT. The result is then
# in guest/result.json, as far as it got.
guest_run() {
    local tallybench=$1 disk name type image mountpoint letter
    local -n of_job=$2
    local -a arguments disks=() kernel=()
    local letters=abcdefghijklmnop
    shift 2
    arguments=("$@")
    for disk in "${of_job[@]}"; do
        read -r name type image mountpoint <<<"$disk"
        letter=${letters:${#disks[@]}:1}
        disks+=("$name $type /dev/ubd$letter $mountpoint")
        kernel+=("ubd$letter=$image")
    done
    declare -p tallybench disks arguments >"$dir/guest/job"
    guest_start "${kernel[@]}"
    wait "$guest_pid" || true
    guest_pid=
    [ "$(cat "$dir/guest/status" 2>/dev/null)" = 0 ] && return 0
    [ -e "$dir/guest/status" ] || { say "the guest did not get to its end; the last of what it said:"
        tail -n 15 "$dir/guest/log" >&2; }
    return 1
}

# guest_prepare SIZE: makes the folder that the guest may write to, and the disk for corpora.
guest_prepare() {
    { have linux.uml && have insmod && have jq; } || need_packages user-mode-linux kmod jq >&2 || return 1
    rm -rf "$dir/guest"
    mkdir -p "$dir/guest/work" && truncate -s "$1" "$dir/guest/work.image" && mkfs.ext4 -q -F "$dir/guest/work.image"
}
