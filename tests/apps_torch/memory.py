"""A training loop that also shares a tensor and allocates on another thread; with --too-much an allocation fails.
Prints the blocks that torch.profiler(profile_memory=True) recorded in steps 11 to 13 on the main thread, one line for
each: "NAME BYTES".

usage: memory.py [--workers N] [--no-profiler] [--too-much]
"""
import argparse
import threading

import torch
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--no-profiler", action="store_true")
parser.add_argument("--too-much", action="store_true")
options = parser.parse_args()

STEPS, FIRST, LAST = 20, 11, 13


def allocate():
    for _ in range(7):
        torch.empty(12345, dtype=torch.uint8)


torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
how = {"num_workers": options.workers, "multiprocessing_context": "fork"} if options.workers else {}
batches = iter(DataLoader(TensorDataset(torch.randn(16 * STEPS, 32)), batch_size=16, **how))
profiler = None
if not options.no_profiler:
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True)

for step in range(STEPS):
    (batch,) = next(batches)
    model(batch).pow(2).mean().backward()
    torch.ones(10).share_memory_()
    if options.too_much:
        try:
            torch.empty(1 << 46, dtype=torch.uint8)
        except RuntimeError:
            pass
    other = threading.Thread(target=allocate)
    other.start()
    other.join()
    optimizer.step()
    # Step N, from 0, ends with the optimizer.
    if profiler and step == FIRST - 1:
        profiler.start()
    if profiler and step == LAST:
        profiler.stop()
    optimizer.zero_grad()

if profiler:
    for event in profiler.profiler.kineto_results.events():
        if event.name() in ("[memory]", "[OutOfMemory]"):
            print(event.name(), event.nbytes())
