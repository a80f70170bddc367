#!/usr/bin/env bash
# Usage: git.sh OPTIONS
# git on the mount: a history with links, modes and a big file, cloned both ways, repacked, checked, and moved out and in.
# Git trusts an index entry while size, times and inode number are as it noted them: they must stay so.
. "$(dirname "$0")/lib.sh"
need git

export HOME=$work GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org
git() { command git -c gc.auto=0 -c tar.umask=022 -c init.defaultBranch=main -c advice.detachedHead=false -c protocol.file.allow=always "$@"; }
files=$(amount 24 400)
big_bytes=$(amount 2000000 60000000)

# same_tree DIRECTORY REVISION: the checked-out files are those of the revision, as the repository beside the mount has it.
same_tree() {
    rm -rf "$work/expected"
    mkdir "$work/expected"
    git -C "$work/beside" archive "$2" | tar -C "$work/expected" -xpf -
    diff -r --no-dereference -x .git "$work/expected" "$1" || fail "$1 is not $2"
    diff <(cd "$work/expected" && find . -printf '%p %y %m %l\n' | sort) \
        <(cd "$1" && find . -name .git -prune -o -printf '%p %y %m %l\n' | sort) || fail "modes in $1"
}

check_repository() {
    quietly git -C "$1" fsck --strict --full --no-dangling
    [ -z "$(git -C "$1" status --porcelain)" ] || fail "$1 is changed: $(git -C "$1" status --porcelain | head)"
}

make_files() {
    local i
    mkdir -p "$1"/dir/{a,b,c}/deep "$1/other"
    for ((i = 0; i < files; i++)); do
        noise $((i * 97)) "$i" >"$1/dir/$(printf 'abc' | cut -c $((i % 3 + 1)))/deep/file $i"
    done
    noise "$big_bytes" 7 >"$1/big"
    head -c 300000 /dev/urandom >"$1/random"
    : >"$1/empty"
    printf '#!/bin/sh\necho ran\n' >"$1/run"
    chmod 755 "$1/run"
    ln -s dir/a "$1/link"
    ln -s nowhere/at/all "$1/dangling"
    ln -s "$(printf 'x%.0s' {1..2000})" "$1/long-link"
    : >"$1/ünïcode ø"
    : >"$1/other/stays"
}

mount_it "$options"
cd "$mount"
git init -q repository
make_files repository
git -C repository add -A
git -C repository commit -q -m first
for i in $(seq "$(amount 3 40)"); do
    echo "line $i" >>repository/run
    echo "$i" >"repository/other/$i"
    git -C repository add other
    git -C repository mv "other/$i" "dir/moved $i"
    git -C repository commit -q -a -m "change $i"
done
git -C repository checkout -q -b side HEAD~2
chmod 644 repository/run
rm repository/link
mkdir repository/link
noise 5000 3 >repository/link/file
git -C repository add -A
git -C repository commit -q -m 'a directory for a link'
git -C repository checkout -q main
quietly git -C repository merge -q -m merge -s recursive -X ours side
git -C repository tag -a -m tagged v1
git clone -q --mirror "file://$mount/repository" "$work/beside"
check_repository repository
same_tree repository main

# Nothing of what git noted of its files may change when they are closed for good. The kernel's write-back cache makes
# up change times, which cannot be set below.
[[ $options != *writeback* ]] || git -C repository config core.trustctime false
quietly git -C repository update-index --really-refresh
quietly git -C repository diff-files --quiet
cd "$work"
remount
cd "$mount"
quietly git -C repository diff-files --quiet
check_repository repository
same_tree repository main

git clone -q repository linked
git clone -q --no-local "file://$mount/repository" fetched
git clone -q "$work/beside" outside 2>/dev/null
git -C repository gc -q --prune=now
git -C repository repack -q -a -d -f --window=5
git -C fetched worktree add -q ../tree side
git -C fetched checkout -q --detach side
git -C fetched checkout -q main
noise 100000 9 >fetched/pushed
git -C fetched add pushed
git -C fetched commit -q -m pushed
git -C fetched push -q origin HEAD:refs/heads/pushed
git -C "$work/beside" fetch -q
for clone in repository linked fetched outside tree; do
    check_repository "$clone"
done
cd "$work"
remount
cd "$mount"
for clone in repository linked fetched outside tree; do
    check_repository "$clone"
done
git -C repository rev-parse --verify -q pushed >/dev/null || fail "what was pushed is not there"
same_tree linked main
same_tree outside main
same_tree tree side
same_tree fetched pushed
[ "$(git -C repository rev-list --objects --all | sort | sha1sum)" = "$(git -C "$work/beside" rev-list --objects --all | sort | sha1sum)" ] ||
    fail "the repository has other objects than its clone"
git clone -q "file://$mount/repository" "$work/again"
check_repository "$work/again"
cd "$work"
unmount_it
