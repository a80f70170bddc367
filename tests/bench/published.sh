#!/usr/bin/env bash
# What published_report says of conclusions, for results with known means and spreads.

# shellcheck source-path=SCRIPTDIR disable=SC2317
# shellcheck source=lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"
program=$(dirname "$TALLYBENCH")/published/published_report
tables=$(dirname "$(readlink -f "$0")")/../../contrib/published.tables

# trials CONFIGURATION SECONDS…
trials() {
    local configuration=$1 block=0 seconds
    shift
    for seconds; do
        printf '%s{"configuration": %d, "block": %d, "status": "ok", "phases": [{"name": "write", "set": "x", "wall_s": %s, "sync_s": 1}], ' \
            "$comma" "$configuration" "$block" "$seconds"
        printf '"space": [{"set": "x", "df_bytes": %d, "original_bytes": 200}]}' $((100 + configuration % 4 * 10))
        block=$((block + 1)) comma=', '
    done
}

comma=''
{
    printf '{"schema": 1, "configurations": ['
    for target in slow fast alike wide; do # the fifth is the first once more, which differs by 2 %
        printf '{"workload": "w", "target": "%s", "codec": "none", "path": "native", "twin_of": null}, ' "$target"
    done
    printf '{"workload": "w", "target": "slow", "codec": "none", "path": "native", "twin_of": 0}, '
    printf '{"workload": "w", "target": "near", "codec": "none", "path": "native", "twin_of": null}], "trials": ['
    trials 0 20.0 20.2 19.8 20.1 19.9
    trials 1 10.0 10.1 9.9 10.2 9.8
    trials 2 10.0 10.1 9.8 10.1 9.9
    trials 3 5 40 10 8 2
    trials 4 20.4 20.6 20.2 20.5 20.3
    trials 5 20.3 20.5 20.3 20.4 20.2
    printf ']}\n'
} >"$scratch/result.json"

# outcome MEASURE A B RELATION WANTED: what the report says of the conclusion that A is so to B.
outcome() {
    printf 'claim|the claim|w|%s|%s/none/native|%s/none/native|%s|2.00\n' "$1" "$2" "$3" "$4" >"$scratch/claims"
    "$program" "$scratch/claims" markdown "$scratch/result.json" >"$scratch/report" || return 1
    grep "^| the claim .*| $5 |\$" "$scratch/report" && return 0
    cat "$scratch/report"
    return 1
}

check "a difference beyond chance holds" outcome write:wall_s slow fast more holds
check "and its opposite does not" outcome write:wall_s slow fast less "does not hold: the opposite"
check "equal rows are the same" outcome write:wall_s alike fast same holds
check "and do not differ" outcome write:wall_s alike fast more "does not hold: no difference"
check "different rows are not the same" outcome write:wall_s slow fast same "does not hold: more"
check "what is within the noise floor is no difference" outcome write:wall_s near slow more "does not hold: no difference"
check "a wide spread decides nothing" outcome write:wall_s wide fast more undecided
check "not even that they are the same" outcome write:wall_s wide fast same undecided
check "what no trial differs in has no chance in it" outcome space:df_bytes alike slow more holds
check "a row that is not there is not measured" outcome write:wall_s none fast more "not measured"
check "a phase that is not there is not measured" outcome read:wall_s slow fast more "not measured"

printf 'table|T|w|write:wall_s+sync_s|s\nrow|base|5|fast/none/native\nrow|other|7.5|slow/none/native\n' >"$scratch/claims"
"$program" "$scratch/claims" markdown "$scratch/result.json" >"$scratch/report"
check "published and measured stand side by side" grep -qF "| other | 7.5 | 1.50 | 21.000 | 0.158 | 5 | 1.91 |" "$scratch/report"
printf 'row|base|5|fast/none/native\n' >"$scratch/claims"
check "a row before its table is an error" bash -c '! "$@"' - "$program" "$scratch/claims" markdown "$scratch/result.json"
check "the tables that come with it are understood" "$program" "$tables" html "$scratch/result.json"
finish
