"""Measures what recording adds to a Python call: profshim (capture.python_calls) beside cProfile and torch.profiler with
with_stack=True, each in a process of its own.

usage: python_call_cost.py LIBRARY
"""
import os
import subprocess
import sys
import tempfile
import time

REPEATS, LOOPS, INNER = 5, 5000, 10
ROUNDS = int(os.environ.get("BENCH_ROUNDS") or 3)


def leaf(value):
    return value + 1


def middle(value):
    for _ in range(INNER):
        value = leaf(value)
    return len([value])


def loop():
    """Returns nanoseconds a call: of leaf(), middle() and len()."""
    begin = time.perf_counter_ns()
    for i in range(LOOPS):
        middle(i)
    return (time.perf_counter_ns() - begin) / (LOOPS * (INNER + 2))


def best(before_each=lambda: None):
    fastest = float("inf")
    for _ in range(REPEATS):
        before_each()
        fastest = min(fastest, loop())
    return fastest


def with_cprofile():
    import cProfile
    profile = cProfile.Profile()
    profile.enable()
    result = best()
    profile.disable()
    return result


def with_torch():
    import torch
    if not torch.profiler.kineto_available():
        raise ImportError("this PyTorch has no Kineto")
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True):
        return best()


def with_profshim():
    import ctypes
    library = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
    mpi = ctypes.CDLL(None)
    world = ctypes.byref(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))
    mpi.MPI_Init(None, None)
    for _ in range(3):
        mpi.MPI_Barrier(world)
        middle(0)
    result = best(lambda: mpi.MPI_Barrier(world))
    mpi.MPI_Barrier(world)
    mpi.MPI_Finalize()
    return result


KINDS = {"nothing": best, "cProfile": with_cprofile, "torch": with_torch, "profshim": with_profshim}


def measure(kind, library, folder):
    """Returns None if the kind is not there."""
    environment = dict(os.environ)
    if kind == "profshim":
        environment.update(LD_PRELOAD=library, PROFSHIM_FOLDER=folder, PROFSHIM_LOG="error",
                           PROFSHIM_SET="capture.python_calls=true steps.source=collective steps.pattern=MPI_Barrier "
                                        f"schedule.skip_first=2 schedule.wait=0 schedule.warmup=1 "
                                        f"schedule.active={REPEATS} schedule.repeat=1")
    done = subprocess.run([sys.executable, __file__, "", kind], env=environment, capture_output=True, text=True)
    return float(done.stdout.split()[-1]) if done.returncode == 0 else None


def main():
    if len(sys.argv) > 2:
        try:
            print(KINDS[sys.argv[2]]())
        except ImportError:
            sys.exit(3)
        return
    fastest = {}
    with tempfile.TemporaryDirectory() as folder:
        for round_number in range(ROUNDS):
            for kind in KINDS:
                ns = measure(kind, os.path.abspath(sys.argv[1]), f"{folder}/{round_number}")
                if ns is not None:
                    fastest[kind] = min(ns, fastest.get(kind, ns))
    base = fastest.pop("nothing")
    print(f"  a call without a profiler            {base:6.0f} ns, Python {sys.version.split()[0]}")
    for kind, name in (("cProfile", "cProfile"), ("torch", "torch.profiler, with_stack"), ("profshim", "profshim")):
        if kind not in fastest:
            print(f"  {name:36} not there")
            continue
        if "profshim" not in fastest:
            print(f"  added by {name:27} {fastest[kind] - base:6.0f} ns")
            continue
        share = (fastest["profshim"] - base) / (fastest[kind] - base) if kind != "profshim" else 1
        beside = "" if kind == "profshim" else f"   profshim adds {share:.2f} of it"
        print(f"  added by {name:27} {fastest[kind] - base:6.0f} ns{beside}")


main()
