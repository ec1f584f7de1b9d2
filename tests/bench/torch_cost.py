#!/usr/bin/env python3
"""What the library adds to an operator of PyTorch, beside what torch.profiler adds (CPU only, no stacks).

usage: torch_cost.py LIBRARY        each way in a process of its own, in turns; the least of several rounds counts
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROUNDS, CALLS = 5, 20000
WAYS = {
    "bare": {},
    "loaded, not recording": {"PROFSHIM_SET": "steps.source=torch steps.pattern=never"},
    "recording": {"PROFSHIM_SET": "steps.source=none"},
    "recording, with shapes": {"PROFSHIM_SET": "steps.source=none capture.record_shapes=true"},
    "torch.profiler": {},
    "torch.profiler, with shapes": {},
}


def measure(way):
    """Nanoseconds of one call, the best of many runs in this process."""
    import torch

    torch.set_num_threads(1)
    x = torch.ones(2)

    def loop():
        begin = time.perf_counter_ns()
        for _ in range(CALLS):
            x.add_(1)
        return (time.perf_counter_ns() - begin) / CALLS

    with torch.profiler.record_function("begin"):
        loop()
    if way.startswith("torch.profiler"):
        # Its memory grows with each event: a profile for each run, the first one pays for its start.
        best = []
        for _ in range(ROUNDS):
            with torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=way.endswith("shapes")
            ):
                best.append(loop())
        return min(best)
    return min(loop() for _ in range(ROUNDS))


def run(way, library, folder):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PROFSHIM")}
    environment.update(WAYS[way], OMP_NUM_THREADS="1")
    if way != "bare" and not way.startswith("torch.profiler"):
        environment["LD_PRELOAD"] = library
        environment["PROFSHIM_SET"] += f" output.folder='{folder}/{{pid}}' profile.log_level=error"
    command = [sys.executable, __file__, "--way", way]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def main():
    if sys.argv[1] == "--way":
        print(measure(sys.argv[2]))
        return
    library = os.path.abspath(sys.argv[1])
    folder = tempfile.mkdtemp(prefix="profshim-bench-")
    try:
        least = {way: min(run(way, library, folder) for _ in range(2)) for way in WAYS}
    finally:
        shutil.rmtree(folder)
    bare = least["bare"]
    print(f"{'add_() of two numbers':32} {bare:8.0f} ns")
    for way in list(WAYS)[1:]:
        peer = "torch.profiler, with shapes" if way.endswith("shapes") else "torch.profiler"
        share = (least[way] - bare) / max(least[peer] - bare, 1)
        print(f"{'  ' + way:32} {least[way] - bare:+8.0f} ns   {share:6.2f} of {peer}")


main()
