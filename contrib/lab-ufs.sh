# shellcheck shell=bash
# shellcheck disable=SC2154  # at is lab's
# UFS1 images for the lab, with two files that `holes` reads: SPACY of written zeros and HOLEY, a hole of the same size. What
# makefs makes stays as it is, since Linux does not write to UFS. Sourced by lab.

# makefs writes a hole's zeros like any others; HOLEY is told from SPACY by this time.
ufs_holey_mtime=1000000000

# ufs_format IMAGE: each file takes a quarter of it.
ufs_format() {
    local tree=$at/tree part status=0
    part=$(($(stat -c %s "$1") / 4))
    mkdir -p "$tree" && head -c "$part" /dev/zero >"$tree/SPACY" && truncate -s "$part" "$tree/HOLEY" &&
        touch -d "@$ufs_holey_mtime" "$tree/HOLEY" && makefs -t ffs -B le -o version=1 "$1" "$tree" &&
        ufs_make_hole "$1" || status=1
    rm -rf "$tree"
    return "$status"
}

# ufs_number IMAGE OFFSET: the 32 bits there, little endian as makefs was told.
ufs_number() { od -A n -t u4 --endian=little -j "$2" -N 4 "$1" | tr -d ' '; }

# Takes HOLEY's blocks away: its inode's 12 direct and 3 indirect addresses, and their count. In the super block, at 8192,
# are the fragment in which the inodes begin and the size of a fragment (FreeBSD's sys/ufs/ffs/fs.h and ufs/dinode.h). The
# blocks stay marked as taken, which does no harm where nothing is written.
ufs_make_hole() {
    local image=$1 table inode at_inode
    table=$(($(ufs_number "$image" $((8192 + 16))) * $(ufs_number "$image" $((8192 + 52)))))
    for inode in 3 4; do # the first after the root's
        at_inode=$((table + inode * 128))
        [ "$(ufs_number "$image" $((at_inode + 24)))" -eq "$ufs_holey_mtime" ] || continue
        head -c 60 /dev/zero | dd of="$image" conv=notrunc bs=1 seek=$((at_inode + 40)) status=none &&
            head -c 4 /dev/zero | dd of="$image" conv=notrunc bs=1 seek=$((at_inode + 104)) status=none
        return
    done
    echo "no hole could be made"
    return 1
}
