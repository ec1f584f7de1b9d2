#!/usr/bin/env python3
"""Compares overhead_percent of a trace with the time by which the same loop takes longer under the library. A ratio of
1.00 means that overhead_percent is exact. Each time is the minimum of several runs, because load only adds to it.

usage: overhead_share.py LIBRARY calls OVERHEAD_LOOP
       overhead_share.py LIBRARY torch
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROUNDS = int(os.environ.get("BENCH_ROUNDS") or 11)
TORCH_LOOP = """
import time, torch
torch.set_num_threads(1)
x = torch.ones(2)
with torch.profiler.record_function("begin"):
    x.neg_()
least = 1e300
for _slice in range(50):
    begin = time.perf_counter_ns()
    for _ in range(4000):
        x.neg_()
    least = min(least, (time.perf_counter_ns() - begin) / 4000)
print(least)
"""


def turn(command, library=None, folder=None):
    """Returns the nanoseconds of one iteration in the loop's fastest slice."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PROFSHIM")}
    environment.update(OMP_NUM_THREADS="1", RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="x")
    if library is not None:
        environment.update(
            LD_PRELOAD=library,
            PROFSHIM_SET=f"steps.source=none output.folder='{folder}' output.gzip=false profile.log_level=error",
        )
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def said(folder):
    """Returns the nanoseconds of recording that the trace in the folder states, or None."""
    (path,) = glob.glob(folder + "/**/*.pt.trace.json", recursive=True)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    span = next(e for e in trace["traceEvents"] if e.get("cat") == "Trace")
    percent = trace["profshim"].get("overhead_percent")
    return None if percent is None else percent / 100 * span["dur"] * 1000


def main():
    library = os.path.abspath(sys.argv[1])
    if sys.argv[2] == "torch":
        ways = {"neg_() of two numbers": (200000, [sys.executable, "-c", TORCH_LOOP])}
    else:
        loop = os.path.abspath(sys.argv[3])
        ways = {
            "MPI_Send to nobody": (500000, [loop, "mpi", "500000"]),
            "NVTX push + pop": (500000, [loop, "nvtx", "500000"]),
        }
    for name, (count, command) in ways.items():
        bare, recorded, stated = [], [], []
        for _ in range(ROUNDS):
            folder = tempfile.mkdtemp(prefix="profshim-bench-")
            try:
                bare.append(turn(command))
                recorded.append(turn(command, library, folder))
                stated.append(said(folder))
            finally:
                shutil.rmtree(folder)
        known = [s for s in stated if s is not None]
        usual = min(bare)
        longer = min(recorded) - usual
        if not known:
            print(f"{name:24} the traces have no overhead_percent")
            continue
        least = min(known) / count
        print(
            f"{name:24} {100 * longer / usual:5.1f} % slower: {longer:6.1f} ns a turn; "
            f"overhead_percent says {least:6.1f} ns: {least / longer:4.2f} of the measured slowdown"
        )


main()
