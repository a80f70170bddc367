#!/usr/bin/env bash
# Usage: acl.sh FILE_SYSTEM OPTIONS
# C27: ACLs, default ACLs and the umask give the same on the mount as on the plain lower directory.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -eq 0 ] || skip 'only root sets others'"'"' ACLs'
command -v setfacl >/dev/null || skip 'no setfacl'
lower_image "$1" 512M
chmod 755 "$work"
mkdir "$lower/plain" "$lower/through"

# All that may differ, in a directory that is plain or a part of the mount.
exercise() (
    cd "$1"
    for mask in 000 022 077; do
        umask "$mask"
        echo x >"file-$mask"
        mkdir "directory-$mask"
        mkfifo "fifo-$mask"
        mkdir "default-$mask"
        setfacl -d -m u:65534:rwx,g:65533:r-x,o::r-x,m::rwx "default-$mask"
        echo x >"default-$mask/file"
        mkdir "default-$mask/directory"
        mkdir "default-$mask/directory/deeper"
        mkfifo "default-$mask/fifo"
        ln -s file "default-$mask/symlink"
        python3 -c 'import os, sys
os.close(os.open(sys.argv[1] + "/mode-600", os.O_CREAT | os.O_WRONLY, 0o600))
os.mknod(sys.argv[1] + "/node-666", 0o100666)
os.mkdir(sys.argv[1] + "/directory-700", 0o700)
os.close(os.open(sys.argv[1], os.O_TMPFILE | os.O_WRONLY, 0o644))' "default-$mask"
        mkdir "minimal-$mask"
        setfacl -d -m u::rwx,g::---,o::r-- "minimal-$mask"
        echo x >"minimal-$mask/file"
        mkdir "minimal-$mask/directory"
    done
    umask 022
    echo text >acl
    setfacl -m u:65534:rw-,g:65533:--- acl
    chmod 640 acl
    cp -a acl copied
    cp -p acl copied-p
    cp acl copied-plain
    mkdir tar
    tar --acls -cf - acl default-022 | tar --acls -C tar -xf -
    setfacl -b copied
    setfacl -m u:65534:r-- copied
    setfacl -x u:65534 copied
    setfacl -k default-077
    setfacl -m m::r-- copied-p
    chmod g+w copied-p
    mv acl renamed
    ln renamed linked
)

describe() (
    cd "$1"
    find . -printf '%p %y %m %u:%g\n' | sort
    find . ! -type l -print0 | sort -z | xargs -0 getfacl -n
)

# What a user may do by ACL alone.
use_as_user() (
    cd "$1"
    echo secret >granted
    echo secret >denied
    chmod 600 granted denied
    setfacl -m u:65534:r-- granted
    setfacl -m g:65534:--- denied
    chmod 644 denied # with no group bit at all Linux would not look at the ACL
    for command in 'cat granted' 'cat denied' 'echo x >>granted' 'echo x >default-000/made' 'rm default-000/made'; do
        setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "$command" 2>/dev/null && echo "may $command" ||
            echo "may not $command"
    done
)

mount_it "$2,allow_other"
exercise "$lower/plain"
exercise "$mount/through"
use_as_user "$lower/plain" >"$work/plain.may"
use_as_user "$mount/through" >"$work/through.may"
diff "$work/plain.may" "$work/through.may" >&2 || fail 'a user may do something else'
grep -q "^may not cat denied" "$work/plain.may" || fail "the test asks nothing: $(cat "$work/plain.may")"
describe "$lower/plain" >"$work/plain"
describe "$mount/through" >"$work/through"
diff "$work/plain" "$work/through" >&2 || fail 'modes and ACLs differ'
unmount_it
mount_it "$2,allow_other"
describe "$mount/through" | diff "$work/plain" - >&2 || fail 'modes and ACLs differ after the next mount'
unmount_it
