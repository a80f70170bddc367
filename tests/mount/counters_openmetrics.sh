#!/usr/bin/env bash
# stats.openmetrics and stats.prometheus are accepted by those who read them: a strict parser of the first, promtool for the
# second; in the long form a Prometheus server reads both.
. "$(dirname "$0")/lib.sh"
command -v getfattr >/dev/null || skip "no getfattr"
command -v promtool >/dev/null || skip "no promtool"
python=$(for python in python3 /usr/bin/python3; do
    ! "$python" -c 'import prometheus_client.openmetrics.parser' 2>/dev/null || { echo "$python"; break; }
done)
[ -n "$python" ] || skip "no python3-prometheus-client"

lower=$work/lo\"w\\er # the label has to be escaped
mkdir "$lower"
mount_it compress=lz4,cache=none
"$python" "$here/use_everything.py" "$mount"
for format in openmetrics prometheus; do
    counter "stats.$format" >"$work/$format"
    [ "$(stat -c %s "$work/$format")" -le 65536 ] || fail "stats.$format is too long"
done
unmount_it

promtool check metrics <"$work/prometheus" || fail "promtool has something to say"
"$python" - "$work/openmetrics" "$work/prometheus" "$lower" <<'PYTHON' || fail "not what was counted"
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

def samples(parse, name):
    with open(name) as file:
        return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
                for family in parse(file.read()) for sample in family.samples}

new, old = samples(openmetrics, sys.argv[1]), samples(prometheus, sys.argv[2])
# Reading the one is counted in the other, and time goes on.
if set(old) != set(new):
    sys.exit("not the same samples: %s" % (set(old) ^ set(new)))
info = [dict(labels) for name, labels in new if name == "tallyfs_mount_info"]
if len(info) != 1 or info[0]["lower"] != sys.argv[3]:
    sys.exit("the mount's own: %s" % info)
write = (("op", "write"),)
if new["tallyfs_operation_bytes_total", write] != 320000:
    sys.exit("bytes written: %s" % new["tallyfs_operation_bytes_total", write])
if new["tallyfs_operation_request_bytes_sum", write] != 320000:
    sys.exit("bytes of writes: %s" % new["tallyfs_operation_request_bytes_sum", write])
PYTHON

# In the long form: a server that reads both over HTTP finds them up and the numbers there.
[ -n "${TALLY_TEST_LONG:-}" ] && command -v prometheus >/dev/null || exit 0
cat >"$work/serve.py" <<'PYTHON'
import http.server, sys

types = {"openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8",
         "prometheus": "text/plain; version=0.0.4; charset=utf-8"}

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.strip("/")
        self.send_response(200)
        self.send_header("Content-Type", types[name])
        self.end_headers()
        with open(sys.argv[1] + "/" + name, "rb") as file:
            self.wfile.write(file.read())

    def log_message(self, *arguments):
        pass

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + "/port", "w") as file:
    print(server.server_port, file=file)
server.serve_forever()
PYTHON
cat >"$work/ask.py" <<'PYTHON'
import json, sys, time, urllib.error, urllib.request

def ask(query):
    url = "http://%s/api/v1/query?query=%s" % (sys.argv[1], query)
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)["data"]["result"]

for attempt in range(300):
    try:
        found = {row["metric"]["job"]: row["value"][1] for row in ask("tallyfs_operation_bytes_total%7Bop=%22write%22%7D")}
        if found == {"openmetrics": "320000", "prometheus": "320000"}:
            sys.exit(0)
    except (OSError, KeyError, ValueError):
        found = "no answer"
    time.sleep(0.2)
sys.exit("the server has %s" % found)
PYTHON
"$python" "$work/serve.py" "$work" &
served=$!
for ((i = 0; i < 600; i++)); do
    [ ! -s "$work/port" ] || break
    sleep 0.05
done
cat >"$work/prometheus.yml" <<YAML
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - { job_name: openmetrics, metrics_path: /openmetrics, static_configs: [ { targets: [ "127.0.0.1:$(cat "$work/port")" ] } ] }
  - { job_name: prometheus, metrics_path: /prometheus, static_configs: [ { targets: [ "127.0.0.1:$(cat "$work/port")" ] } ] }
YAML
address=127.0.0.1:$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/tsdb" --web.listen-address="$address" \
    >"$work/server" 2>&1 &
server=$!
status=0
"$python" "$work/ask.py" "$address" || status=1
kill "$server" "$served"
wait "$server" "$served" || :
[ "$status" -eq 0 ] || { cat "$work/server" >&2; fail "a Prometheus server has not read it"; }
