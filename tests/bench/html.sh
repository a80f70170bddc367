#!/usr/bin/env bash
# The HTML report: well formed, alone, readable without seeing it; names cannot become mark-up. Where chromium is
# installed, a picture of it and its width on a phone.
. "$(dirname "$0")/lib.sh"

python3 - "$here/golden/trigger.json" "$scratch" <<'END'
import json, sys
text = open(sys.argv[1]).read().replace('"xfs"', json.dumps("\"><script>alert(1)</script>&'"))
result = json.loads(text)
result["environment"]["cpu"] = "</li><img src=x onerror=alert(2)>"
for trial in result["trials"]:
    for phase in trial["phases"]:
        for operation in ((phase["counters"] or {}).get("operations") or {}).values():
            operation.update(min_ns=1000, p50_ns=20000, p99_ns=3000000, p999_ns=40000000, max_ns=50000000)
    if trial["reason"]:
        trial["reason"] = "<b>no space</b>\u001b[31m | `x`"
json.dump(result, open(sys.argv[2] + "/hostile.json", "w"))
END
page=$scratch/page.html
expect 0 '' report --format html -o "$page" "$scratch/hostile.json" "$here/golden/trigger.json"
check "the page is sound" python3 "$here/check_page.py" "$page" "\"><script>alert(1)</script>&'" \
    '</li><img src=x onerror=alert(2)>' '<b>no space</b>'
check "light and dark" grep -q 'prefers-color-scheme:dark' "$page"
check "no control character" sh -c '! grep -q "$(printf "\033")" "$0"' "$page"
expect 0 '' report --format markdown "$scratch/hostile.json"
check "Markdown has no mark-up from names" sh -c '! grep -q "<script\|<img\|<b>" "$0"' "$scratch/out"
check "Markdown has tables" grep -q '^| ext4 lz4 |' "$scratch/out"
expect 0 '' report "$scratch/hostile.json"
check "the terminal gets no control character" sh -c '! grep -q "$(printf "\033")" "$0"' "$scratch/out"

browser=$(command -v chromium) || { echo "chromium is not installed: nothing is drawn"; finish; }
# browse OPTION…: the browser, with a folder of its own.
browse() {
    "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --allow-file-access-from-files \
        --user-data-dir="$scratch/browser" "$@" 2>"$scratch/browser.log"
}
# The width that the page needs on a phone; the frame is as wide as one.
sed 's/<meta http-equiv[^>]*>//' "$page" >"$scratch/framed.html"
cat >"$scratch/phone.html" <<'END'
<body style="margin:0"><iframe id="phone" src="framed.html" style="width:375px;height:12000px;border:0"></iframe>
<script>onload = () => document.body.append("needs " + document.getElementById("phone").contentDocument.documentElement.scrollWidth + " of 375")</script>
END
browse --dump-dom "file://$scratch/phone.html" >"$scratch/dom"
check "no sideways scrolling on a phone" grep -q 'needs 375 of 375' "$scratch/dom"
for width in 375 1280; do
    browse --window-size="$width,2000" --screenshot="$scratch/page-$width.png" "file://$page"
    # A blank picture of that size takes some 10 KB.
    check "$width wide it draws something" test "$(stat -c %s "$scratch/page-$width.png")" -gt 50000
done
[ -z "${TALLY_TEST_KEEP:-}" ] || cp "$page" "$scratch"/*.png "$TALLY_TEST_KEEP"
finish
