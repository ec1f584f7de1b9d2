#!/usr/bin/env python3
"""Compares what HolisticTraceAnalysis finds in the traces of FOLDER with what the devices did.

usage: gpu_numbers_with_hta.py FOLDER

FOLDER/timeline.jsonl has one line for each piece of device work: rank, stream, kind (compute, communication, memory),
name, launched_us, begin_us, end_us. Everything expected is computed from there, never from the traces. Passes (exit 0)
when temporal breakdown, overlap of communication and computation, queue length, kernel breakdown and idle time agree.
"""
import collections
import json
import logging
import os
import sys

# See load_with_hta.py.
os.environ.setdefault("HTA_DISABLE_NS_ROUNDING", "1")

TOLERANCE = 1e-3  # of a microsecond: HTA's times are doubles
CLOSE_US = 0.030  # HTA: a shorter gap between two kernels is the device's own


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
    """What one rank's GPU did."""

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
        """Lengths of the stream's queue: one more with each launch, one less when the work begins."""
        changes = [(w["launched_us"], 1) for w in self.on(stream)] + [(w["begin_us"], -1) for w in self.on(stream)]
        lengths, now = [], 0
        for _, change in sorted(changes):
            now += change
            lengths.append(now)
        return lengths

    def idle(self, stream):
        found = collections.Counter()
        work = self.on(stream)
        for before, after in zip(work, work[1:]):
            gap = after["begin_us"] - before["end_us"]
            if after["launched_us"] > before["end_us"]:
                found["host_wait"] += gap
            elif gap < CLOSE_US:
                found["kernel_wait"] += gap
            else:
                found["other"] += gap
        return found


class Comparison:
    def __init__(self):
        self.compared = self.failed = 0

    def same(self, what, found, expected):
        self.compared += 1
        if abs(found - expected) > TOLERANCE:
            self.failed += 1
            print(f"FAILED: {what}: HTA has {found}, the devices {expected}", file=sys.stderr)


def main():
    folder = sys.argv[1]
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
    result = Comparison()

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
    idle = analysis.get_idle_time_breakdown(ranks=ranks, visualize=False)[0]
    for rank in ranks:
        for stream in devices[rank].streams():
            found = series[rank][series[rank]["stream"] == stream]["queue_length"].tolist()
            expected = devices[rank].queue(stream)
            result.same(f"rank {rank} stream {stream} changes of the queue", len(found), len(expected))
            for i, (a, b) in enumerate(zip(found, expected)):
                result.same(f"rank {rank} stream {stream} queue after change {i}", a, b)
            rows = idle[(idle["rank"] == rank) & (idle["stream"] == stream)]
            waits = rows.set_index("idle_category")["idle_time"].to_dict()
            for category, expected in devices[rank].idle(stream).items():
                result.same(f"rank {rank} stream {stream} {category}", waits.get(category, 0), expected)

    print(f"{result.compared} numbers compared, {result.failed} differ")
    return 1 if result.failed or result.compared < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
