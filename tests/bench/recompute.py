#!/usr/bin/env python3
"""recompute.py RESULT.json REPORT.json REPORT.csv: reckons every figure of the reports anew from the raw values.

Nothing of the program is used: sums, moments, Student's t (by integrating its density), Welch, Mann-Whitney (by
listing all ranks) and Holm are done here from their definitions.
"""
import csv
import itertools
import json
import math
import sys

PHASES = ("write", "read", "delete")
FIELDS = {"wall_s": ["wall_s"], "user_s": ["user_s"], "system_s": ["system_s"], "cpu_s": ["user_s", "system_s"],
          "daemon_cpu_s": ["daemon_user_s", "daemon_system_s"], "machine_busy_s": ["machine_busy_s"],
          "sync_s": ["sync_s"], "total_s": ["wall_s", "sync_s"]}
COUNTED = {"calls": ("count", 1), "bytes": ("bytes", 1), "lower_s": ("lower_ns", 1e-9), "codec_s": ("codec_ns", 1e-9),
           "wait_s": ("wait_ns", 1e-9), "own_s": (None, 1e-9)}
checked = 0


def near(what, is_, should):
    global checked
    checked += 1
    if is_ is None or should is None:
        assert is_ is None and should is None, f"{what}: {is_}, not {should}"
        return
    assert abs(is_ - should) <= 1e-6 * max(1e-3, abs(should)), f"{what}: {is_}, not {should}"


def counted(phase, name):
    counters = phase["counters"]
    if counters is None:
        return None
    key, factor = COUNTED[name]
    operations = counters["operations"].values()
    if name == "own_s":
        return factor * sum(o["total_ns"] - o["lower_ns"] - o["codec_ns"] - o["wait_ns"] for o in operations)
    behind = counters.get("background", {}).values() if key.endswith("_ns") else []
    return factor * sum(o.get(key, 0) for o in itertools.chain(operations, behind))


def metric(trial, key):
    if key == "until_free_s":
        return trial["until_free_s"]
    if key.startswith("space_"):
        return sum(s[key[6:]] for s in trial["space"]) if trial["space"] else None
    name, _, rest = key.partition("_")
    parts = []
    for phase in [p for p in trial["phases"] if p["name"] == name]:
        if rest in COUNTED:
            parts.append(counted(phase, rest))
        else:
            parts += [phase[f] for f in FIELDS[rest]]
    return None if not parts or None in parts else sum(parts)


def mean(values):
    return math.fsum(values) / len(values)


def sd(values):
    m = mean(values)
    return math.sqrt(math.fsum((v - m) ** 2 for v in values) / (len(values) - 1))


def t_two_sided(t, df):
    """With t = sqrt(df) tan(a) the density is that of cos(a)^(df - 1); Simpson's rule."""
    end, steps = math.atan(abs(t) / math.sqrt(df)), 2000
    h = end / steps
    total = sum((1 if i in (0, steps) else 4 if i % 2 else 2) * math.cos(i * h) ** (df - 1) for i in range(steps + 1))
    constant = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    return max(0.0, 1 - 2 * constant * total * h / 3)


def t_quantile_975(df):
    low, high = 0.0, 1e5
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_two_sided(middle, df) > 0.05 else (low, middle)
    return low


