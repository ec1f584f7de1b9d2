#!/usr/bin/env python3
"""Compares the results of HolisticTraceAnalysis for the traces of FOLDER with the timeline of the devices.

usage: gpu_numbers_with_hta.py FOLDER [--tolerance US] [--relative SHARE] [--apart US]

FOLDER/timeline.jsonl has one line for each device activity: rank, stream, kind (compute, communication, memory),
name, launched_us, begin_us, end_us, and "counted": false if HTA does not know the launching call (0.5 does not know
cuLaunchKernelEx). Expected values come from this file. Exit status 0 if temporal breakdown, overlap of communication
and computation, queue length, kernel breakdown and idle time agree.

The clocks of a real job differ: numbers may differ by --tolerance or by the share --relative, and moments closer than
--apart are not ordered.
"""
import argparse
import bisect
import collections
import json
import logging
import os
import statistics
import sys

# See load_with_hta.py.
os.environ.setdefault("HTA_DISABLE_NS_ROUNDING", "1")

# HTA ascribes gaps between kernels that are shorter than this to the device. Its documentation says 30 nanoseconds, but
# it compares 30 with microseconds.
CLOSE_US = 30


def union(spans):
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def length(spans):
    return sum(end - begin for begin, end in union(spans))


def both(a, b):
    return length(a) + length(b) - length(list(a) + list(b))


class Device:
    """The device activities of one rank."""

    def __init__(self, work):
        self.work = sorted(work, key=lambda w: w["begin_us"])
        self.spans = collections.defaultdict(list)
        for w in work:
            self.spans[w["kind"]].append((w["begin_us"], w["end_us"]))
        self.everything = [span for spans in self.spans.values() for span in spans]

    def overlap(self):
        return both(self.spans["communication"], self.spans["compute"])

    def times(self):
        whole = max(end for _, end in self.everything) - min(begin for begin, _ in self.everything)
        compute, busy = length(self.spans["compute"]), length(self.everything)
        return {
            "kernel_time(us)": whole,
            "idle_time(us)": whole - busy,
            "compute_time(us)": compute,
            "non_compute_time(us)": busy - compute,
        }

    def streams(self):
        return sorted({w["stream"] for w in self.work})

    def on(self, stream):
        return [w for w in self.work if w["stream"] == stream]

    def queue(self, stream):
        """Returns (time, length) of the stream's queue: launches make it longer, begins of activities shorter."""
        work = [w for w in self.on(stream) if w.get("counted", True)]
        changes = [(w["launched_us"], 1) for w in work] + [(w["begin_us"], -1) for w in work]
        lengths, now = [], 0
        for at, change in sorted(changes):
            now += change
            lengths.append((at, now))
        return lengths

    def idle(self, stream, apart):
        """Returns idle time by cause, or None if an activity was launched too close to the end of the previous one.

        If a gap is within `apart` of HTA's limit, the times on both sides of the limit are added up.
        """
        found = collections.Counter()
        near_limit = False
        work = self.on(stream)
        for before, after in zip(work, work[1:]):
            gap = after["begin_us"] - before["end_us"]
            if abs(after["launched_us"] - before["end_us"]) < apart:
                return None
            if after["launched_us"] > before["end_us"]:
                found[("host_wait",)] += gap
                continue
            near_limit = near_limit or abs(gap - CLOSE_US) < apart
            found[("kernel_wait",) if gap < CLOSE_US else ("other",)] += gap
        if near_limit:
            found[("kernel_wait", "other")] = found.pop(("kernel_wait",), 0) + found.pop(("other",), 0)
        return found


class Comparison:
    def __init__(self, tolerance, relative):
        self.tolerance, self.relative = tolerance, relative
        self.compared = self.failed = 0

    def same(self, what, found, expected, exactly=False):
        self.compared += 1
        if abs(found - expected) > (0 if exactly else self.tolerance + self.relative * abs(expected)):
            self.failed += 1
            print(f"FAILED: {what}: HTA has {found}, the devices {expected}", file=sys.stderr)


