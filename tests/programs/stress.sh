#!/usr/bin/env bash
# Usage: stress.sh OPTIONS [STRESSOR…]
# Each of stress-ng's file-system stressors, with its own verification, on a plain directory and then on the mount: what
# works on the one works on the other.
. "$(dirname "$0")/lib.sh"
need stress-ng
shift

# Those that work in other places than the directory they are given (mounts, /proc, I/O priorities, descriptors), and what
# the kernel lets no FUSE file system answer: FIEMAP.
elsewhere=' bind-mount binderfs dup eventfd ioprio procfs fiemap '
operations=$(amount 5 500)
seconds=$(amount 1 5)
declare -A extra=([hdd]='--hdd-bytes 2M' [fallocate]='--fallocate-bytes 2M' [sync-file]='--sync-file-bytes 2M'
    [iomix]='--iomix-bytes 2M' [seek]='--seek-size 2M' [copy-file]='--copy-file-bytes 128M'
    [readahead]='--readahead-bytes 2M' [revio]='--revio-bytes 2M' [chdir]='--chdir-dirs 64')

# stress DIRECTORY STRESSOR: its exit status; what went wrong is in $work/errors.
stress() {
    local status=0 more
    read -ra more <<<"${extra[$2]:-}"
    stress-ng --temp-path "$1" --"$2" 2 --"$2-ops" "$operations" --timeout "$seconds" --verify "${more[@]}" \
        >"$work/output" 2>&1 || status=$?
    grep -q 'dispatching hogs' "$work/output" || fail "stress-ng did not run: $(cat "$work/output")"
    grep -iE 'fail|error|unexpected|incorrect|skip|support|cannot|unable' "$work/output" |
        sed -E "s/\[[0-9]+\]//g; s#$1##g; s/stress-ng-$2[-0-9a-z]*//g; s/\b0x[0-9a-f]+|\b[0-9]+\b/N/g" |
        sort -u >"$work/errors"
    return "$status"
}

# Names and attributes are the same business with every codec and cache mode.
stressors=(aio aiol copy-file fallocate fpunch fsize hdd io iomix readahead revio seek sync-file)
if [ $# -gt 0 ]; then
    stressors=("$@")
elif [ "$long" ] || [ -z "$options" ]; then
    for stressor in $(stress-ng --class 'filesystem?' | sed 's/^[^:]*://'); do
        [[ " ${stressors[*]} $elsewhere" == *" $stressor "* ]] || stressors+=("$stressor")
    done
fi
mkdir "$work/plain"
mount_it "$options"
failed=()
for stressor in "${stressors[@]}"; do
    below=0 above=0
    stress "$work/plain" "$stressor" || below=$?
    mv "$work/errors" "$work/errors-below"
    stress "$mount" "$stressor" || above=$?
    if [ "$below" -ne "$above" ] || comm -13 "$work/errors-below" "$work/errors" | grep -q .; then
        echo "$stressor: status $below on the plain directory, $above on the mount"
        diff "$work/errors-below" "$work/errors" || true
        failed+=("$stressor")
    fi
done
remount
left=$(find "$mount" -mindepth 1 ! -path "$mount/.tallyfs")
[ -z "$left" ] || fail "left on the mount: $left"
unmount_it
[ "${#failed[@]}" -eq 0 ] || fail "${failed[*]}"
