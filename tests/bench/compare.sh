#!/usr/bin/env bash
# compare: status 3 for what is slower or larger beyond the threshold, and only for that.
. "$(dirname "$0")/lib.sh"

base=$here/golden/trigger.json
# changed FACTOR TARGET CODEC PHASE: sets $new to the golden result with that change.
changed() {
    new=$scratch/new.json
    python3 "$here/change.py" "$base" "$@" >"$new"
}
says() { check "it says \"$1\"" grep -q "$1" "$scratch/out"; }

expect 0 '' compare "$base" "$base"
says '^0 regressions beyond 5 %'
check "equal is not told from chance" grep -q '^ext4 lz4 write .*+0.0 %.*~$' "$scratch/out"
check "the table is 80 wide" awk '{ gsub(/[\200-\277]/, "") } length > 80 { exit 1 }' "$scratch/out"
changed 1.5 ext4 lz4 write
expect 3 '' compare "$base" "$new"
says '^ext4 lz4 write .*+50.0 %.*REGRESSION$'
says '^1 regressions'
expect 0 '' compare --threshold 60% "$base" "$new"
says '^ext4 lz4 write .*+50.0 %.*small$'
expect 0 '' compare "$new" "$base"
says '^ext4 lz4 write .*-33.3 %.*better$'
expect 3 '' compare --format markdown -o "$scratch/compare.md" "$base" "$new"
check "Markdown has a table" grep -q '^| ext4 lz4 write | .* | REGRESSION |$' "$scratch/compare.md"
changed 1.02 ext4 lz4 read
expect 0 '' compare "$base" "$new"
changed 1.2 ext4 lz4 space
expect 3 '' compare "$base" "$new"
says '^ext4 lz4 space .*+20.0 %.*REGRESSION$'
changed 0 ext4 lz4 fail
expect 3 '' compare "$base" "$new"
says 'ext4 lz4: FAILED in NEW'

# A difference that two equal rows show as well is none.
python3 - "$base" "$scratch" <<'END'
import copy, json, sys
result = json.load(open(sys.argv[1]))
def add_twin(result, factor):
    twin = dict(result["configurations"][2], twin_of=2)
    result["configurations"].append(twin)
    index = len(result["configurations"]) - 1
    for block in result["block_order"]:
        block.append(index)
    for trial in [t for t in result["trials"] if t["configuration"] == 2]:
        trial = copy.deepcopy(trial)
        trial["configuration"] = index
        for phase in trial["phases"]:
            phase["wall_s"] *= factor
        result["trials"].append(trial)
for name, factor in ("quiet", 1.01), ("noisy", 2):
    noisy = copy.deepcopy(result)
    add_twin(noisy, factor)
    json.dump(noisy, open(f"{sys.argv[2]}/{name}.json", "w"))
END
changed 1.5 ext4 lz4 write
expect 3 '' compare "$scratch/quiet.json" "$new"
expect 0 '' compare "$scratch/noisy.json" "$new"
says '^ext4 lz4 write .*+50.0 %.*~$'

sed 's/"target": *"[a-z0-9]*"/"target":"other"/g' "$base" >"$scratch/other.json"
expect 1 'nothing in common' compare "$base" "$scratch/other.json"
expect 2 'wanted are two result files' compare "$base"
expect 2 'threshold x: wanted' compare --threshold x "$base" "$base"
expect 2 'known are table, markdown' compare --format csv "$base" "$base"
expect 1 'No such file' compare "$base" "$scratch/none"
finish
