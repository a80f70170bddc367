#!/usr/bin/env bash
# Usage: run.sh [-l FILE_SYSTEM] OPTIONS PROGRAM…
# Mounts with OPTIONS ("-" for none), runs "PROGRAM MOUNT LOWER write", mounts again, runs "PROGRAM MOUNT LOWER check".
# With OPTIONS "plain" there is no mount and PROGRAM works on the lower directory, to show that it asks for nothing
# that a real file system does not do. With -l the lower directory is a new file system.
. "$(dirname "$0")/lib.sh"
if [ "$1" = -l ]; then
    lower_image "$2" 2G
    shift 2
fi
options=$1
shift
[ "$options" != - ] || options=
if [ "$(id -u)" -eq 0 ]; then
    chmod 755 "$work"
    export TALLY_ALLOW_OTHER=1
fi
limit=${TALLY_TEST_LONG:+1800}

# run_all DIRECTORY PHASE
run_all() {
    local program
    for program in "${programs[@]}"; do
        timeout "${limit:-240}" "$program" "$1" "$lower" "$2" || fail "$program $2, options \"$options\""
    done
}

programs=("$@")
if [ "$options" = plain ]; then
    run_all "$lower" write
    run_all "$lower" check
    exit 0
fi
[ -z "${TALLY_ALLOW_OTHER:-}" ] || options=${options:+$options,}allow_other
export TALLY_OPTIONS=$options
for phase in write check; do
    mount_it "$options"
    run_all "$mount" "$phase"
    unmount_it
done
