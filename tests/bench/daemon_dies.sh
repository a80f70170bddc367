#!/usr/bin/env bash
# A tallyfs that dies in the middle makes its trials fail with its end as the reason, and nothing stays mounted.
. "$(dirname "$0")/lib.sh"
need_fuse

result=$scratch/r.json
cat >"$scratch/dying" <<END
#!/bin/sh
[ "\$1" != -V ] || exec "$TALLYFS" -V
(sleep 1; kill -KILL \$\$) &
exec "$TALLYFS" "\$@"
END
chmod +x "$scratch/dying"
expect 1 'tallyfs was killed by signal 9' run mailbox --target "a=$target" --tallyfs "$scratch/dying" --size 96M \
    --trials 1 --work "$work" -o "$result"
check "nothing was left" nothing_left
expect 0 '' report --format json -o "$scratch/report.json" "$result"
check "the failed trial is counted" "$CHECK_REPORT" "$result" "$scratch/report.json" 2 1 1
finish
