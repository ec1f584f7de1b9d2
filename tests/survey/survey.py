#!/usr/bin/env python3
"""Runs every command that reads traces on each file of a folder, and writes a table of what they said.

Counts and sums are compared with those of a reader of its own, which shares no code with profshim. FOLDER/sources.tsv
may say where a file comes from: file name, project, license, and its public place, separated by tabs.

Status 1 if a command crashed or hung, refused a file that Python's JSON reader reads, or a number differs.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from independent_reader import read_events, slices_of, totals_of

COMMANDS = {
    "verify": ["verify", "FILE"],
    "table": ["summary", "FILE"],
    "kernels": ["summary", "--kernels", "FILE"],
    "steps": ["summary", "--steps", "FILE"],
    "comms": ["summary", "--comms", "FILE"],
    "mpi": ["summary", "--mpi", "FILE"],
    "phases": ["summary", "--phases", "FILE"],
    "report": ["report", "FILE", "-o", "OUT/report.html"],
    "memory": ["report", "--memory", "FILE", "-o", "OUT/memory.html"],
    "merge": ["merge", "FILE", "-o", "OUT/merged.json"],
    "pftrace": ["convert", "FILE", "-o", "OUT/trace.pftrace"],
    "parquet": ["convert", "FILE", "-o", "OUT/trace.parquet", "--python", sys.executable],
    "compare": ["compare", "FILE", "FILE"],
    "ls": ["ls", "OUT"],
}
MAY_REFUSE = {"memory", "merge", "ls"}  # need memory events, several files, a run
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
OPERATORS = {"cpu_op", "Operator"}
VENDOR = {"", "mtia_ccp_events"}  # here, names decide what is device activity
# Categories without rows of the host.
NO_HOST = DEVICE | {"python_function", "gpu_user_annotation", "Trace", "cuda_sync", "ac2g"}
# Events that PyTorch's table leaves out, or that come from its memory records.
HELPERS = {"[memory]", "[OutOfMemory]", "profiler::_record_function_enter", "profiler::_record_function_enter_new",
           "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"}


def run(tool, words, seconds):
    """Returns exit status ("hung" after `seconds`), standard output and standard error."""
    try:
        done = subprocess.run([tool, *words], capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "hung", "", ""
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def parquet_slices(path):
    """Returns {category: [count, nanoseconds]} of the slices, and the number of each operator."""
    import pyarrow.parquet
    table = pyarrow.parquet.read_table(path, columns=["phase", "category", "name", "dur_ns"]).to_pydict()
    slices, operators = collections.defaultdict(lambda: [0, 0]), collections.Counter()
    for phase, category, name, duration in zip(*(table[key] for key in ("phase", "category", "name", "dur_ns"))):
        if phase == "X" and duration is not None:
            slices[category or ""][0] += 1
            slices[category or ""][1] += duration
            operators[name] += category in OPERATORS
    return dict(slices), operators


def differences(tool, file, out, events, seconds):
    """Yields a sentence for each number that differs from the independent reader's."""
    status, text, _ = run(tool, ["verify", "--json", file], seconds)
    counted = json.loads(text)[0]["events"] if text else 0
    # A pair of B and E counts as one event.
    if counted != len(events) and not any(event.get("ph") in ("B", "E") for event in events):
        yield f"events: {counted}, {len(events)} expected"
    slices = slices_of(events)
    totals = totals_of(slices)
    if os.path.exists(f"{out}/trace.parquet"):
        found, operators = parquet_slices(f"{out}/trace.parquet")
        expected = collections.Counter(s.name for s in slices if s.category in OPERATORS)
        for name in sorted(expected):
            if operators[name] != expected[name]:
                yield f"calls of {name}: {operators[name]}, {expected[name]} expected"
        for category in sorted(set(totals) | set(found)):
            count, total, finer = totals.get(category, (0, 0, 0))
            got_count, got_total = found.get(category, (0, 0))
            # Times finer than 1 ns are rounded.
            if count != got_count or abs(total - got_total) > finer:
                yield f"slices of {category or 'no category'}: {got_count}, {got_total} ns; expected {count}, {total} ns"
    if not any(s.category in VENDOR for s in slices):
        yield from kernel_differences(tool, file, slices, seconds)
        yield from table_differences(tool, file, slices, seconds)


def summary_json(tool, words, file, seconds):
    status, text, _ = run(tool, ["summary", "--json", "--row-limit", "-1", *words, file], seconds)
    return json.loads(text) if status in (0, 2) and text else None


