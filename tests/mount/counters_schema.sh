#!/usr/bin/env bash
# stats.json is what the published schema says, with every operation used, and short enough for an attribute.
# Usage: counters_schema.sh SCHEMA OPERATION…: those that this build has.
. "$(dirname "$0")/lib.sh"
command -v getfattr >/dev/null || skip "no getfattr"
schema=$1
shift
python=$(for python in python3 /usr/bin/python3; do
    ! "$python" -c 'import jsonschema' 2>/dev/null || { echo "$python"; break; }
done)
[ -n "$python" ] || skip "no python3-jsonschema"

mount_it compress=lz4,cache=none
"$python" "$here/use_everything.py" "$mount"
setfattr -n user.tallyfs.cmd.sync -v 1 "$mount/.tallyfs"
counter stats.json >"$work/stats.json"
for operation; do
    counter "op.$operation" >"$work/op.$operation.json"
done
[ "$(stat -c %s "$work/stats.json")" -le 65536 ] || fail "stats.json is too long"
unmount_it

"$python" - "$schema" "$work" "$@" <<'PYTHON' || fail "stats.json is not as the schema says"
import json, sys
import jsonschema

schema, work, names = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(schema) as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)

def close(part):
    """Readers must bear new keys; here each key has to be in the schema."""
    if isinstance(part, dict):
        if "properties" in part and part.get("type") == "object":
            part.setdefault("additionalProperties", False)
        for value in part.values():
            close(value)
    elif isinstance(part, list):
        for value in part:
            close(value)

close(schema)
with open(work + "/stats.json") as file:
    stats = json.load(file)
jsonschema.validate(stats, schema)
for name in names:
    with open("%s/op.%s.json" % (work, name)) as file:
        one = json.load(file)
    if one["count"]:
        jsonschema.validate(one, {"$ref": "#/$defs/operation", "$defs": schema["$defs"]})

used = set(stats["operations"])
if used - set(names):
    sys.exit("unknown operations: %s" % (used - set(names)))
# What the kernel may never send: it batches FORGETs as it likes, checks access itself, and older ones know no statx.
unused = set(names) - used - {
    "forget", "forget_multi", "access", "readdir", "readdirplus", "poll", "statx", "tmpfile"}
if unused:
    sys.exit("never used: %s" % unused)
for name, operation in stats["operations"].items():
    parts = sum(operation[part + "_ns"] for part in ("lower", "codec", "wait", "self"))
    if parts != operation["total_ns"]:
        sys.exit("%s: the parts are %d, the total is %d" % (name, parts, operation["total_ns"]))
    if not operation["min_ns"] <= operation["p50_ns"] <= operation["p90_ns"] <= operation["p99_ns"] <= operation["max_ns"]:
        sys.exit("%s: percentiles out of order" % name)
    if sum(operation["errors_by_errno"].values()) != operation["errors"]:
        sys.exit("%s: errors by errno are not all errors" % name)
read = stats["operations"]["read"]
if sum(count for low, count in read["sizes_bytes"]) != read["count"]:
    sys.exit("sizes of reads are not of all reads")
gauges = stats["gauges"]
if gauges["store_cache_hits"] + gauges["store_cache_misses"] == 0:
    sys.exit("no chunk was looked for in the store's cache")
if not stats["background"]["compress"]["count"]:
    sys.exit("nothing was compressed in the background")
for key in ("inodes", "inode_bytes", "cached_descriptors", "resident_bytes"):
    if not gauges[key]:
        sys.exit("%s is 0" % key)
PYTHON
