# shellcheck shell=bash
# shellcheck disable=SC2154  # dir, at, name, type, where and others are lab's
# Running tallybench over the lab's file systems: those that this kernel mounts in one run, those of the guest in
# another with the same seed, and one result file of both. Sourced by lab.

# Where a build leaves the program, or an installed one.
find_tallybench() {
    local each
    for each in ${TALLYBENCH:+"$TALLYBENCH"} "$top"/build/release/{root/bin,bench}/tallybench; do
        [ ! -x "$each" ] || { realpath "$each"; return 0; }
    done
    command -v tallybench || die "no tallybench: build it first, or name it with --tallybench"
}

run_host() {
    local each
    local -a targets=()
    for each in "${on_host[@]}"; do targets+=(--target "$each=$dir/$each/mnt"); done
    run_child "$tallybench" run "${arguments[@]}" "${targets[@]}" -o "$output.host" {lock}>&-
}

run_guest() {
    local each
    # shellcheck disable=SC2034  # guest_run takes the name
    local -a wanted=("work ext4 $dir/guest/work.image $dir/guest/work")
    for each in "${in_guest[@]}"; do
        choose "$each"
        wanted+=("$result_name $type $at/image $at/mnt")
    done
    guest_prepare "$size" || { say "no guest"; return 1; }
    say "measuring in the guest: ${in_guest[*]}; cold there means that the guest's caches are empty, not the host's"
    local status=0
    guest_run "$tallybench" wanted "${arguments[@]}" || status=1
    [ ! -e "$dir/guest/result.json" ] || mv "$dir/guest/result.json" "$output.guest"
    return "$status"
}

# What there is, also of a run that was interrupted; the file is replaced as a whole or not at all. A run that is
# killed leaves the parts beside it.
merge_parts() {
    local -a parts=()
    local each
    for each in "$output".{host,guest}; do [ ! -s "$each" ] || parts+=("$each"); done
    [ "${#parts[@]}" -gt 0 ] || return 0
    if [ "${#parts[@]}" -eq 2 ]; then
        jq -n -f "$top/contrib/lab-merge.jq" "${parts[@]}" >"$output.new" || { rm -f "$output.new"; return 1; }
    else
        cp "${parts[0]}" "$output.new"
    fi
    mv "$output.new" "$output"
    rm -f "${parts[@]}"
}

end_run() {
    local each
    guest_end
    take_back || say "$name: could not take back what is in $at"
    merge_parts || say "cannot write $output; its parts are $output.host and $output.guest"
    for each in ${brought_up[@]+"${brought_up[@]}"}; do down_one "$each" || true; done
    rm -rf --one-file-system "$dir/guest"
    remove_dir_if_empty
}

# Those that are up already stay up.
bring_up() {
    local each=$1
    choose "$each"
    if [ "$type" = ufs ] && [ "${passed_on[0]}" != holes ]; then
        say "$each: left out: it is read only, which is enough for holes alone"
        return 1
    fi
    [ -z "$why_not" ] && { mounted || { [ "$where" = guest ] && [ -e "$at/image" ]; }; } || brought_up+=("$each")
    up_one "$each" || { take_back; return 1; }
    if [ "$where" = guest ]; then in_guest+=("$each"); else on_host+=("$each"); fi
}

run() {
    local each status=0
    local -a on_host=() in_guest=() arguments
    [ $# -gt 0 ] || set -- "${usual[@]}"
    check_names "$@"
    [ -n "$output" ] || wrong_usage "run needs -o FILE for the result"
    [ "${#passed_on[@]}" -gt 0 ] || wrong_usage "run needs tallybench's workloads and options after --"
    if [ -d "$output" ] || [ ! -w "$(dirname "$output")" ]; then die "cannot write $output"; fi
    output=$(realpath "$output")
    tallybench=$(realpath "${tallybench:-$(find_tallybench)}")
    claim_dir
    on_exit end_run
    rm -f "$output".{host,guest} # a killed run's
    # Both runs make the same data from it; one among the options passed on is the later one and counts.
    arguments=(--seed "$(od -A n -N 4 -t u4 /dev/urandom | tr -d ' ')" "${passed_on[@]}")
    for each; do bring_up "$each" || status=1; done
    [ "${#on_host[@]}" -eq 0 ] || run_host || status=1
    [ "${#in_guest[@]}" -eq 0 ] || run_guest || status=1
    merge_parts || status=1
    return "$status"
}
