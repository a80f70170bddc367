#!/usr/bin/env bash
# Usage: run.sh OPTIONS PROGRAM
# Mounts with OPTIONS ("-" for none), runs "PROGRAM MOUNT LOWER write", mounts again, runs "PROGRAM MOUNT LOWER check".
. "$(dirname "$0")/lib.sh"
options=$1
[ "$options" != - ] || options=
if [ "$(id -u)" -eq 0 ]; then
    options=${options:+$options,}allow_other
    chmod 755 "$work"
    export TALLY_ALLOW_OTHER=1
fi
for phase in write check; do
    mount_it "$options"
    timeout 240 "$2" "$mount" "$lower" "$phase" || fail "$2 $phase, options \"$options\""
    unmount_it
done
