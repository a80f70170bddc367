#!/usr/bin/env bash
# Usage: TALLYFS=PROGRAM scale.sh [--check] PHASES CODEC,… FILES…
# What one operation takes, in microseconds, as the number of files in a mount grows, beside the plain lower directory in
# the same run; the daemon may have 1,024 descriptors. The processor time that the daemon used for each file over all
# phases, which other load on the machine changes less. Then its memory in MiB: at the start, at the peak when it knows all
# the files (resident and proportional), and after the kernel's caches were dropped; the bytes for each file known; and the
# most descriptors that it had. PHASES is the program scale_phases. Prints a Markdown table; root only.
#     --check   over a tmpfs and without the plain directory; fails when memory or descriptors are beyond the bounds below,
#               whatever the times are
# TALLY_TEST_DIR is where the files lie. For the full table: scale.sh PHASES none,lz4 1000 10000 100000 1000000
. "$(dirname "$(readlink -f "$0")")/../../tests/mount/lib.sh"
[ "$(id -u)" -eq 0 ] && [ -w /proc/sys/vm/drop_caches ] || skip "only root can drop the kernel's caches"

file_bytes_max=640
kept_kib_max=8192
check=
if [ "$1" = --check ]; then
    check=1
    shift
fi
phases=$1
IFS=, read -ra codecs <<<"$2"
shift 2
ulimit -n 1024
cd "$work"
[ -z "$check" ] || mount -t tmpfs -o mode=755 scale "$lower" || skip "no tmpfs"

# value FILE KIND NAME [COLUMN]
value() { awk -v kind="$2" -v name="$3" -v column="${4:-3}" '$1 == kind && $2 == name { print $column }' "$1"; }
mib() { awk -v kib="$1" 'BEGIN { printf "%.1f", kib / 1024 }'; }

check_bounds() {
    local files=$1 per_file=$2 descriptors=$3 start=$4 dropped=$5
    [ "$descriptors" -le 1024 ] || fail "$descriptors descriptors"
    [ "$files" -lt 10000 ] || [ "$per_file" -le "$file_bytes_max" ] || fail "$per_file bytes for each file"
    [ "$dropped" -le $((start + kept_kib_max)) ] || fail "$dropped KiB after dropping caches, $start KiB at the start"
}

printf '| files | codec |'
printf ' %s |' create 'stat, cold' 'stat, warm' 'open, read, close' readdir unlink 'daemon CPU' start 'peak RSS' 'peak PSS' dropped 'bytes/file' descriptors
printf '\n|---:|---|---|---|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|\n'
for files; do
    : >"$work/plain"
    if [ -z "$check" ]; then
        mkdir "$lower/plain"
        "$phases" "$lower/plain" "$files" >"$work/plain" || fail "on the plain directory"
        rm -r "$lower/plain"
    fi
    for codec in "${codecs[@]}"; do
        mkdir "$lower/mounted"
        mount_it "compress=$codec"
        "$phases" "$mount/mounted" "$files" "$daemon" >"$work/mounted" || fail "on the mount"
        unmount_it
        rm -r "$lower/mounted"
        printf '| %s | %s |' "$files" "$codec"
        for phase in create cold warm read readdir unlink; do
            awk -v plain="$(value plain time "$phase")" -v mounted="$(value mounted time "$phase")" 'BEGIN {
                printf " %.1f", mounted / 1000
                if (plain) printf " (%.1f: ×%.1f)", plain / 1000, mounted / plain
                printf " |" }'
        done
        awk -v cpu="$(value mounted time daemon-cpu)" 'BEGIN { printf " %.0f |", cpu / 1000 }'
        start=$(value mounted memory start) peak=$(value mounted memory peak) dropped=$(value mounted memory dropped)
        per_file=$(((peak - start) * 1024 / files)) descriptors=$(value mounted descriptors most)
        printf ' %s |' "$(mib "$start")" "$(mib "$peak")" "$(mib "$(value mounted memory peak 4)")" "$(mib "$dropped")" \
            "$per_file" "$descriptors"
        echo
        [ -z "$check" ] || check_bounds "$files" "$per_file" "$descriptors" "$start" "$dropped"
    done
done
