#!/usr/bin/env bash
# Usage: TALLYFS=PROGRAM mounted.sh STORE_SPEED TALLYBENCH [SIZE [ROUNDS]]
# What compression takes through a mount, beside Btrfs's own with the same codec, in one run. Both lower file systems are
# Btrfs in files under TALLY_TEST_DIR, one of them compressing. For a mailbox and a trigger corpus of SIZE (128M):
#     write       dd with an fsync at the end, in MiB/s
#     of limit    of 1 / (1/codec + 1/plain): the codec on all processors, as store_speed measures it in memory, and then
#                 the plain file through the mount, since both share the processors
#     read        dd after the caches were dropped
#     of btrfs    of the same, by Btrfs's own compress-force
# Then small operations, through the mount, compressed and plain: appending 100 bytes and fsync, random reads of 4 KiB, and
# ls -lR of 10,000 files after a new mount. Figures are medians of ROUNDS (3) rounds, ratios those of each round's own.
# Prints Markdown tables; root only, and fio is needed.
. "$(dirname "$(readlink -f "$0")")/../../tests/mount/lib.sh"
[ "$(id -u)" -eq 0 ] && [ -w /proc/sys/vm/drop_caches ] || skip "only root can mount Btrfs and drop the kernel's caches"
command -v fio >/dev/null && command -v mkfs.btrfs >/dev/null || skip "fio and mkfs.btrfs are needed"

store_speed=$1
tallybench=$2
size=${3:-128M}
rounds=${4:-3}
codecs=(lz4 zstd:3 gzip:6)
own=$work/own # Btrfs that compresses
mkdir "$own"

clean_up_own() {
    mountpoint -q "$own" && umount "$own"
    clean_up
}
trap clean_up_own EXIT

# What Btrfs calls a codec; nothing for lz4, which it has not.
btrfs_codec() {
    case $1 in
    none) echo no ;;
    gzip:*) echo "zlib:${1#*:}" ;;
    zstd:*) echo "$1" ;;
    esac
}

drop_caches() {
    sync
    echo 3 >/proc/sys/vm/drop_caches
}

# rate BYTES COMMAND…: MiB/s of the command.
rate() {
    local bytes=$1 began=$EPOCHREALTIME
    shift
    "$@" || fail "$*"
    awk -v bytes="$bytes" -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { print bytes / 1048576 / (ended - began) }'
}

seconds() {
    local began=$EPOCHREALTIME
    "$@" >/dev/null || fail "$*"
    awk -v began="$began" -v ended="$EPOCHREALTIME" 'BEGIN { print ended - began }'
}

write_file() { dd if="$work/contents" of="$1" bs=1M conv=fsync status=none; }
read_file() { dd if="$1" of=/dev/null bs=1M status=none; }

# note NAME VALUE: in this round.
note() { echo "$round $1 $2" >>"$work/figures"; }