def same_queue(result, what, found, expected, apart):
    """`found`: (ts, length) by HTA, whose times start anywhere; `expected`: the same from the timeline."""
    result.same(f"{what} changes of the queue", len(found), len(expected), exactly=True)
    if not found or not expected:
        return
    times = [at for at, _ in expected]
    shift = statistics.median(a - b for a, (b, _) in zip(times, found))
    for i, (at, length) in enumerate(found):
        next_at = found[i + 1][0] if i + 1 < len(found) else at + 2 * apart + 1
        middle = (at + next_at) / 2 + shift
        near = bisect.bisect(times, middle) - 1
        alone = all(abs(t - middle) >= apart for t in times[max(near - 1, 0) : near + 3])
        if near >= 0 and (apart == 0 or alone):
            result.same(f"{what} queue after change {i}", length, expected[near][1], exactly=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--tolerance", type=float, default=1e-3)  # microseconds: HTA's times are doubles
    parser.add_argument("--relative", type=float, default=0)
    parser.add_argument("--apart", type=float, default=0)
    options = parser.parse_args()
    folder = options.folder
    logging.disable(logging.WARNING)
    from hta.trace_analysis import TraceAnalysis

    work = collections.defaultdict(list)
    with open(os.path.join(folder, "timeline.jsonl"), encoding="utf-8") as lines:
        for line in lines:
            piece = json.loads(line)
            work[piece["rank"]].append(piece)
    devices = {rank: Device(pieces) for rank, pieces in work.items()}
    ranks = sorted(devices)
    analysis = TraceAnalysis(trace_dir=folder, include_last_profiler_step=True)
    result = Comparison(options.tolerance, options.relative)

    times = analysis.get_temporal_breakdown(visualize=False).set_index("rank")
    result.same("ranks", len(times), len(ranks))
    for rank in ranks:
        for key, expected in devices[rank].times().items():
            result.same(f"rank {rank} {key}", times.loc[rank][key], expected)

    overlap = analysis.get_comm_comp_overlap(visualize=False).set_index("rank")
    for rank in ranks:
        share = 100 * devices[rank].overlap() / length(devices[rank].spans["communication"])
        result.same(f"rank {rank} overlap %", overlap.loc[rank]["comp_comm_overlap_pctg"], round(share, 2))

    kinds, kernels = analysis.get_gpu_kernel_breakdown(visualize=False)
    kinds = kinds.set_index("kernel_type")["sum"]
    total = collections.Counter()
    for device in devices.values():
        for kind, spans in device.spans.items():
            total[kind] += length(spans)
        total["overlap"] += device.overlap()
    result.same("COMPUTATION", kinds["COMPUTATION"], total["compute"] - total["overlap"])
    result.same("COMMUNICATION", kinds["COMMUNICATION"], total["communication"] - total["overlap"])
    result.same("both", kinds["COMPUTATION overlapping COMMUNICATION"], total["overlap"])
    result.same("MEMORY", kinds["MEMORY"], total["memory"])
    for rank in ranks:
        sums = collections.Counter()
        for piece in devices[rank].work:
            sums[piece["name"]] += piece["end_us"] - piece["begin_us"]
        found = kernels[kernels["rank"] == rank].set_index("name")["sum (us)"]
        result.same(f"rank {rank} kernel names", len(found), len(sums))
        for name, expected in sums.items():
            result.same(f"rank {rank} {name}", found[name], expected)

    series = analysis.get_queue_length_time_series(ranks=ranks)
    idle = analysis.get_idle_time_breakdown(ranks=ranks, visualize=False, consecutive_kernel_delay=CLOSE_US)[0]
    for rank in ranks:
        for stream in devices[rank].streams():
            found = series[rank][series[rank]["stream"] == stream][["ts", "queue_length"]].values.tolist()
            same_queue(result, f"rank {rank} stream {stream}", found, devices[rank].queue(stream), options.apart)
            rows = idle[(idle["rank"] == rank) & (idle["stream"] == stream)]
            waits = rows.set_index("idle_category")["idle_time"].to_dict()
            for categories, expected in (devices[rank].idle(stream, options.apart) or {}).items():
                found = sum(waits.get(category, 0) for category in categories)
                result.same(f"rank {rank} stream {stream} {' + '.join(categories)}", found, expected)

    print(f"{result.compared} numbers compared, {result.failed} differ")
    return 1 if result.failed or result.compared < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