def kernel_differences(tool, file, slices, seconds):
    expected = [s for s in slices if s.category in DEVICE]
    document = summary_json(tool, ["--kernels"], file, seconds)
    if document is None:
        return
    rows = [row for row in document["kernels"]["kernels"] if row["rank"] != "all"]
    count, us = sum(row["count"] for row in rows), sum(row["total_us"] for row in rows)
    total_us = sum(s.duration_ns for s in expected) / 1000
    if count != len(expected) or abs(us - total_us) > 0.001 * max(1, len(expected)):
        yield f"device activity: {count}, {us:.3f} us; expected {len(expected)}, {total_us:.3f} us"


def folded(slices):
    """Returns the slices that PyTorch's key_averages() counts: an only child with the name of its parent is left out."""
    kept, stack, order = [], [], sorted(slices, key=lambda s: (s.thread, s.begin_ns, -s.duration_ns))
    parents, children = {}, collections.Counter()
    for i, s in enumerate(order):
        end = s.begin_ns + s.duration_ns
        while stack and (order[stack[-1]].thread != s.thread or
                         s.begin_ns >= order[stack[-1]].begin_ns + order[stack[-1]].duration_ns or
                         end > order[stack[-1]].begin_ns + order[stack[-1]].duration_ns):
            stack.pop()
        if stack:
            parents[i] = stack[-1]
            children[stack[-1]] += 1
        stack.append(i)
    for i, s in enumerate(order):
        parent = parents.get(i)
        if parent is None or order[parent].name != s.name or children[parent] != 1:
            kept.append(s)
    return kept


def row_name(name):
    return "ProfilerStep*" if name.startswith("ProfilerStep#") else name


def table_differences(tool, file, slices, seconds):
    """Compares calls and times of the rows of the table: functions of the host, and device activity."""
    document = summary_json(tool, [], file, seconds)
    if document is None or "rows" not in document:
        return
    host = folded([s for s in slices if s.category not in NO_HOST and s.name not in HELPERS and s.name])
    for on_device, part in ((False, host), (True, [s for s in slices if s.category in DEVICE])):
        expected, found = (collections.defaultdict(lambda: [0, 0.0]) for _ in range(2))
        for s in part:
            expected[row_name(s.name)][0] += 1
            expected[row_name(s.name)][1] += s.duration_ns / 1000
        for row in document["rows"]:
            is_annotation = on_device and row["user_annotation"]
            if row["device"] == on_device and not row["asynchronous"] and not is_annotation:
                found[row["name"]][0] += row["calls"]
                found[row["name"]][1] += row["device_total_us" if on_device else "cpu_total_us"]
        # Mangled names are shown in C++.
        names = {name for name in {*expected, *found} if name not in HELPERS}
        if any(name.startswith("_Z") for name in names):
            names = {""}
            expected, found = ({"": [sum(c for c, _ in rows.values()), sum(t for _, t in rows.values())]}
                               for rows in (expected, found))
        for name in sorted(names):
            (count, us), (got, got_us) = expected.get(name, (0, 0)), found.get(name, (0, 0))
            if count != got or abs(us - got_us) > 0.001 * max(1, count):
                yield f"row {name or '(all)'}: {got}, {got_us:.3f} us; expected {count}, {us:.3f} us"


def survey(tool, file, seconds):
    """Returns a dict: status and first warning of each command, and the differences."""
    result = {"file": file.name, "bytes": file.stat().st_size, "status": {}, "said": {}, "differences": []}
    try:
        events = read_events(file)
    except ValueError as error:
        events = None
        result["unreadable"] = str(error)
    with tempfile.TemporaryDirectory() as out:
        os.symlink(file.resolve(), f"{out}/{file.name}")
        for name, words in COMMANDS.items():
            words = [word.replace("FILE", str(file)).replace("OUT", out) if word.isupper() or "OUT/" in word else word
                     for word in words]
            status, text, errors = run(tool, words, seconds)
            result["status"][name] = status
            result["said"][name] = [line.replace(str(file), file.name).replace(out, "") for line in errors.splitlines()]
            if name == "verify":
                result["findings"] = [line.strip() for line in text.splitlines()[1:-1]]
        if events is not None:
            result["events"] = len(events)
            result["differences"] = list(differences(tool, str(file), out, events, seconds))
    return result


def is_cut_off(result):
    """True if the file ends early: commands show what is there, and their status is 2. Perfetto refuses such files."""
    return any(": cut off: " in line for line in result["said"]["table"])


def refusals(result):
    """Returns the commands that refused a file with events that the independent reader reads."""
    if not result.get("events") or is_cut_off(result):
        return []
    return [name for name, status in result["status"].items() if status == 2 and name not in MAY_REFUSE]


