#!/usr/bin/env bash
# With no cache in the kernel the counters show what strace shows of tar and git: compare_strace.py has the differences.
. "$(dirname "$0")/lib.sh"
for program in strace tar git; do
    command -v "$program" >/dev/null || skip "no $program"
done
strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"

mount_it cache=none,attr_timeout=0,entry_timeout=0
mkdir -p "$mount/tree/dir/deep"
for ((i = 0; i < 5; i++)); do
    seq $((i * 1000)) >"$mount/tree/dir/file$i"
done
head -c 300000 /dev/urandom >"$mount/tree/dir/deep/large"
ln -s file1 "$mount/tree/dir/link"
export HOME=$work GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test GIT_COMMITTER_NAME=test GIT_COMMITTER_EMAIL=test
git init -q "$mount/repository"
cp -r "$mount/tree/dir" "$mount/repository/"
git -C "$mount/repository" add .
git -C "$mount/repository" commit -q -m first
echo changed >"$mount/repository/dir/file2"

cd /
mount=$(readlink -f "$mount") # as strace has it
echo "tar:"
python3 "$here/compare_strace.py" "$mount" "$lower" "$work/tar.trace" sh -c "tar cf - -C '$mount' tree | cat" ||
    { cat "$work/tar.trace" >&2; fail "tar"; }
echo "git status:"
python3 "$here/compare_strace.py" "$mount" "$lower" "$work/git.trace" git -C "$mount/repository" status ||
    { cat "$work/git.trace" >&2; fail "git status"; }
unmount_it
