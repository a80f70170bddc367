#!/usr/bin/env python3
"""change.py RESULT.json FACTOR TARGET CODEC PHASE: the result with that time changed, on stdout."""
import json
import sys

path, factor, target, codec, phase = sys.argv[1:]
result = json.load(open(path))
for trial in result["trials"]:
    configuration = result["configurations"][trial["configuration"]]
    if (configuration["target"], configuration["codec"], configuration["path"]) != (target, codec, "tallyfs"):
        continue
    if phase == "fail":
        trial.update(status="failed", reason="no space", phases=[], space=[])
    for entry in trial["space" if phase == "space" else "phases"]:
        if phase == "space":
            entry["allocated_bytes"] = int(entry["allocated_bytes"] * float(factor))
        elif entry["name"] == phase:
            entry["wall_s"] *= float(factor)
            if entry["sync_s"] is not None:
                entry["sync_s"] *= float(factor)
json.dump(result, sys.stdout)
