#!/usr/bin/env python3
"""Compares the cost of the library per PyTorch operator with that of torch.profiler (CPU only, no stacks). It calls
neg_(), which is one operator; add_(1) would be five.

usage: torch_cost.py LIBRARY OBSERVER        each way runs in its own process; the minimum of several rounds counts
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROUNDS, CALLS = int(os.environ.get("BENCH_ROUNDS") or 20), 10000
WAYS = {
    "bare": {},
    "an observer that does nothing": {},
    "loaded, not recording": {"PROFSHIM_SET": "steps.source=torch steps.pattern=never"},
    "recording": {"PROFSHIM_SET": "steps.source=none"},
    "recording, with shapes": {"PROFSHIM_SET": "steps.source=none capture.record_shapes=true"},
    "torch.profiler": {},
    "torch.profiler, with shapes": {},
}


def observe(library):
    import ctypes

    with open("/proc/self/maps", encoding="utf-8") as maps:
        torch_cpu = next(line.split()[-1] for line in maps if "libtorch_cpu.so" in line)
    add = ctypes.CDLL(library).observe
    add.argtypes = [ctypes.c_void_p]
    add(ctypes.CDLL(torch_cpu)._handle)


def measure(way, observer):
    """Returns the minimum nanoseconds of one call over many runs in this process."""
    import torch

    torch.set_num_threads(1)
    x = torch.ones(2)

    def loop():
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            x.neg_()
        return (time.perf_counter_ns() - begin) / CALLS

    with torch.profiler.record_function("begin"):
        loop()
    if way == "an observer that does nothing":
        observe(observer)
    if way.startswith("torch.profiler"):
        # The memory of a profile grows with each event, so each run has its own profile.
        # The first run includes the profiler's start.
        best = []
        for _ in range(ROUNDS):
            with torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=way.endswith("shapes")
            ):
                best.append(loop())
        return min(best)
    return min(loop() for _ in range(ROUNDS))


def run(way, library, observer, folder):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PROFSHIM")}
    environment.update(WAYS[way], OMP_NUM_THREADS="1")
    if "PROFSHIM_SET" in environment:
        environment["LD_PRELOAD"] = library
        environment["PROFSHIM_SET"] += f" output.folder='{folder}/{{pid}}' profile.log_level=error"
    command = [sys.executable, __file__, "--way", way, observer]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def main():
    if sys.argv[1] == "--way":
        print(measure(*sys.argv[2:4]))
        return
    library, observer = (os.path.abspath(path) for path in sys.argv[1:3])
    folder = tempfile.mkdtemp(prefix="profshim-bench-")
    try:
        least = {way: min(run(way, library, observer, folder) for _ in range(min(5, ROUNDS))) for way in WAYS}
    finally:
        shutil.rmtree(folder)
    version = subprocess.run(
        [sys.executable, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=True
    )
    print(f"PyTorch {version.stdout.strip()}")
    bare = least["bare"]
    print(f"{'neg_() of two numbers':32} {bare:8.0f} ns")
    for way in list(WAYS)[1:]:
        peer = "torch.profiler, with shapes" if way.endswith("shapes") else "torch.profiler"
        share = (least[way] - bare) / max(least[peer] - bare, 1)
        print(f"{'  ' + way:32} {least[way] - bare:+8.0f} ns   {share:6.2f} of {peer}")


main()
