#!/usr/bin/env python3
"""Compares the iterations of a loop without markers while profshim searches for its steps, and after the search, with
those under a library that does not search. Each time is the minimum of several runs, because load only adds to it.

usage: search_cost.py LIBRARY
"""
import json
import os
import subprocess
import sys
import tempfile

ROUNDS = 9
ITERATIONS = 60
DECIDING = range(2, 14)  # the steps are found within 12 iterations
AFTER = range(30, ITERATIONS)
TORCH_LOOP = """
import torch
weights = [torch.randn(256, 256, requires_grad=True) for _ in range(4)]
def iteration():
    x = torch.ones(64, 256)
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
TIMED = """
import json, resource, time
times = []
for _ in range(%d):
    began = time.perf_counter_ns()
    iteration()
    times.append(time.perf_counter_ns() - began)
    time.sleep(0.003)
print(json.dumps([times, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
""" % ITERATIONS


def turn(loop, library, settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PROFSHIM")}
    with tempfile.TemporaryDirectory() as folder:
        environment.update(
            OMP_NUM_THREADS="1",
            LD_PRELOAD=library,
            PROFSHIM_STEPS="1000000",
            PROFSHIM_SET=f"output.folder='{folder}/traces' profile.log_level=error {settings}",
        )
        command = ["/usr/bin/python3", "-c", loop + TIMED]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def least(runs, iterations):
    return sum(min(times[i] for times, _ in runs) for i in iterations)


def main(library):
    modes = {"idle": "steps.source=nvtx steps.pattern=none", "searching": "steps.source=auto"}
    for name, loop in (("PyTorch", TORCH_LOOP), ("MPI", MPI_LOOP)):
        runs = {mode: [] for mode in modes}
        for _ in range(ROUNDS):
            for mode, settings in modes.items():
                runs[mode].append(turn(loop, library, settings))
        deciding = least(runs["searching"], DECIDING) / least(runs["idle"], DECIDING)
        after = least(runs["searching"], AFTER) / least(runs["idle"], AFTER)
        memory = {mode: min(kib for _, kib in runs[mode]) for mode in modes}
        print(
            f"search for steps, {name}: an iteration takes {100 * (deciding - 1):+.1f} % while it is on, "
            f"{100 * (after - 1):+.1f} % afterwards (goal: 1 % and 0); memory of the process "
            f"{(memory['searching'] - memory['idle']) / 1024:+.1f} MiB (goal: 4)"
        )


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
