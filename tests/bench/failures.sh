#!/usr/bin/env bash
# A trial that fails is shown as failed, with the reason; the others go on; the status is 1.
. "$(dirname "$0")/lib.sh"

result=$scratch/r.json
run=(run trigger --path native --size 512K --trials 1 --seed 5 --warm --work "$work" -o "$result")

# A program that writes a wrong byte.
mkdir "$scratch/bin"
cat >"$scratch/bin/cp" <<'END'
#!/bin/sh
PATH=${PATH#*:} cp "$@" || exit 1
for last; do :; done
file=$(find "$last" -type f | sort | tail -n 1)
printf 'wrong' | dd of="$file" bs=1 seek=1000 conv=notrunc 2>/dev/null
END
chmod +x "$scratch/bin/cp"
PATH=$scratch/bin:$PATH expect 1 'run[0-9]*\.2\.[0-9]*\.dat\(\.gz\)\?: wrong contents' "${run[@]}" --target "a=$target"
expect 0 '' report --format json -o "$scratch/report.json" "$result"
check "the failed trial is counted" "$CHECK_REPORT" "$result" "$scratch/report.json" 2 1 1
expect 0 '' report "$result"
check "the table says failed" grep -q '^a native\*  *failed' "$scratch/out"
check "the table says why" grep -q 'wrong contents' "$scratch/out"
check "nothing was left" nothing_left

# One that lets a link point elsewhere, and one that forgets an empty directory.
mkdir -p "$scratch/own/empty"
echo text >"$scratch/own/file"
ln -s file "$scratch/own/link"
own=(run trigger --path native --source "$scratch/own" --trials 1 --warm --target "a=$target" -o "$result")
cat >"$scratch/bin/cp" <<'END'
#!/bin/sh
PATH=${PATH#*:} cp "$@" || exit 1
for last; do :; done
find "$last" -type l -exec ln -sfn nowhere {} \;
END
PATH=$scratch/bin:$PATH expect 1 'link: the link points elsewhere' "${own[@]}"
sed -i 's/^find.*/find "$last" -type d -name empty -exec rmdir {} +/' "$scratch/bin/cp"
PATH=$scratch/bin:$PATH expect 1 'empty: is missing in the copy' "${own[@]}"
expect 0 '' "${own[@]}"
check "nothing was left" nothing_left

# A mount program that does not mount.
expect 1 'tallyfs ended with status 1' run mailbox --tallyfs /bin/false --size 64K --trials 2 --warm --work "$work" \
    --target "a=$target" -o "$result"
expect 0 '' report --format json -o "$scratch/report.json" "$result"
check "each failed trial is counted" "$CHECK_REPORT" "$result" "$scratch/report.json" 2 2 2
check "nothing was left" nothing_left

# A target that fills up, beside one that does not.
mkdir "$scratch/full"
small_disk "$scratch/full" 300K
expect 1 'No space left on device' "${run[@]}" --target "a=$target" --target "full=$scratch/full"
expect 0 '' report --format json -o "$scratch/report.json" "$result"
check "only the full one failed" "$CHECK_REPORT" "$result" "$scratch/report.json" 3 1 1
check "the reason names the program and the file" grep -q "\"reason\": \"cp: .*$scratch/full.*No space" "$result"
check "the full target is empty again" is_empty "$scratch/full"
check "nothing was left" nothing_left

# The trials that failed are tried again.
umount "$scratch/full"
mounted=()
expect 0 '' "${run[@]}" --target "a=$target" --target "full=$scratch/full" --resume
expect 0 '' report --format json -o "$scratch/report.json" "$result"
check "none has failed any more" "$CHECK_REPORT" "$result" "$scratch/report.json" 3 1 0
finish
