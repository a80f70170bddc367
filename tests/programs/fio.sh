#!/usr/bin/env bash
# Usage: fio.sh OPTIONS
# fio writes at random with a checksum in each block, through several engines and from several processes at once, and
# reads all of it back. What it found right is there after a remount.
. "$(dirname "$0")/lib.sh"
need fio

size=$(amount 2m 64m)

# run NAME OPTION…
run() {
    quietly fio --name="$1" --directory="$mount" --size="$size" --randseed=42 --randrepeat=1 --fallocate=none \
        --verify=crc32c --verify_fatal=1 --verify_state_save=0 --refill_buffers \
        --buffer_compress_percentage=60 "${@:2}"
}

mount_it "$options"
run psync --ioengine=psync --rw=randrw --bsrange=512-64k --bs_unaligned --numjobs=2
run pvsync2 --ioengine=pvsync2 --rw=randwrite --bs=4k --fsync=64 --direct=0
run psync-direct --ioengine=psync --direct=1 --rw=randrw --bs=4k --numjobs=2
run libaio --ioengine=libaio --direct=0 --iodepth=8 --rw=randrw --bs=16k
run libaio-direct --ioengine=libaio --direct=1 --iodepth=16 --rw=randrw --bssplit=4k/60:32k/40 --numjobs=2
run mmap --ioengine=mmap --rw=randwrite --bs=4k
run mmap-mixed --ioengine=mmap --rw=randrw --bs=8k --fsync=16
run shared --ioengine=psync --rw=randrw --bs=12k --numjobs=3 --filename=shared --offset_increment="$size"
run append --ioengine=psync --rw=write --bsrange=1k-300k --bs_unaligned --end_fsync=1 --verify_backlog=8
run holes --ioengine=psync --rw=randwrite --bs=4k --io_size="$(amount 512k 16m)" --fadvise_hint=0
sha256sum "$mount"/* >"$work/verified"
remount
quietly sha256sum --quiet -c "$work/verified"
unmount_it
