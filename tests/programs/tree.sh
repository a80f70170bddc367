# Sourced after lib.sh: a tree with everything a copying program can be asked to keep.
[ "$(id -u)" -eq 0 ] || skip "only root keeps owners and makes devices"
need setfacl setfattr setcap

# put FILE OFFSET: writes its input there.
put() { dd of="$1" bs=64K seek="$2" oflag=seek_bytes conv=notrunc iflag=fullblock status=none; }

# make_tree DIRECTORY
make_tree() (
    umask 022
    mkdir -p "$1/dir/inner" "$1/empty" "$1/shared" "$1/wide"
    cd "$1"
    noise "$(amount 2000000 200000000)" 1 >big
    head -c "$(amount 500000 50000000)" /dev/urandom >random
    : >nothing
    for i in $(seq "$(amount 60 3000)"); do
        noise $((i * 131 % 9000)) "$i" >"wide/file $i"
    done
    truncate -s 12M sparse
    printf start | put sparse 0
    noise 70000 2 | put sparse 7000000
    ln big hard-link
    ln big dir/inner/hard-link
    ln -s ../big dir/symbolic
    ln -s /nowhere dangling
    ln dangling dangling-hard
    mkfifo fifo
    mknod null c 1 3
    mknod block b 7 250
    printf x >"odd name"$'\n'"with \\ ünïcode"
    touch -d '1969-07-20 20:17:40.123456789' random
    touch -d '2038-01-20 03:14:08.000000001' 'wide/file 3'
    touch -h -d '2001-09-09 01:46:40.5' dangling
    chown 1234:4321 'wide/file 1' dir
    chown -h 99:98 dangling
    chmod 6711 'wide/file 2'
    chmod 0000 'wide/file 3'
    chmod 3777 shared
    chmod 2755 dir
    cp /bin/true capable
    setcap cap_net_raw,cap_chown+ep capable
    setfacl -m u:1234:rw,g:4321:r,u:99:--- 'wide/file 4'
    setfacl -d -m u:1234:rwx,o::- dir
    setfacl -m g:4321:rx,m::r dir/inner
    setfattr -n user.note -v 'a note' big
    setfattr -n user.binary -v 0x00ff0a00 empty
    setfattr -n user.long -v "$(noise 2000 5)" 'wide/file 5'
    setfattr -n trusted.secret -v t 'wide/file 6'
    touch -d '2010-10-10 10:10:10.987654321' dir empty shared
)