def is_wrong(result):
    """True if a command crashed, hung or refused the file, or a number differs."""
    if any(status == "hung" or status not in (0, 1, 2) for status in result["status"].values()):
        return True
    return bool(result["differences"] or refusals(result))


def cell(result, name):
    warnings = len(result["said"][name])
    return f"{result['status'][name]}" + (f" ({warnings})" if warnings else "")


def write_table(results, sources, path):
    projects = collections.Counter(sources.get(r["file"], ("?",) * 3)[0] for r in results)
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"{len(results)} files of {len(projects)} projects; {sum(map(is_wrong, results))} of them with a "
                  "refusal or a difference.\n\n"
                  "A cell has the exit status and, in brackets, the number of lines on standard error. \"numbers\" "
                  "compares with the\nindependent reader: events, slices and their time by category, calls of operators, "
                  "device activity, and calls and time of\neach row of `summary --json`. One file cannot be merged, and "
                  "its folder is no run: status 2 of merge and ls is right;\nmemory has status 2 without memory events. "
                  "The commands show what is there of a file that is cut off, with status 2.\n\n")
        names = list(COMMANDS)
        out.write("| project | license | file | bytes | events | " + " | ".join(names) + " | numbers |\n")
        out.write("|---" * (len(names) + 6) + "|\n")
        for r in sorted(results, key=lambda r: (sources.get(r["file"], ("?",))[0].lower(), r["file"])):
            project, license, place = sources.get(r["file"], ("?", "?", r["file"]))
            numbers = "equal" if not r["differences"] and "events" in r else "; ".join(r["differences"][:2]) or "-"
            numbers += ", cut off" if is_cut_off(r) else ""
            cells = [cell(r, name) for name in names]
            out.write(f"| {project} | {license} | {place} | {r['bytes']} | {r.get('events', '-')} | " +
                      " | ".join(cells) + f" | {numbers.replace('|', '/')} |\n")
        write_warnings(results, out)


def write_warnings(results, out):
    """Lists the rules that `verify` names, and the other warnings, with the number of files."""
    findings = collections.Counter()
    for r in results:
        for line in {f.split(":")[0].split(" (")[0] for f in r.get("findings", [])}:
            findings[line] += 1
    out.write("\n## What verify says\n\n| files | finding |\n|---|---|\n")
    for line, count in findings.most_common():
        out.write(f"| {count} | {line.replace('|', '/')} |\n")


def alternating(files, sources):
    """Returns the files so that each prefix has files of as many projects as possible."""
    seen = collections.Counter()
    order = []
    for file in files:
        project = sources.get(file.name, ("?",))[0]
        order.append((seen[project], project, file))
        seen[project] += 1
    return [file for _, _, file in sorted(order)]


def survey_all(options, files):
    """Ends after --minutes: files that are not done by then are left out, and said."""
    ends = time.monotonic() + 60 * options.minutes
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        started = iter(files)

        def work():
            done = []
            for file in started_files(started, ends):
                done.append(survey(options.tool, file, options.seconds))
            return done

        for future in [pool.submit(work) for _ in range(options.jobs)]:
            results += future.result()
    if len(results) < len(files):
        print(f"{len(files) - len(results)} files left out after {options.minutes} minutes", file=sys.stderr)
    return results


LOCK = threading.Lock()


def started_files(files, ends):
    while time.monotonic() < ends:
        with LOCK:
            file = next(files, None)
        if file is None:
            return
        yield file


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tool", default="build/profshim")
    parser.add_argument("--output", help="Markdown file")
    parser.add_argument("--json", help="JSON file with all lines")
    parser.add_argument("--seconds", type=float, default=120, help="time limit of one command")
    parser.add_argument("--minutes", type=float, default=600, help="time limit of the survey")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only files whose name contains this text")
    options = parser.parse_args()
    sources = {}
    if (options.folder / "sources.tsv").exists():
        for line in (options.folder / "sources.tsv").read_text().splitlines():
            name, project, license, place = line.split("\t")
            sources[name] = (project, license, place)
    files = sorted(f for f in options.folder.iterdir() if f.is_file() and f.name != "sources.tsv" and
                   options.only in f.name)
    results = survey_all(options, alternating(files, sources))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    if options.output:
        write_table(results, sources, options.output)
    wrong = [r for r in results if is_wrong(r)]
    for r in wrong:
        print(f"{r['file']}: {r['status']} {r['differences'][:3]}")
    print(f"{len(files)} files, {len(wrong)} with a refusal or a difference")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
