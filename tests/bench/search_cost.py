#!/usr/bin/env python3
"""Compares the CPU time of iterations of a loop without markers while profshim searches for its steps, and after the
search, with those under a library that does not search, and with those that torch.profiler records. Each time is the
minimum of several runs, because load only adds to it. The operators are small: nearly all their time is PyTorch's own.

usage: search_cost.py LIBRARY torch|mpi
"""
import json
import os
import subprocess
import sys
import tempfile

ROUNDS = int(os.environ.get("BENCH_ROUNDS") or 9)
ITERATIONS = 400
DECIDING = range(2, 14)  # the steps are found within 12 iterations
AFTER = range(350, ITERATIONS)
TORCH_LOOP = """
import torch
weights = [torch.randn(32, 32, requires_grad=True) for _ in range(4)]
def iteration():
    x = torch.ones(8, 32)
    for weight in weights:
        x = (x @ weight).relu()
    x.mean().backward()
    with torch.no_grad():
        for weight in weights:
            weight -= 0.01 * weight.grad
            weight.grad = None
"""
MPI_LOOP = """
import numpy
from mpi4py import MPI
own = MPI.COMM_SELF
grid, total = numpy.ones(60000), numpy.zeros(1)
def iteration():
    for _ in range(8):
        own.Sendrecv(grid[:64], 0, 0, grid[-64:], 0, 0)
        grid[1:-1] = 0.5 * (grid[:-2] + grid[2:])
    own.Allreduce(grid[:1], total)
"""
PEER = """
from torch.profiler import profile
peer = profile(activities=[torch.profiler.ProfilerActivity.CPU])
peer.__enter__()
"""
TIMED = """
import json, resource, time
times = []
for _ in range(%d):
    began = time.thread_time_ns()
    iteration()
    times.append(time.thread_time_ns() - began)
    time.sleep(0.003)
print(json.dumps([times, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
if "peer" in globals():
    peer.__exit__(None, None, None)  # PyTorch 2.15 crashes if a process ends while it profiles
""" % ITERATIONS


def turn(loop, library, settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PROFSHIM")}
    with tempfile.TemporaryDirectory() as folder:
        environment.update(
            OMP_NUM_THREADS="1",
            RANK="0",  # the recording begins before the loop
            LD_PRELOAD=library,
            PROFSHIM_STEPS="1000000",
            PROFSHIM_SET=f"output.folder='{folder}/traces' profile.log_level=error {settings}",
        )
        command = [sys.executable, "-c", loop + TIMED]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def least(runs, iterations):
    return sum(min(times[i] for times, _ in runs) for i in iterations)


def more(runs, iterations, mode):
    return 100 * (least(runs[mode], iterations) / least(runs["idle"], iterations) - 1)


def main(library, kind):
    idle = "steps.source=nvtx steps.pattern=none"
    name, loop = {"torch": ("PyTorch", TORCH_LOOP), "mpi": ("MPI", MPI_LOOP)}[kind]
    modes = {"idle": (loop, idle), "searching": (loop, "steps.source=auto")}
    if kind == "torch":
        modes["peer"] = (loop + PEER, idle)
    runs = {mode: [] for mode in modes}
    for _ in range(ROUNDS):
        for mode, (program, settings) in modes.items():
            runs[mode].append(turn(program, library, settings))
    memory = {mode: min(kib for _, kib in runs[mode]) for mode in modes}
    peer = f"; under torch.profiler {more(runs, DECIDING, 'peer'):+.1f} %" if "peer" in modes else ""
    print(
        f"search for steps, {name}: an iteration takes {more(runs, DECIDING, 'searching'):+.1f} % while it is on, "
        f"{more(runs, AFTER, 'searching'):+.1f} % afterwards (goal: 1 % and 0){peer}; memory of the process "
        f"{(memory['searching'] - memory['idle']) / 1024:+.1f} MiB (goal: 4)"
    )


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2])
