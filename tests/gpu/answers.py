"""Comparisons of what the library writes beside and into a trace, for scripts/gpu_check.sh. Python's standard library only.

  answers.py summary TRACE TOOL        summary-rank*.json beside TRACE equals `TOOL summary --json`
  answers.py stacks TRACE              the export of stacks has the time of the activity that its operators launched
  answers.py phase TRACE NAME KERNEL COUNT   each step has one phase NAME with COUNT kernels KERNEL, and no others
  answers.py counters TRACE MIB        counters of the GPU have possible values; MIB: memory of the GPU
  answers.py page TRACE                the page about memory says a peak of device memory
  answers.py python TRACE OTHER ROOT   both have the same calls below the function ROOT; OTHER: torch.profiler's

Prints a line for each finding; those that begin with "FAILED: " are faults. Exit status 1 if there is one.
"""
import collections
import json
import os
import re
import subprocess
import sys

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
failures = 0


def finding(good, text):
    global failures
    failures += not good
    print(text if good else f"FAILED: {text}")


def load(file):
    with open(file, encoding="utf-8", errors="replace") as text:
        return json.load(text)


def events_of(trace, *categories):
    return [event for event in trace["traceEvents"] if event.get("cat") in categories]


def beside(file, ending):
    return file.removesuffix(".pt.trace.json") + ending


def window_of(file):
    """Returns the part of TRACE in summary-rank*.json, which lies in its folder or in one above it."""
    folder = os.path.dirname(file)
    while folder != os.path.dirname(folder):
        for name in sorted(os.listdir(folder)):
            if not re.fullmatch(r"summary-rank.*\.json", name):
                continue
            for window in load(os.path.join(folder, name))["windows"]:
                if os.path.samefile(os.path.join(folder, window["file"]), file):
                    return window
        folder = os.path.dirname(folder)
    return None


def summary(file, tool):
    window = window_of(file)
    finding(window is not None and "left_out" not in window, f"summary of the window: {str(window)[:80]}...")
    command = [tool, "summary", "--table", "--kernels", "--steps", "--comms", "--json", file]
    said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    for part in said.values():
        if isinstance(part, dict):
            part.pop("files", None)
    for name, value in said.items():
        written = (window or {}).get(name)
        if isinstance(written, dict):
            written.pop("files", None)
        finding(written == value, f"{name}: written and said are the same, {len(str(value))} characters")


def has_stack_at(operators, call):
    """True if the innermost operator around the CUDA call has a Python stack: those of the backward pass have none."""
    around = [op for op in operators if op["tid"] == call["tid"] and op["ts"] <= call["ts"] <= op["ts"] + op["dur"]]
    return bool(around) and "Call stack" in max(around, key=lambda op: op["ts"])["args"]


def stacks(file):
    trace = load(file)
    operators = events_of(trace, "cpu_op")
    with_stack = {call["args"].get("correlation") for call in events_of(trace, "cuda_runtime", "cuda_driver")
                  if has_stack_at(operators, call)}
    microseconds = sum(event["dur"] for event in events_of(trace, *DEVICE) if event["args"].get("correlation") in with_stack)
    with open(beside(file, ".stacks.txt"), encoding="utf-8", errors="replace") as text:
        weights = [float(line.rsplit(" ", 1)[1]) for line in text]
    finding(weights and abs(sum(weights) - microseconds) <= 0.01 * microseconds + len(weights),
            f"{len(weights)} stacks of {sum(weights):.0f} us; their operators launched {microseconds:.0f} us")


def phase(file, name, kernel, count):
    trace = load(file)
    steps = {event["name"] for event in events_of(trace, "user_annotation") if event["name"].startswith("ProfilerStep#")}
    seen = [event for event in events_of(trace, "phase") if event["name"] == name]
    finding(len(seen) == len(steps) > 0, f"{len(seen)} phases of {len(steps)} steps")
    kernels = collections.Counter((kernel in event["name"], event["args"].get("phase")) for event in events_of(trace, "kernel"))
    finding(kernels[True, name] == int(count) * len(steps) and not kernels[True, None] and not kernels[False, name],
            f"kernels by match and phase: {dict(kernels)}")


def counters(file, mib):
    trace = load(file)
    values = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("ph") == "C" and event["name"].startswith("GPU "):
            for unit, value in event["args"].items():
                values[f"{event['name']} {unit}"].append(float(value))
    possible = {"GPU 0 utilization %": (0, 100), "GPU 0 memory bytes": (1 << 20, float(mib) * (1 << 20)),
                "GPU 0 SM clock MHz": (100, 4000), "GPU 0 memory clock MHz": (100, 20000), "GPU 0 power W": (10, 1500)}
    finding(set(values) == set(possible), f"counters: {', '.join(sorted(values))}")
    for name, (low, high) in possible.items():
        seen = values.get(name, [])
        finding(seen and low <= min(seen) and max(seen) <= high,
                f"{name}: {len(seen)} values" + (f", {min(seen):.6g} to {max(seen):.6g}" if seen else ""))


def page(file):
    with open(beside(file, ".memory.html"), encoding="utf-8") as text:
        html = text.read()
    headings = re.findall(r"<h2>([^<]*)</h2>", html)
    finding(any(re.match("CUDA|GPU|HIP", heading) for heading in headings) and "peak" in html.lower(),
            f"a page of {len(html)} bytes: {'; '.join(headings)}")


def calls_below(file, root):
    """Counts calls below the first function ROOT of each step by name, caller and module."""
    calls = events_of(load(file), "python_function")
    by_id = {event["args"]["Python id"]: event for event in calls}

    def name(event):
        return re.sub("0x[0-9a-f]+", "0x", event["name"]) if event else None

    def is_below(event):
        while event is not None:
            event = by_id.get(event["args"].get("Python parent id"))
            if event is not None and re.search(root, event["name"]):
                return True
        return False

    return collections.Counter((name(by_id.get(event["args"].get("Python parent id"))), name(event),
                                event["args"].get("Python module id") is not None) for event in calls if is_below(event))


def python(file, other, root):
    ours, theirs = calls_below(file, root), calls_below(other, root)
    differ = [(ours[call], theirs[call], call) for call in sorted(ours.keys() | theirs.keys(), key=str) if ours[call] != theirs[call]]
    finding(ours and not differ, f"{sum(ours.values())} Python calls, torch.profiler {sum(theirs.values())}; differ: {str(differ)[:600]}")


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("summary", "stacks", "phase", "counters", "page", "python"):
        sys.exit(__doc__)
    globals()[sys.argv[1]](*sys.argv[2:])
    sys.exit(failures > 0)
