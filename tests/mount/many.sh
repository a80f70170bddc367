#!/usr/bin/env bash
# Usage: many.sh OPTIONS PROGRAM…
# C25: run.sh with few descriptors, which the daemon inherits.
ulimit -n 1024
exec "$(dirname "$0")/run.sh" "$@"