# median NAME [NAME]: of the figures, or of each round's ratio of the two.
median() {
    awk -v top="$1" -v bottom="${2:-}" '
        $2 == top { of[$1] = $3 }
        $2 == bottom { by[$1] = $3 }
        END { for (round in of) if (bottom == "" || by[round] > 0) print bottom == "" ? of[round] : of[round] / by[round] }
    ' "$work/figures" | sort -n | awk '{ value[NR] = $1 } END { if (NR) print (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

number() { awk -v value="$1" -v format="$2" 'BEGIN { printf value == "" ? "–" : format, value }'; }

stream_mounted() {
    mount_it "compress=$1"
    rm -f "$mount/file"
    note "write.$1" "$(rate "$bytes" write_file "$mount/file")"
    unmount_it
    drop_caches
    mount_it "compress=$1"
    note "read.$1" "$(rate "$bytes" read_file "$mount/file")"
    unmount_it
}

stream_btrfs() {
    mount -o "remount,compress-force=$(btrfs_codec "$1")" "$own"
    rm -f "$own/file"
    note "write.btrfs.$1" "$(rate "$bytes" write_file "$own/file")"
    drop_caches
    note "read.btrfs.$1" "$(rate "$bytes" read_file "$own/file")"
}

# The codec's speed on all processors is the second figure of a row of the first table.
memory_speed() {
    "$store_speed" --source "$work/contents" --size "$bytes" --rounds 1 --operations 1 --codec "$1" "$lower" |
        awk -v codec="$1" '$1 == codec { gsub(/± *[0-9.]+%/, ""); print $4; exit }'
}

streams() {
    local codec plain
    : >"$work/figures"
    for ((round = 1; round <= rounds; round++)); do
        stream_mounted none
        plain=$(awk -v round="$round" '$1 == round && $2 == "write.none" { print $3 }' "$work/figures")
        for codec in "${codecs[@]}"; do
            note "limit.$codec" "$(awk -v codec="$(memory_speed "$codec")" -v plain="$plain" \
                'BEGIN { print 1 / (1 / codec + 1 / plain) }')"
            stream_mounted "$codec"
            [ -z "$(btrfs_codec "$codec")" ] || stream_btrfs "$codec"
        done
    done
    printf '\n| %s | write | of plain | of limit | of btrfs | read | of plain | of btrfs |\n|---|---:|---:|---:|---:|---:|---:|---:|\n' "$1"
    printf '| none | %s | 1.00 | | | %s | 1.00 | |\n' "$(number "$(median write.none)" %.0f)" "$(number "$(median read.none)" %.0f)"
    for codec in "${codecs[@]}"; do
        printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$codec" \
            "$(number "$(median "write.$codec")" %.0f)" "$(number "$(median "write.$codec" write.none)" %.2f)" \
            "$(number "$(median "write.$codec" "limit.$codec")" %.2f)" \
            "$(number "$(median "write.$codec" "write.btrfs.$codec")" %.2f)" \
            "$(number "$(median "read.$codec")" %.0f)" "$(number "$(median "read.$codec" read.none)" %.2f)" \
            "$(number "$(median "read.$codec" "read.btrfs.$codec")" %.2f)"
    done
}

# fio_rate NAME OPTION…: operations a second, from fio's terse line; writes where there are any, else reads.
fio_rate() {
    local name=$1
    shift
    fio --name="$name" --ioengine=psync --output-format=terse --terse-version=3 "$@" |
        awk -F';' '{ print ($49 + 0 ? $49 : $8) }'
}

make_tree() {
    local i
    mkdir "$mount/tree"
    for ((i = 0; i < 100; i++)); do
        mkdir "$mount/tree/$i"
        head -c 2000000 "$work/contents" | split -b 20000 - "$mount/tree/$i/"
    done
}

small_operations() {
    local codec
    : >"$work/figures"
    for codec in none "${codecs[@]}"; do
        mount_it "compress=$codec"
        rm -rf "${mount:?}/tree" "$mount/file"
        make_tree
        write_file "$mount/file"
        unmount_it
        for ((round = 1; round <= rounds; round++)); do
            drop_caches
            mount_it "compress=$codec"
            note "list.$codec" "$(seconds ls -lR "$mount/tree")"
            note "random.$codec" "$(fio_rate random --filename="$mount/file" --rw=randread --bs=4k --size="$bytes" --io_size=16m --randseed=1)"
            rm -f "$mount/appended"
            note "append.$codec" "$(fio_rate append --filename="$mount/appended" --rw=write --bs=100 --size=50000 --fsync=1 --file_append=1)"
            unmount_it
        done
    done
    printf '\n| small operations | append 100 B + fsync, 1/s | of plain | random 4 KiB reads, 1/s | of plain | ls -lR, s | of plain |\n|---|---:|---:|---:|---:|---:|---:|\n'
    for codec in none "${codecs[@]}"; do
        printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$codec" \
            "$(number "$(median "append.$codec")" %.0f)" "$(number "$(median "append.$codec" append.none)" %.2f)" \
            "$(number "$(median "random.$codec")" %.0f)" "$(number "$(median "random.$codec" random.none)" %.2f)" \
            "$(number "$(median "list.$codec")" %.2f)" "$(number "$(median "list.$codec" list.none)" %.2f)"
    done
}

lower_image btrfs 4G
truncate -s 4G "$work/own.image"
mkfs.btrfs -q "$work/own.image" >/dev/null 2>&1
mount -o loop "$work/own.image" "$own"
for corpus in mailbox trigger; do
    "$tallybench" corpus "$corpus" --size "$size" "$work/corpus" >/dev/null 2>&1 || fail "no corpus"
    find "$work/corpus" \( -name 'm.*' -o -name '*.dat' \) -type f | sort | xargs cat >"$work/contents"
    rm -r "$work/corpus"
    bytes=$(stat -c %s "$work/contents")
    streams "$corpus"
done
small_operations