def median(values):
    values = sorted(values)
    return (values[len(values) // 2] + values[(len(values) - 1) // 2]) / 2


def check_sample(what, figures, values):
    if not values:
        assert figures is None, f"{what}: figures of nothing"
        return
    n, middle = len(values), median(values)
    deviation = median([abs(v - middle) for v in values])
    near(f"{what} n", figures["n"], n)
    near(f"{what} mean", figures["mean"], mean(values))
    near(f"{what} median", figures["median"], middle)
    near(f"{what} min", figures["min"], min(values))
    near(f"{what} max", figures["max"], max(values))
    near(f"{what} outliers", figures["outliers"], sum(abs(v - middle) > 14.826 * deviation for v in values))
    near(f"{what} sd", figures["sd"], sd(values) if n > 1 else None)
    half = t_quantile_975(n - 1) * sd(values) / math.sqrt(n) if n > 1 else None
    near(f"{what} low", figures["ci95_low"], None if half is None else mean(values) - half)
    near(f"{what} high", figures["ci95_high"], None if half is None else mean(values) + half)
    for i, value in enumerate(figures["values"]):
        near(f"{what} value {i}", value, values[i])


def welch(a, b):
    if len(a) < 2 or len(b) < 2:
        return None
    u, v = sd(a) ** 2 / len(a), sd(b) ** 2 / len(b)
    if u + v == 0:
        return None
    t, df = (mean(a) - mean(b)) / math.sqrt(u + v), (u + v) ** 2 / (u * u / (len(a) - 1) + v * v / (len(b) - 1))
    return t, df, t_two_sided(t, df)


def mann_whitney(a, b):
    u = sum((x > y) + (x == y) / 2 for x in a for y in b)
    if len(set(a + b)) < len(a) + len(b) or len(a) + len(b) > 14:
        return u, None
    middle, ranks, extreme, ways = len(a) * len(b) / 2, range(1, len(a) + len(b) + 1), 0, 0
    for chosen in itertools.combinations(ranks, len(a)):
        ways += 1
        extreme += abs(sum(chosen) - len(a) * (len(a) + 1) / 2 - middle) >= abs(u - middle)
    return u, extreme / ways


def holm(p):
    order, largest, adjusted = sorted((i for i in range(len(p)) if p[i] is not None), key=lambda i: p[i]), 0, list(p)
    for place, i in enumerate(order):
        largest = max(largest, min(1, p[i] * (len(order) - place)))
        adjusted[i] = largest
    return adjusted


def check_comparisons(rows, samples, key):
    for workload in {row["workload"] for row in rows}:
        of = [i for i, r in enumerate(rows) if r["workload"] == workload and r["target"] is not None
              and r["twin_of"] is None and samples[i][key]]
        if not of:
            continue
        best = min(of, key=lambda i: mean(samples[i][key]))
        noise = max([abs(mean(samples[i][key]) / mean(samples[r["twin_of"]][key]) - 1) for i, r in enumerate(rows)
                     if r["workload"] == workload and r["twin_of"] is not None
                     and samples[i][key] and samples[r["twin_of"]][key]], default=0)
        others = [i for i in of if i != best]
        tests = [welch(samples[i][key], samples[best][key]) for i in others]
        adjusted = holm([t and t[2] for t in tests])
        for i, test, p in zip(others, tests, adjusted):
            what, a, b = f"row {i} {key}", samples[i][key], samples[best][key]
            is_ = rows[i]["relative_to_best"][key]
            near(f"{what} base", is_["base_row"], best)
            near(f"{what} ratio", is_["ratio"], mean(a) / mean(b))
            near(f"{what} noise", is_["noise_floor"], noise)
            u, exact = mann_whitney(a, b)
            near(f"{what} U", is_["mann_whitney"]["u"], u)
            if exact is not None:
                assert is_["mann_whitney"]["exact"], what
                near(f"{what} Mann-Whitney", is_["mann_whitney"]["p"], exact)
            assert (test is None) == (is_["welch"] is None), what
            if test:
                half = t_quantile_975(test[1]) * mean(a) / mean(b) * math.sqrt(
                    (sd(a) / mean(a)) ** 2 / len(a) + (sd(b) / mean(b)) ** 2 / len(b))
                for name, value in zip(("t", "df", "p"), test):
                    near(f"{what} {name}", is_["welch"][name], value)
                near(f"{what} Holm", is_["welch"]["p_holm"], p)
                near(f"{what} interval", is_["ci95_half_width"], half)
            difference = abs(mean(a) / mean(b) - 1) > noise
            assert is_["significant"] == bool(test and p < 0.05 and difference), what


def main():
    result, report = (json.load(open(path)) for path in sys.argv[1:3])
    rows = report["results"][0]["rows"]
    trials = [[t for t in result["trials"] if t["configuration"] == i] for i in range(len(rows))]
    samples = []
    for row, of in zip(rows, trials):
        ok = [t for t in of if t["status"] == "ok"]
        assert row["trials_ok"] == len(ok) and row["trials_failed"] == len(of) - len(ok)
        samples.append({k: [v for v in (metric(t, k) for t in ok) if v is not None] for k in row["metrics"]})
        for key, figures in row["metrics"].items():
            check_sample(f"row {len(samples) - 1} {key}", figures, samples[-1][key])
        for space in row["space"]:
            for key in ("df_bytes", "allocated_bytes"):
                check_sample(f"{space['set']} {key}", space[key],
                             [s[key] for t in ok for s in t["space"] if s["set"] == space["set"]])
    for key in ("write_total_s", "read_wall_s", "delete_total_s"):
        check_comparisons(rows, samples, key)
    lines = list(csv.DictReader(open(sys.argv[3], newline="")))
    assert len(lines) == len(result["trials"])
    for line, trial in zip(lines, result["trials"]):
        for key in rows[0]["metrics"]:
            near(f"CSV {key}", float(line[key]) if line[key] else None, metric(trial, key))
    print(f"{checked} figures follow from the raw values")


main()
